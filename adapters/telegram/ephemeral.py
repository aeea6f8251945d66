"""Telegram's ephemeral messages, which one member of a group sees and nobody else.

They came with Bot API 10.2 and 10.3, after the library's methods. A bot may send one within 15 seconds of a press by
that person, or at any time if it is an administrator; none is sure to arrive, and any may vanish.
"""

import time
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, NamedTuple

import structlog
from telegram.error import InvalidToken

from adapters.telegram.photos import Photo, Photos
from adapters.telegram.transport import JsonData, Post
from bot.places import Place
from bot.platform import Unreachable

PRESS_SECONDS = 15
FACE_DOWN = "🂠"

log = structlog.get_logger()


class EphemeralTarget(NamedTuple):
    """An ephemeral message's chat, its topic there, and whom it is for. ``query`` is a press of theirs a moment ago."""

    user: int
    chat: int
    topic: int | None = None
    query: str = ""

    @classmethod
    def parse(cls, place: str) -> "EphemeralTarget":
        where = Place.parse(place)
        pressed_at, _, query = where.token.partition(".")
        # From the future come presses from before the clock was set back, and those of another worker a moment ago.
        fresh = bool(query) and abs(time.time() - int(pressed_at)) < PRESS_SECONDS
        topic = int(where.part) if where.part else None
        return cls(int(where.person), int(where.chat), topic, query if fresh else "")


def ephemeral_place_of(place: str, user: int, query: str) -> str:
    """The place beside a group's, for one person who has just pressed something."""
    return str(replace(Place.parse(place), person=str(user), token=f"{int(time.time())}.{query}"))


class EphemeralMessages:
    """Speaks to one person in a group. ``possible`` is None until it has been tried.

    A server that does not know of ephemeral messages would leave the word out that makes a message one, and show it to
    all. So the first that is ever sent is a card's back, and only once the server has said whose it is a hand is shown.
    """

    def __init__(self, post: Post, photos: Photos) -> None:
        self._post, self._photos = post, photos
        self.is_supported: bool | None = None

    async def send_text(self, target: EphemeralTarget, content: dict[str, Any]) -> str:
        """Send a text; returns what it is called. Unreachable where the server cannot."""
        if self.is_supported:
            return _message_id(await self._post("sendMessage", JsonData({**_recipient_fields(target), **content})))
        number = await self._send_card_back(target)
        await self.edit_text(target, number, content)
        self.is_supported = True
        return number

    async def send_photo(self, target: EphemeralTarget, photo: Photo) -> str:
        """Send a photo; returns what it is called. Errors as in `Photos.send`, and Unreachable."""
        if not self.is_supported:
            await self.delete(target, await self._send_card_back(target))
            self.is_supported = True
        return await self._photos.send(photo._replace(where=_recipient_fields(target)), _message_id)

    async def edit_text(self, target: EphemeralTarget, message: str, content: dict[str, Any]) -> None:
        await self._check_method(
            self._post("editEphemeralMessageText", JsonData({**_message_fields(target, message), **content}))
        )

    async def edit_photo(self, target: EphemeralTarget, message: str, photo: Photo, *, caption_alone: bool) -> None:
        """Change a photo and its text, or its text alone."""
        photo = photo._replace(where=_message_fields(target, message))
        if caption_alone:
            await self._check_method(self._photos.edit_caption(photo, "editEphemeralMessageCaption"))
        else:
            await self._check_method(self._photos.edit(photo, "editEphemeralMessageMedia"))

    async def delete(self, target: EphemeralTarget, message: str) -> None:
        await self._check_method(self._post("deleteEphemeralMessage", JsonData(_message_fields(target, message))))

    async def _send_card_back(self, target: EphemeralTarget) -> str:
        """Send a card's back, to see whether it comes to be ephemeral; returns what it is called."""
        if self.is_supported is False:
            raise Unreachable("no ephemeral messages here")
        sent = await self._post("sendMessage", JsonData({**_recipient_fields(target), "text": FACE_DOWN}))
        if "ephemeral_message_id" not in sent:
            self._set_unsupported()
            await self._post("deleteMessage", JsonData({"chat_id": target.chat, "message_id": sent["message_id"]}))
            raise Unreachable("no ephemeral messages here")
        return _message_id(sent)

    async def _check_method(self, call: Awaitable[object]) -> None:
        try:
            await call
        except InvalidToken:
            # What Telegram says of a method that it does not know is what it says of a token.
            self._set_unsupported()
            raise Unreachable("no ephemeral messages here") from None

    def _set_unsupported(self) -> None:
        self.is_supported = False
        log.warning("telegram_cannot", what="show somebody a hand in the group", why="Bot API before 10.3")


def _recipient_fields(target: EphemeralTarget) -> dict[str, Any]:
    """The fields that have a new message shown to one person."""
    parameters: dict[str, Any] = {"receiver_user_id": target.user}
    if target.query:
        parameters["callback_query_id"] = target.query
    return {
        "chat_id": target.chat,
        "message_thread_id": target.topic,
        "ephemeral_message_parameters": parameters,
    }


def _message_fields(target: EphemeralTarget, message: str) -> dict[str, Any]:
    """The fields that say which message is meant."""
    return {"chat_id": target.chat, "receiver_user_id": target.user, "ephemeral_message_id": int(message)}


def _message_id(sent: Any) -> str:
    return str(sent["ephemeral_message_id"])
