"""Live messages: messages in chats that are kept up to date, such as the card of a tournament.

The state of a message is stored before and after it is sent, and it has a key by which a platform recognizes a
repetition. Each call is queued with the chat's other answers, so that the chat's rate limit holds and changes that come
together make one edit.

A message that is replaced stays until its successor is in the chat. After a kill the next worker continues:

- before the successor is sent, the chat has the old message;
- after it is sent, but before it is stored, the chat has both. The send is repeated with the same key, so the platform
  returns the same message. Only a platform without keys gets a second one;
- after it is stored, the chat has both, until the old message is deleted;
- after that deletion, the next one finds no message and changes nothing.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import structlog
from cachetools import LRUCache

from bot.delivery.answer_queue import AnswerQueue
from bot.panel import Panel
from bot.platform import (
    Adapter,
    ChatGone,
    MessageGone,
    MessageRefused,
    NotEditable,
    SentMessage,
    TooLong,
    Unreachable,
    platform_of,
)

RETRY_SECONDS = 10.0  # time after which an update that still waits for its chat's turn is queued again
REFUSED_SECONDS = 60.0  # pause after the platform has refused a message
# Stored wishes: send a message again as the lowest one, or retry a chat that could not be written to.
REPOST, BACK = "repost", "back"
WISH_SECONDS = 86400
MESSAGES_REMEMBERED = 1000

UNKNOWN_DIGEST = "?"  # digest of a message that was sent more than once, with different panels

log = structlog.get_logger()


class Content(NamedTuple):
    """What a live message must show, and where.

    A message of another ``edition`` is replaced by a new one. ``announce`` sends one more message, once, after the live
    message shows its panel.
    """

    place: str
    panel: Panel
    edition: str = ""
    announce: Callable[[Adapter], Awaitable[object]] | None = None


@dataclass(frozen=True)
class LiveMessage:
    """The stored state of a live message.

    ``digest`` is the digest of the panel shown, ``sent`` the number of messages so far. ``tried`` is the digest of a
    panel that might have been sent as the next message, or empty. ``outdated`` is a message to delete once its
    successor is in the chat. ``is_dropped``: the bot cannot write to the chat. ``is_announced``: the announcement was
    sent.
    """

    place: str = ""
    message: str = ""
    digest: str = ""
    sent: int = 0
    tried: str = ""
    outdated: str = ""
    is_dropped: bool = False
    is_announced: bool = False
    edition: str = ""

    @property
    def is_replaced(self) -> bool:
        """Whether the outdated message has a successor in the chat."""
        return bool(self.outdated and self.message)

    def without_message(self) -> "LiveMessage":
        """Return the state in which a new message is due, after which the current one must be deleted."""
        return replace(self, message="", digest="", outdated=self.message or self.outdated)

    def adapt(self, content: Content) -> "LiveMessage":
        """Return the state for a content, without a message of another place or edition."""
        if self.place != content.place:
            return LiveMessage(content.place, sent=self.sent, is_announced=self.is_announced, edition=content.edition)
        return self if self.edition == content.edition else replace(self.without_message(), edition=content.edition)

    def is_current(self, content: Content) -> bool:
        is_shown = bool(self.message) and not self.outdated and self.digest == content.panel.digest
        return is_shown and (content.announce is None or self.is_announced)


class LiveMessages:
    """The live messages of one kind. Only one worker calls `update`.

    ``read`` returns a message's content by its name, or None if there is nothing to show any more.
    """

    def __init__(
        self,
        kind: str,
        client: Any,
        adapters: Mapping[str, Adapter],
        answers: AnswerQueue,
        read: Callable[[str], Awaitable[Content | None]],
        state_key: Callable[[str], str],
        wish_key: Callable[[str], str],
        kept_seconds: int,
    ) -> None:
        self._kind, self._client, self._adapters, self._answers, self._read = kind, client, adapters, answers, read
        self._state_key, self._wish_key, self._kept_seconds = state_key, wish_key, kept_seconds
        self._paused_until: LRUCache[str, float] = LRUCache(MESSAGES_REMEMBERED)

    async def repost(self, name: str) -> None:
        """Let `update` send a message again as the lowest one of its chat, and delete the old one."""
        await self._client.set(self._wish_key(name), REPOST, ex=WISH_SECONDS)

    async def back_in_chat(self, name: str) -> None:
        """Note that the bot can write to a message's chat again."""
        await self._client.set(self._wish_key(name), BACK, ex=WISH_SECONDS, nx=True)

    async def update(self, name: str, content: Content) -> bool:
        """Queue an update of a message if needed. Return True if it is up to date or cannot be sent."""
        if platform_of(content.place) not in self._adapters:
            # The host has removed this platform. People on other platforms continue.
            return True
        if not await self._client.get(self._wish_key(name)):
            state = (await self._load(name)).adapt(content)
            if state.is_dropped or state.is_current(content):
                return True
        if time.monotonic() >= self._paused_until.get(name, 0.0):
            self._paused_until[name] = time.monotonic() + RETRY_SECONDS
            self._answers.send(
                content.place, partial(self._deliver, name, content.place), message=f"{self._kind} {name}"
            )
        return False

    async def _deliver(self, name: str, place: str) -> None:
        """Make the next call that a message needs at a place, and queue the one after it."""
        content = await self._read(name)
        if content is None or content.place != place:
            # Only calls for one place never overlap. The next `update` queues a call for the new place.
            return
        adapter, pause = self._adapters[platform_of(content.place)], 0.0
        state = await self._load(name)
        # The state has room for one outdated message. So it is deleted before its successor is replaced as well.
        if not (state.is_replaced and state.place == place):
            await self._apply_wish(name)
            state = (await self._load(name)).adapt(content)
        try:
            await self._save(name, await self._take_step(adapter, name, state, content))
        except ChatGone:
            await self._save(name, replace(state, is_dropped=True))
        except (MessageRefused, TooLong, Unreachable):
            pause = REFUSED_SECONDS
            raise
        finally:
            self._paused_until[name] = time.monotonic() + pause
        if content := await self._read(name):
            await self.update(name, content)

    async def _take_step(self, adapter: Adapter, name: str, state: LiveMessage, content: Content) -> LiveMessage:
        """Make one call, and return the state after it."""
        if state.is_replaced:
            return await self._delete(adapter, state)
        if not state.message:
            return await self._send(adapter, name, state, content.panel)
        if state.digest != content.panel.digest:
            return await self._edit(adapter, state, content.panel)
        if content.announce and not state.is_announced:
            await content.announce(adapter)
            return replace(state, is_announced=True)
        return state

    async def _send(self, adapter: Adapter, name: str, state: LiveMessage, panel: Panel) -> LiveMessage:
        # A platform with keys keeps the first message sent under a key. That message can have a different panel.
        # Then the digest is unknown, and the next call edits the message.
        tried = panel.digest if state.tried in ("", panel.digest) else UNKNOWN_DIGEST
        await self._save(name, replace(state, tried=tried))
        number = state.sent + 1
        sent_message = await adapter.send(state.place, panel, f"{self._kind} {name} {number}")
        digest = "" if tried == UNKNOWN_DIGEST else tried
        return replace(state, message=sent_message.message, digest=digest, sent=number, tried="")

    async def _edit(self, adapter: Adapter, state: LiveMessage, panel: Panel) -> LiveMessage:
        try:
            sent_message = await adapter.edit(state.place, SentMessage(state.message), panel)
        except MessageGone:
            return replace(state, message="", digest="")
        except NotEditable:
            return state.without_message()
        return replace(state, message=sent_message.message, digest=panel.digest)

    async def _delete(self, adapter: Adapter, state: LiveMessage) -> LiveMessage:
        """Delete an outdated message. It stays if the platform refuses, or if the bot has left the chat."""
        try:
            await adapter.delete(state.place, state.outdated)
        except (ChatGone, MessageGone, MessageRefused, Unreachable) as error:
            log.info("live_message_not_deleted", platform=platform_of(state.place), why=type(error).__name__)
        return replace(state, outdated="")

    async def _apply_wish(self, name: str) -> None:
        wish = await self._client.get(self._wish_key(name))
        if wish:
            state = replace(await self._load(name), is_dropped=False)
            await self._save(name, state.without_message() if wish.decode() == REPOST else state)
            await self._client.delete(self._wish_key(name))

    async def _load(self, name: str) -> LiveMessage:
        text = await self._client.get(self._state_key(name))
        return LiveMessage(**json.loads(text)) if text else LiveMessage()

    async def _save(self, name: str, state: LiveMessage) -> None:
        fields = {field: value for field, value in asdict(state).items() if value}
        await self._client.set(self._state_key(name), json.dumps(fields), ex=self._kept_seconds)
