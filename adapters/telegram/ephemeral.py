"""Telegram's ephemeral messages, which only one member of a group sees.

They came with Bot API 10.2 and 10.3, so the library lacks their methods. A bot can send one within 15 seconds of the
person's press, or at any time as an administrator. Such a message can fail to arrive and can vanish.
"""

import time
from collections.abc import Awaitable
from dataclasses import replace
from typing import Any, NamedTuple

import structlog
from telegram.error import InvalidToken

from adapters.telegram.limits import EPHEMERAL_SECONDS
from adapters.telegram.photos import Photo, Photos
from adapters.telegram.transport import JsonData, Post
from bot.places import Place
from bot.platform import Unreachable

FACE_DOWN = "🂠"

log = structlog.get_logger()


class EphemeralTarget(NamedTuple):
    """The person, chat and topic of an ephemeral message. ``query`` is the id of a recent press, or empty."""

    user: int
    chat: int
    topic: int | None = None
    query: str = ""

    @classmethod
    def parse(cls, place: str) -> "EphemeralTarget":
        where = Place.parse(place)
        pressed_at, _, query = where.token.partition(".")
        # A press can be in the future if the clock was set back, or if another worker's clock is ahead.
        is_recent = bool(query) and abs(time.time() - int(pressed_at)) < EPHEMERAL_SECONDS
        topic = int(where.part) if where.part else None
        return cls(int(where.person), int(where.chat), topic, query if is_recent else "")


def ephemeral_place_of(place: str, user: int, query: str) -> str:
    """Return the ephemeral place of a person in a group who has just pressed a button."""
    return str(replace(Place.parse(place), person=str(user), token=f"{int(time.time())}.{query}"))


class EphemeralMessages:
    """Sends messages to one person in a group. ``is_supported`` is None until the first attempt.

    A server without ephemeral messages ignores the field and shows the message to all. So the first message is
    only a card's back. A hand follows when the server's answer confirms that the message is ephemeral.
    """

    def __init__(self, post: Post, photos: Photos) -> None:
        self._post, self._photos = post, photos
        self.is_supported: bool | None = None

    async def send_text(self, target: EphemeralTarget, content: dict[str, Any]) -> str:
        """Send a text and return its id; raise Unreachable if the server has no ephemeral messages."""
        if self.is_supported:
            return _message_id(await self._post("sendMessage", JsonData({**_recipient_fields(target), **content})))
        message = await self._send_card_back(target)
        await self.edit_text(target, message, content)
        self.is_supported = True
        return message

    async def send_photo(self, target: EphemeralTarget, photo: Photo) -> str:
        """Send a photo and return its id; errors as in `Photos.send`, and Unreachable."""
        if not self.is_supported:
            await self.delete(target, await self._send_card_back(target))
            self.is_supported = True
        return await self._photos.send(photo._replace(where=_recipient_fields(target)), _message_id)

    async def edit_text(self, target: EphemeralTarget, message: str, content: dict[str, Any]) -> None:
        data = JsonData({**_message_fields(target, message), **content})
        await self._check_method(self._post("editEphemeralMessageText", data))

    async def edit_photo(self, target: EphemeralTarget, message: str, photo: Photo, *, caption_alone: bool) -> None:
        """Edit a photo and its text, or the text alone."""
        photo = photo._replace(where=_message_fields(target, message))
        if caption_alone:
            await self._check_method(self._photos.edit_caption(photo, "editEphemeralMessageCaption"))
        else:
            await self._check_method(self._photos.edit(photo, "editEphemeralMessageMedia"))

    async def delete(self, target: EphemeralTarget, message: str) -> None:
        await self._check_method(self._post("deleteEphemeralMessage", JsonData(_message_fields(target, message))))

    async def _send_card_back(self, target: EphemeralTarget) -> str:
        """Send a card's back and return its id; raise Unreachable if it was not ephemeral."""
        if self.is_supported is False:
            raise Unreachable("no ephemeral messages here")
        sent = await self._post("sendMessage", JsonData({**_recipient_fields(target), "text": FACE_DOWN}))
        if "ephemeral_message_id" not in sent:
            self._set_unsupported()
            await self._post("deleteMessage", JsonData({"chat_id": target.chat, "message_id": sent["message_id"]}))
            raise Unreachable("no ephemeral messages here")
        return _message_id(sent)

    async def _check_method(self, call: Awaitable[object]) -> None:
        """Await a call; raise Unreachable if the server does not know its method."""
        try:
            await call
        except InvalidToken:
            # Telegram answers 404 both for an unknown method and for an unknown token.
            self._set_unsupported()
            raise Unreachable("no ephemeral messages here") from None

    def _set_unsupported(self) -> None:
        self.is_supported = False
        log.warning("telegram_feature_missing", what="show a hand in a group", why="Bot API before 10.3")


def _recipient_fields(target: EphemeralTarget) -> dict[str, Any]:
    """Return the fields that show a new message to one person."""
    parameters: dict[str, Any] = {"receiver_user_id": target.user}
    if target.query:
        parameters["callback_query_id"] = target.query
    where = {"chat_id": target.chat, "message_thread_id": target.topic}
    return {**where, "ephemeral_message_parameters": parameters}


def _message_fields(target: EphemeralTarget, message: str) -> dict[str, Any]:
    """Return the fields that identify an ephemeral message."""
    return {"chat_id": target.chat, "receiver_user_id": target.user, "ephemeral_message_id": int(message)}


def _message_id(sent: Any) -> str:
    return str(sent["ephemeral_message_id"])
