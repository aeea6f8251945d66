"""Messages with a picture, which Telegram calls photos. The panel's text is the caption; both show the same state.

An upload never delays a text for long. A late upload is given up, and its message is deleted if it still arrives.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from cachetools import TTLCache
from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.errors import LIBRARY_ERRORS, LOST_ANSWERS, error_name, is_about_picture
from adapters.telegram.limits import LONGEST_CAPTION
from adapters.telegram.transport import NotConnected, Post, json_body, upload_body
from bot.concurrency.background import TaskSet
from bot.panel import Panel, utf16_length
from bot.panel_picture import Picture
from bot.platform import NoPicture, PlatformFailure
from bot.store import STORE_ERRORS

UPLOAD_SECONDS = 2.0  # time that a text waits for its picture
FORBIDDEN_SECONDS = 6 * 3600.0  # how long a chat that forbids photos gets texts
FAILURES_IN_A_ROW, REST_SECONDS = 3, 60.0  # failed uploads before a pause, and its length
MAX_LATE = 20  # no upload starts while this many late ones are in flight
FILE_ID_SECONDS = 30 * 24 * 3600  # how long the ``file_id`` of a public picture is kept
PART = "photo"  # name of the file in an upload

# Parts of Telegram's error messages.
NO_RIGHT_TO_PHOTOS = re.compile("rights to send photos|chat_send_(photos|media)_forbidden", re.IGNORECASE)
UNKNOWN_FILE = re.compile("file identifier|file_id|file[ _]reference", re.IGNORECASE)

ReadMessageId = Callable[[Any], str]
"""Returns the message's id from Telegram's answer; raises PlatformFailure or a library error without one."""


class Photo(NamedTuple):
    """A picture with its text and buttons. ``destination`` holds the fields that identify the chat or message."""

    destination: dict[str, Any]
    picture: Picture
    caption: str
    entities: list[dict[str, Any]] | None
    markup: dict[str, Any] | None

    @property
    def caption_fields(self) -> dict[str, Any]:
        return {
            **self.destination,
            "caption": self.caption,
            "caption_entities": self.entities,
            "reply_markup": self.markup,
        }

    def send_fields(self, file_id: str | None) -> dict[str, Any]:
        """Return the fields of a new message; without a ``file_id`` the file is uploaded with them."""
        return {**self.caption_fields, PART: file_id}

    def edit_fields(self, file_id: str | None) -> dict[str, Any]:
        """Return the fields of an edit of picture, text and buttons."""
        media: dict[str, Any] = {"type": "photo", "media": file_id or f"attach://{PART}", "caption": self.caption}
        if self.entities:
            media["caption_entities"] = self.entities
        return {**self.destination, "media": media, "reply_markup": self.markup}


class LateUpload(TimeoutError):
    """An upload took too long. ``message`` is a future with the id of a message that can still arrive, or None."""

    def __init__(self, message: asyncio.Future[str] | None = None) -> None:
        super().__init__()
        self.message = message


class LateEdit(NoPicture):
    """An edit took too long and was given up. It can still take effect at any time."""


class KnownFiles:
    """The ``file_id`` of pictures uploaded before. Without the store it knows none."""

    def __init__(self, client: Any, report_store_error: Callable[[BaseException], object]) -> None:
        self._client, self._report_store_error = client, report_store_error

    async def find(self, picture: Picture) -> str:
        """Return a picture's ``file_id``; empty if unknown."""
        try:
            return (await self._client.get(f"telegram:photo:{picture.subject.digest}") or b"").decode()
        except STORE_ERRORS as error:
            self._report_store_error(error)
            return ""

    async def keep(self, picture: Picture, answer: Any) -> None:
        """Store the ``file_id`` of the photo's largest size, if the answer has one."""
        sizes = answer.get("photo") if isinstance(answer, dict) else None
        largest = sizes[-1] if isinstance(sizes, list) and sizes else None
        file_id = largest.get("file_id") if isinstance(largest, dict) else None
        # The store cannot hold lone surrogates.
        if isinstance(file_id, str) and file_id.isascii() and file_id:
            try:
                await self._client.set(f"telegram:photo:{picture.subject.digest}", file_id, ex=FILE_ID_SECONDS)
            except STORE_ERRORS as error:
                self._report_store_error(error)


