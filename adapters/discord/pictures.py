"""Uploads pictures, and remembers which channels do not accept them.

A picture's file is named after its subject's digest. The name and Discord's attachment id are stored with the message
(`SentMessage.picture`). A picture that is stored there is not uploaded again.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import aiohttp
import discord
import structlog
from cachetools import LRUCache, TTLCache

from adapters.discord import components
from adapters.discord.components import Body
from adapters.discord.errors import INVALID, LIBRARY_ERRORS, NO_PERMISSION, RATE_LIMITED, TOO_LARGE, describe_error
from adapters.discord.places import channel_of
from bot.metrics import RATE_LIMITED_ANSWERS
from bot.panel import Panel
from bot.platform import NotDelivered, PlatformFailure, SentMessage, SlowDown

# Time after which a text is sent without its picture. It does not include the library's waits for rate limits, which
# would delay a text as well.
UPLOAD_SECONDS = 2.0
SLOW_SECONDS = 0.5  # slower uploads could make an answer miss Discord's deadline of three seconds

MAX_LATE_UPLOADS = 2  # consecutive late uploads after which a channel gets no pictures for LATE_SECONDS
REFUSED_SECONDS, LATE_SECONDS = 6 * 3600.0, 600.0  # pauses after a refusal and after late uploads

CHANNELS_KEPT = 20_000
STORED_PICTURE = re.compile(r"[0-9]+/[0-9a-f]+\.png")  # attachment id and file name
REFUSALS = {NO_PERMISSION, TOO_LARGE, INVALID}
CONTENT_TOO_LARGE, SERVER_ERROR = 413, 500

log = structlog.get_logger()


class Stopwatch:
    """Times an upload, excluding the library's waits for rate limits.

    ``limit`` raises TimeoutError after `UPLOAD_SECONDS`. ``seconds`` is the measured time.
    """

    def __init__(self) -> None:
        self.limit = asyncio.timeout(None)
        self.seconds = 0.0
        self._started_at: float | None = None  # loop time

    def start(self) -> None:
        """Start, unless already started by an earlier attempt of the same request."""
        if self._started_at is None:
            self._started_at = asyncio.get_running_loop().time()
            self.limit.reschedule(self._started_at + UPLOAD_SECONDS)

    def stop(self) -> None:
        if self._started_at is not None and not self.limit.expired():
            self.seconds = asyncio.get_running_loop().time() - self._started_at
            self.limit.reschedule(None)
            self._started_at = None


def trace_config() -> aiohttp.TraceConfig:
    """Return a trace configuration that counts 429 responses, including those that the library retries.

    It also starts and stops the stopwatch passed as ``trace_request_ctx``.
    """
    config = aiohttp.TraceConfig()

    async def start(_session: object, call: SimpleNamespace, _params: object) -> None:
        if call.trace_request_ctx:
            call.trace_request_ctx.start()

    async def stop(_session: object, call: SimpleNamespace, params: aiohttp.TraceRequestEndParams) -> None:
        if params.response.status == RATE_LIMITED:
            RATE_LIMITED_ANSWERS.labels("discord").inc()
        if call.trace_request_ctx and params.response.status < SERVER_ERROR:
            call.trace_request_ctx.stop()

    config.on_request_start.append(start)
    config.on_request_end.append(stop)
    return config


class Upload(NamedTuple):
    """A file to attach. ``type`` is its media type. ``stopwatch`` times the request."""

    name: str
    content: bytes
    type: str
    stopwatch: Stopwatch | None = None


Deliver = Callable[[Body, Upload | None], Awaitable[SentMessage]]  # sends or edits a message


class Pictures:
    """Delivers pictures, and remembers which channels refuse them or take them too slowly."""

    def __init__(self) -> None:
        # Keys are channels. In `_refusing`, True means that only the permission to attach files is missing.
        self._refusing: TTLCache[str, bool] = TTLCache(CHANNELS_KEPT, REFUSED_SECONDS)
        self._late_uploads: LRUCache[str, int] = LRUCache(CHANNELS_KEPT)  # consecutive late uploads
        self._resting: TTLCache[str, bool] = TTLCache(CHANNELS_KEPT, LATE_SECONDS)
        self._slow: LRUCache[str, bool] = LRUCache(CHANNELS_KEPT)  # the last upload was too slow for an answer

    def set_permission(self, place: str, has_permission: bool) -> None:
        """Note whether the bot can attach files at a place."""
        channel = channel_of(place)
        if not has_permission:
            self._refusing[channel] = True
        elif self._refusing.get(channel):
            del self._refusing[channel]

    def are_slow(self, place: str) -> bool:
        """Return whether an answer at a place should be deferred while its picture uploads."""
        return channel_of(place) in self._slow

    async def show(self, panel: Panel, place: str, sent: SentMessage, deliver: Deliver) -> SentMessage:
        """Deliver a panel with its picture. If the upload fails or takes too long, deliver the text alone.

        ``sent`` is the message to change; a picture that it already has is not uploaded again. ``deliver`` can be
        called again with another body, and must not create a second message. Returns the message with its new state.
        Raises the errors of ``deliver``.
        """
        channel, has_room = channel_of(place), components.has_room_for_picture(panel)
        if panel.picture is None or not has_room or channel in self._refusing or channel in self._resting:
            return await deliver(components.message_body(panel, place), None)
        name = components.picture_name(panel.picture)
        attachment, _, kept_name = sent.picture.partition("/")
        if kept_name == name:
            try:
                message = await deliver(components.message_body(panel, place, {"id": attachment}), None)
            except discord.HTTPException as error:
                if error.code != INVALID:
                    raise
            else:
                return message._replace(picture=sent.picture)
        body = components.message_body(panel, place, {"id": "0", "filename": name})
        stopwatch = Stopwatch()
        try:
            async with stopwatch.limit:
                message = await deliver(body, Upload(name, panel.picture.png, "image/png", stopwatch))
        except LIBRARY_ERRORS as error:
            if not _can_send_text_alone(error):
                raise
            failure: Exception = error
        else:
            self._late_uploads.pop(channel, None)
            if stopwatch.seconds > SLOW_SECONDS:
                self._slow[channel] = True
            else:
                self._slow.pop(channel, None)
            return message
        # A request without a clear answer can still take effect later.
        is_settled = isinstance(failure, discord.HTTPException) and failure.status < 500
        try:
            message = await deliver(components.message_body(panel, place), None)
        except (SlowDown, NotDelivered, *LIBRARY_ERRORS) as error:
            is_refused = isinstance(error, discord.HTTPException) and error.code and error.status != RATE_LIMITED
            if is_settled or is_refused:
                raise
            self._record_failure(channel, failure)
            # NotDelivered would claim that the upload had no effect.
            raise PlatformFailure(describe_error(error)) from None
        # The text alone was accepted, so the picture was the cause.
        self._record_failure(channel, failure)
        return message._replace(is_settled=is_settled)

    def _record_failure(self, channel: str, error: Exception) -> None:
        log.info("discord_picture_omitted", why=describe_error(error))
        if isinstance(error, discord.HTTPException) and error.status < 500:
            self._refusing[channel] = error.code == NO_PERMISSION
            return
        self._slow[channel] = True
        self._late_uploads[channel] = self._late_uploads.get(channel, 0) + 1
        if self._late_uploads[channel] == MAX_LATE_UPLOADS:
            del self._late_uploads[channel]
            self._resting[channel] = True


def _can_send_text_alone(error: Exception) -> bool:
    """Return whether the text might be accepted without the picture."""
    if isinstance(error, discord.HTTPException):
        return error.status >= 500 or error.status == CONTENT_TOO_LARGE or error.code in REFUSALS
    return not isinstance(error, discord.RateLimited)


def picture_of(message: Any) -> str:
    """Return the stored form of a message's picture, from Discord's JSON. Empty without a picture."""
    media = next(_media(message.get("components")), None) if isinstance(message, dict) else None
    if media is None:
        return ""
    name = str(media.get("url")).partition("?")[0].rpartition("/")[2]
    stored_form = f"{media['attachment_id']}/{name}"
    return stored_form if STORED_PICTURE.fullmatch(stored_form) else ""


def _media(components: Any) -> Iterator[dict[str, Any]]:
    """Yield the uploaded pictures in JSON components, which can be malformed."""
    for component in components if isinstance(components, list) else ():
        if not isinstance(component, dict):
            continue
        items = component.get("items")
        for item in items if isinstance(items, list) else ():
            media = item.get("media") if isinstance(item, dict) else None
            if isinstance(media, dict) and media.get("attachment_id"):
                yield media
        yield from _media(component.get("components"))
