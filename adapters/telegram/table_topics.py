"""Topics of tables in private chats (Bot API 9.3 and 9.4), an experiment.

The host turns topics on at @BotFather, and each person can turn them off in their app. A table's topic is stored before
anything is sent there. If it is not certain that Telegram has created no topic, because the answer is lost or the bot
was killed, the table's messages go to the main chat. The Bot API has no list of topics, so such a topic cannot be found
again.

A topic of a finished game is deleted when a later game of the same person begins or ends, but not within a day.
`closeForumTopic` exists only for groups.
"""

import time
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
from telegram.error import RetryAfter

from adapters.telegram import reading
from adapters.telegram.errors import LIBRARY_ERRORS, delivery_errors, error_name
from adapters.telegram.transport import NotConnected, Post, json_body
from adapters.telegram.widget.kept_states import topics_key
from bot.card_room import CardRoom
from bot.places import Place
from bot.platform import ChatGone, MessageGone, MessageRefused, Unreachable
from bot.store import STORE_ERRORS

LONGEST_NAME = 128  # characters: core.telegram.org/bots/api#createforumtopic
KEPT_AFTER_GAME = 86400  # seconds for which the topic of a finished game certainly stays
STORED_SECONDS = 60 * 86400  # how long a person's topics are stored after the last one was created
NO_TOPIC = "-"  # stored for a table without a topic, also while its topic is being created

log = structlog.get_logger()


class TableTopics:
    """The topics of tables in private chats."""

    def __init__(self, post: Post, card_room: CardRoom) -> None:
        self._post, self._card_room = post, card_room

    async def find(self, place: str, code: str, name: str) -> str:
        """Return a table's topic in the private chat ``place``. Without a topic, return ``place``.

        If the table is new in the chat, create a topic with this ``name``.
        """
        chat = reading.chat_and_topic(place)[0]
        try:
            if stored := await self._redis.hget(topics_key(chat), code):
                topic, _, ended_at = stored.decode().partition(" ")
                if ended_at:
                    # The same players play again under this code.
                    await self._redis.hset(topics_key(chat), code, topic)
            else:
                topic = await self._create(chat, code, name)
                await self._delete_old(place)
        except STORE_ERRORS as error:
            self._card_room.report_store_error(error)
            return place
        return place if topic == NO_TOPIC else str(replace(Place.parse(place), part=topic))

    async def leave(self, place: str) -> None:
        """Note that a topic cannot be written to. Its table continues in the main chat."""
        chat, topic = reading.chat_and_topic(place)
        log.info("telegram_topic_left", why="the app or the person has removed it")
        try:
            for code, stored in (await self._redis.hgetall(topics_key(chat))).items():
                if stored.decode().partition(" ")[0] == str(topic):
                    await self._redis.hset(topics_key(chat), code, NO_TOPIC)
        except STORE_ERRORS as error:
            self._card_room.report_store_error(error)

    async def close(self, place: str, code: str) -> None:
        """Note that a table's game is over, so that its topic is deleted some time later."""
        if not self._card_room.settings.telegram_table_topics:
            return
        key = topics_key(reading.chat_and_topic(place)[0])
        stored = (await self._redis.hget(key, code) or b"").decode()
        if stored == NO_TOPIC:
            await self._redis.hdel(key, code)
        elif stored and " " not in stored:
            await self._redis.hset(key, code, f"{stored} {int(time.time())}")
        await self._delete_old(place)

    @property
    def _redis(self) -> Any:
        return self._card_room.redis

    async def _create(self, chat: int, code: str, name: str) -> str:
        """Create a table's topic and return it, or `NO_TOPIC` if that is not certain to have succeeded."""
        key = topics_key(chat)
        if not await self._redis.hsetnx(key, code, NO_TOPIC):
            return NO_TOPIC
        await self._redis.expire(key, STORED_SECONDS)
        try:
            created = await self._post("createForumTopic", json_body({"chat_id": chat, "name": name[:LONGEST_NAME]}))
            topic = str(int(created["message_thread_id"]))
        except LIBRARY_ERRORS as error:
            # Telegram refuses a topic if the person has turned topics off.
            log.info("telegram_topic_not_created", why=error_name(error))
            if isinstance(error, (NotConnected, RetryAfter)):
                # Nothing was created, so the next message can try again.
                await self._redis.hdel(key, code)
            return NO_TOPIC
        if await self._redis.hexists(key, code):
            # The person has not deleted their data in the meantime.
            await self._redis.hset(key, code, topic)
        return topic

    async def _delete_old(self, place: str) -> None:
        """Queue the deletion of topics whose games ended long enough ago."""
        long_ago = time.time() - KEPT_AFTER_GAME
        stored_topics = await self._redis.hgetall(topics_key(reading.chat_and_topic(place)[0]))
        for code, stored in stored_topics.items():
            topic, _, ended_at = stored.decode().partition(" ")
            if ended_at and int(ended_at) < long_ago:
                delete = partial(self._delete, place, code.decode(), int(topic))
                self._card_room.queue_answer(place, delete, message=f"topic {topic}")

    async def _delete(self, place: str, code: str, topic: int) -> None:
        """Delete a topic with its messages. Forget it also if the person has deleted it."""
        chat = reading.chat_and_topic(place)[0]
        stored = (await self._redis.hget(topics_key(chat), code) or b"").decode()
        if not stored.startswith(f"{topic} "):
            # The table is played again.
            return
        try:
            with delivery_errors(place):
                await self._post("deleteForumTopic", json_body({"chat_id": chat, "message_thread_id": topic}))
        except (ChatGone, MessageGone, MessageRefused, Unreachable) as error:
            log.info("telegram_topic_not_deleted", why=type(error).__name__)
        await self._redis.hdel(topics_key(chat), code)
