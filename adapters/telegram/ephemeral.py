"""Telegram's ephemeral messages, which one member of a group sees and nobody else.

They came with Bot API 10.2 and 10.3, after the library's methods. A bot may send one within 15 seconds of a press by
that person, or at any time if it is an administrator; none is sure to arrive, and any may vanish.
"""

import time
from dataclasses import replace
from typing import Any, NamedTuple

import structlog
from telegram import Bot, Message
from telegram.error import EndPointNotFound

from bot.places import Place
from bot.platform import Unreachable

PASS_SECONDS = 15
FACE_DOWN = "🂠"

log = structlog.get_logger()


class EphemeralTarget(NamedTuple):
    """An aside's chat, its topic there, and whom it is for. ``query`` is a press of theirs a moment ago."""

    user: int
    chat: int
    topic: int | None = None
    query: str = ""

    @classmethod
    def parse(cls, place: str) -> "EphemeralTarget":
        where = Place.parse(place)
        pressed_at, _, query = where.token.partition(".")
        # From the future come presses from before the clock was set back, and those of another worker a moment ago.
        fresh = bool(query) and abs(time.time() - int(pressed_at)) < PASS_SECONDS
        topic = int(where.part) if where.part else None
        return cls(int(where.person), int(where.chat), topic, query if fresh else "")


def ephemeral_place_of(place: str, user: int, query: str) -> str:
    """The place beside a group's, for one person who has just pressed something."""
    return str(replace(Place.parse(place), person=str(user), token=f"{int(time.time())}.{query}"))


class EphemeralMessages:
    """Speaks to one person in a group. ``possible`` is None until it has been tried.

    A server that does not know of ephemeral messages would leave the word out that makes a message one, and show it to
    all. So the first that is ever sent is a card's back, and only once the server has said whose it is it becomes a
    hand.
    """

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self.possible: bool | None = None

    async def send(self, ephemeral: EphemeralTarget, text: str, content: dict[str, Any]) -> str:
        """Send one; returns what it is called. Unreachable where the server cannot."""
        if self.possible is False:
            raise Unreachable("no ephemeral messages here")
        if self.possible:
            return self._number(await self._send(ephemeral, text, content))
        sent = await self._send(ephemeral, FACE_DOWN, {})
        if "ephemeral_message_id" not in sent.api_kwargs:
            self._impossible()
            await self._bot.delete_message(ephemeral.chat, sent.message_id)
            raise Unreachable("no ephemeral messages here")
        number = self._number(sent)
        await self.edit(ephemeral, number, text, content)
        self.possible = True
        return number

    async def edit(self, ephemeral: EphemeralTarget, message: str, text: str, content: dict[str, Any]) -> None:
        await self._call("editEphemeralMessageText", ephemeral, message, text=text, **content)

    async def delete(self, ephemeral: EphemeralTarget, message: str) -> None:
        await self._call("deleteEphemeralMessage", ephemeral, message)

    async def _send(self, ephemeral: EphemeralTarget, text: str, content: dict[str, Any]) -> Message:
        parameters: dict[str, Any] = {"receiver_user_id": ephemeral.user}
        if ephemeral.query:
            parameters["callback_query_id"] = ephemeral.query
        everything = {**content, "ephemeral_message_parameters": parameters}
        return await self._bot.send_message(
            ephemeral.chat, text, message_thread_id=ephemeral.topic, api_kwargs=everything
        )

    async def _call(self, method: str, ephemeral: EphemeralTarget, message: str, **more: Any) -> None:
        if self.possible is False:
            raise Unreachable("no ephemeral messages here")
        about = {"chat_id": ephemeral.chat, "receiver_user_id": ephemeral.user, "ephemeral_message_id": int(message)}
        try:
            await self._bot.do_api_request(method, api_kwargs={**about, **more})
        except EndPointNotFound:
            self._impossible()
            raise Unreachable("no ephemeral messages here") from None

    @staticmethod
    def _number(sent: Message) -> str:
        return str(sent.api_kwargs["ephemeral_message_id"])

    def _impossible(self) -> None:
        self.possible = False
        log.warning("telegram_cannot", what="show somebody a hand in the group", why="Bot API before 10.3")