class Photos:
    def __init__(self, post: Post, known_files: KnownFiles) -> None:
        self._post, self._known_files = post, known_files
        self._forbidden: TTLCache[int, bool] = TTLCache(10_000, FORBIDDEN_SECONDS)
        self._failed_in_a_row = 0
        self._rests_until = 0.0
        self._late_uploads = TaskSet()

    def picture_of(self, chat: int, panel: Panel) -> Picture | None:
        """Return a panel's picture, or None if the chat gets the text alone."""
        picture = panel.picture
        if picture is None or not picture.png or utf16_length(panel.plain) > LONGEST_CAPTION:
            return None
        rests = time.monotonic() < self._rests_until or len(self._late_uploads) >= MAX_LATE
        return None if rests or chat in self._forbidden else picture

    def stop(self) -> None:
        self._late_uploads.cancel()

    async def send(self, photo: Photo, read_id: ReadMessageId) -> str:
        """Send a photo and return the message's id; raise the library's errors, or NoPicture if the picture failed."""
        return read_id(await self._upload("sendPhoto", photo, read_id))

    async def edit(self, photo: Photo, method: str) -> None:
        """Edit picture and text together. Raises the errors of `send`, and LateEdit."""
        await self._upload(method, photo)

    async def _upload(self, method: str, photo: Photo, read_id: ReadMessageId | None = None) -> Any:
        """Send a photo if there is a ``read_id``, otherwise edit one. Return the answer."""
        picture, fields = photo.picture, photo.send_fields if read_id else photo.edit_fields
        async with self._picture_errors(photo):
            if picture.is_lasting and (file_id := await self._known_files.find(picture)):
                try:
                    return await self._post(method, json_body(fields(file_id)))
                except BadRequest as error:
                    if not UNKNOWN_FILE.search(error.message):
                        raise
            upload = upload_body(fields(None), PART, picture.png)
            answer = await self._upload_in_time(self._post(method, upload), read_id)
            if picture.is_lasting:
                await self._known_files.keep(picture, answer)
            return answer

    async def _upload_in_time(self, upload: Awaitable[Any], read_id: ReadMessageId | None) -> Any:
        """Return the answer to an upload.

        If it is late, raise LateUpload. A late edit is cancelled; a late message is awaited so that it can be deleted.
        """
        task = asyncio.ensure_future(upload)
        try:
            async with asyncio.timeout(UPLOAD_SECONDS):
                return await asyncio.shield(task)
        except TimeoutError:
            if task.done():
                # The upload finished or failed just as the time ran out.
                return await task
            if read_id:
                raise LateUpload(self._late_uploads.start(_late_message_id(task, read_id))) from None
            task.cancel()
            raise LateUpload from None
        except asyncio.CancelledError:
            task.cancel()
            raise

    @asynccontextmanager
    async def _picture_errors(self, photo: Photo) -> AsyncIterator[None]:
        """Raise NoPicture if only the picture failed.

        If the answer is lost, raise its error, because the upload might have succeeded.
        """
        try:
            yield
        except (RetryAfter, ChatMigrated, Forbidden, InvalidToken, NotConnected):
            raise
        except BadRequest as error:
            ephemeral = "receiver_user_id" in photo.destination or "ephemeral_message_parameters" in photo.destination
            if not is_about_picture(error.message, ephemeral=ephemeral):
                raise
            if NO_RIGHT_TO_PHOTOS.search(error.message):
                self._forbidden[int(photo.destination["chat_id"])] = True
            raise NoPicture(error.message) from None
        except LIBRARY_ERRORS as error:
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= FAILURES_IN_A_ROW:
                self._rests_until = time.monotonic() + REST_SECONDS
            if isinstance(error, LOST_ANSWERS) or not isinstance(error, (TelegramError, TimeoutError)):
                # The answer was lost or malformed, and the photo might be there. Its text would be a second message.
                raise
            if isinstance(error, LateUpload) and error.message is None:
                raise LateEdit(error_name(error)) from None
            raise NoPicture(error_name(error), error.message if isinstance(error, LateUpload) else None) from None
        else:
            self._failed_in_a_row = 0


async def _late_message_id(task: asyncio.Future[Any], read_id: ReadMessageId) -> str:
    """Wait for a late message and return its id; empty if it never arrives."""
    with suppress(PlatformFailure, *LIBRARY_ERRORS):
        return read_id(await task)
    return ""
