"""Messages with a picture, which Telegram calls photos: the panel's text is the caption, and both are of one state.

An upload never holds a text up: one that is late is given up, and what of it arrives all the same is to be deleted.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from cachetools import TTLCache
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter

from adapters.telegram.errors import (
    LIBRARY_ERRORS,
    concerns_picture,
    error_name,
    forbids_photos,
    is_answer_lost,
    is_unknown_file,
)
from adapters.telegram.transport import JsonData, NotConnected, Post, UploadData
from bot.background import TaskSet
from bot.panel import Panel, utf16_length
from bot.picture import Picture
from bot.platform import NoPicture, PlatformFailure
from bot.store import STORE_ERRORS

LONGEST_CAPTION = 1024
"""In UTF-16 units. A longer text loses nothing for a picture: it goes as text."""

UPLOAD_SECONDS = 2.0
"""How long a text waits for its picture to be taken."""

FORBIDDEN_SECONDS = 6 * 3600.0
"""For how long a chat is believed that takes no photos."""

FAILURES_IN_A_ROW, REST_SECONDS = 3, 60.0
"""After so many uploads in a row that failed, texts go alone for so long: each would wait for nothing."""

MAX_LATE = 20
"""Uploads that are late and still under way, beyond which no more are begun."""

FILE_ID_SECONDS = 30 * 24 * 3600
"""How long it is remembered what Telegram calls a picture that everybody may see."""

PART = "photo"
"""What the file is called within an upload."""

ReadMessageId = Callable[[Any], str]
"""What a message is called, by Telegram's answer; Trouble, or one of the library's errors, where that does not say."""


class Photo(NamedTuple):
    """A picture and what goes with it: ``where`` says which message, ``caption`` and ``entities`` are its text."""

    where: dict[str, Any]
    picture: Picture
    caption: str
    entities: list[dict[str, Any]] | None
    markup: dict[str, Any] | None

    @property
    def is_ephemeral(self) -> bool:
        return "receiver_user_id" in self.where or "ephemeral_message_parameters" in self.where

    @property
    def caption_fields(self) -> dict[str, Any]:
        """The fields of a change of all but the picture."""
        return {
            **self.where,
            "caption": self.caption,
            "caption_entities": self.entities,
            "reply_markup": self.markup,
        }

    def send_fields(self, file_id: str | None) -> dict[str, Any]:
        """The fields of a new message; without a ``file_id`` the file stands beside them."""
        return {**self.caption_fields, PART: file_id}

    def edit_fields(self, file_id: str | None) -> dict[str, Any]:
        """The fields of a change of all that a message shows."""
        media: dict[str, Any] = {"type": "photo", "media": file_id or f"attach://{PART}", "caption": self.caption}
        if self.entities:
            media["caption_entities"] = self.entities
        return {**self.where, "media": media, "reply_markup": self.markup}


class LateUpload(TimeoutError):
    """An upload took too long. ``name`` is to be what its message is called, if it may still arrive."""

    def __init__(self, name: asyncio.Future[str] | None = None) -> None:
        super().__init__()
        self.message = name


class LateEdit(NoPicture):
    """A change took too long and was given up; it may be made all the same, at any time."""


class KnownFiles:
    """What Telegram calls pictures that were uploaded before; while the store is away, none are known."""

    def __init__(self, client: Any, store_away: Callable[[BaseException], object]) -> None:
        self._client, self._store_away = client, store_away

    async def find(self, picture: Picture) -> str:
        """What a picture is called; empty if that is not known."""
        try:
            return (await self._client.get(_key(picture)) or b"").decode()
        except STORE_ERRORS as error:
            self._store_away(error)
            return ""

    async def keep(self, picture: Picture, answer: Any) -> None:
        """Keep what a picture is called that has just been uploaded, if the answer says so."""
        if file_id := _file_id(answer):
            try:
                await self._client.set(_key(picture), file_id, ex=FILE_ID_SECONDS)
            except STORE_ERRORS as error:
                self._store_away(error)


def _key(picture: Picture) -> str:
    return f"telegram:photo:{picture.subject.digest}"


def _file_id(answer: Any) -> str:
    """What the largest size of a photo is called, by an answer of whatever shape; empty if it does not say."""
    sizes = answer.get("photo") if isinstance(answer, dict) else None
    largest = sizes[-1] if isinstance(sizes, list) and sizes else None
    file_id = largest.get("file_id") if isinstance(largest, dict) else None
    # Half a surrogate pair is a string that the store cannot hold.
    return file_id if isinstance(file_id, str) and file_id.isascii() else ""


class Photos:
    """Sends and changes photos, with as little upload as may be."""

    def __init__(self, post: Post, known: KnownFiles) -> None:
        self._post, self._known = post, known
        self._forbidden: TTLCache[int, bool] = TTLCache(10_000, FORBIDDEN_SECONDS)
        self._failed_in_a_row = 0
        self._rests_until = 0.0
        self._late = TaskSet()

    def picture_of(self, chat: int, panel: Panel) -> Picture | None:
        """The picture that a panel can be shown with in a chat; None for its text alone."""
        picture = panel.picture
        if picture is None or not picture.png or utf16_length(panel.plain) > LONGEST_CAPTION:
            return None
        may_upload = time.monotonic() >= self._rests_until and len(self._late) < MAX_LATE
        return picture if may_upload and chat not in self._forbidden else None

    def stop(self) -> None:
        """Give up what is late."""
        self._late.cancel()

    async def send(self, photo: Photo, name_of: ReadMessageId) -> str:
        """Send a photo; returns what the message is called.

        Raises the library's errors where the place is the matter, or the answer is lost, and NoPicture where the
        picture is.
        """
        return name_of(await self._upload("sendPhoto", photo, photo.send_fields, name_of))

    async def edit(self, photo: Photo, method: str = "editMessageMedia") -> None:
        """Change a message's picture and text at once; errors as in `send`, and LateChange."""
        await self._upload(method, photo, photo.edit_fields, None)

    async def edit_caption(self, photo: Photo, method: str = "editMessageCaption") -> None:
        """Change the text of a message that has this picture already; raises the library's errors."""
        await self._post(method, JsonData(photo.caption_fields))

    async def _upload(
        self,
        method: str,
        photo: Photo,
        fields: Callable[[str | None], dict[str, Any]],
        name_of: ReadMessageId | None,
    ) -> Any:
        picture = photo.picture
        async with self._picture_errors(photo):
            if picture.is_lasting and (file_id := await self._known.find(picture)):
                try:
                    return await self._post(method, JsonData(fields(file_id)))
                except BadRequest as error:
                    if not is_unknown_file(error.message):
                        raise
            upload = UploadData(fields(None), PART, picture.png)
            answer = await self._upload_in_time(self._post(method, upload), name_of)
            if picture.is_lasting:
                await self._known.keep(picture, answer)
            return answer

    async def _upload_in_time(self, upload: Awaitable[Any], name_of: ReadMessageId | None) -> Any:
        """What comes of an upload; Late if it takes too long. Then it goes on if its message will have a name."""
        task = asyncio.ensure_future(upload)
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                return await asyncio.shield(task)
        except TimeoutError:
            if task.done():
                # It came as the time ran out, or failed in the same moment.
                return await task
            if name_of:
                raise LateUpload(self._late.start(_late_message_id(task, name_of))) from None
            task.cancel()
            raise LateUpload from None
        except asyncio.CancelledError:
            task.cancel()
            raise

    @asynccontextmanager
    async def _picture_errors(self, photo: Photo) -> AsyncIterator[None]:
        """NoPicture for whatever goes wrong with a picture, and is not the place's, the platform's or the message's.

        Where the answer is lost it may have gone right.
        """
        try:
            yield
        except (RetryAfter, ChatMigrated, Forbidden, InvalidToken, NotConnected):
            raise
        except BadRequest as error:
            if not concerns_picture(error.message, ephemeral=photo.is_ephemeral):
                raise
            if forbids_photos(error.message):
                self._forbidden[int(photo.where["chat_id"])] = True
            raise NoPicture(error.message) from None
        except LIBRARY_ERRORS as error:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= FAILURES_IN_A_ROW:
                self._rests_until = time.monotonic() + REST_SECONDS
            if is_answer_lost(error):
                # The photo may stand there: a text at once would be a second message.
                raise
            if isinstance(error, LateUpload) and error.message is None:
                raise LateEdit(error_name(error)) from None
            raise NoPicture(error_name(error), error.message if isinstance(error, LateUpload) else None) from None
        else:
            self._failed_in_a_row = 0


async def _late_message_id(task: asyncio.Future[Any], name_of: ReadMessageId) -> str:
    """Wait for what came too late; returns what it is called, and nothing for what never came, or has no name."""
    with suppress(PlatformFailure, *LIBRARY_ERRORS):
        return name_of(await task)
    return ""
