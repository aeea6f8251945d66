"""Pictures on Discord: which one each message has, and which channels accept none.

A picture's file is named after its scene. This name and Discord's attachment id are stored with the message
(`SentMessage.picture`). A picture that is not known to be there is uploaded again.
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

from adapters.discord import drawing
from adapters.discord.drawing import Body
from adapters.discord.errors import INVALID, LIBRARY_ERRORS, NO_PERMISSION, RATE_LIMITED, TOO_LARGE, describe_error
from adapters.discord.reading import channel_of
from bot.panel import Panel
from bot.places import Place
from bot.platform import NotDelivered, PlatformFailure, SentMessage, SlowDown

# Time before a text is sent without its picture, counted from the request: the library's waits for rate limits
# would delay a text as well.
UPLOAD_SECONDS = 2.0

SLOW_SECONDS = 0.5  # a slower upload would risk an answer's three seconds
MAX_LATE = 2  # consecutive late uploads after which a channel gets no pictures for LATE_SECONDS

# how long no picture is tried after a refusal, and after late uploads
REFUSED_SECONDS, LATE_SECONDS = 6 * 3600.0, 600.0

REMEMBERED = 20_000  # channels
STORED_PICTURE = re.compile(r"[0-9]+/[0-9a-f]+\.png")  # the stored form of a picture: attachment id and file name
REFUSALS = {NO_PERMISSION, TOO_LARGE, INVALID}
CONTENT_TOO_LARGE, SERVER_ERROR = 413, 500

log = structlog.get_logger()


class Stopwatch:
    """Times an upload and raises TimeoutError if it is late.

    The time runs from the request until the response. Before and after, the library can wait for a rate limit or open a
    private chat, as for a text. ``seconds`` is the measured time.
    """

    def __init__(self) -> None:
        self.limit = asyncio.timeout(None)
        self.seconds = 0.0
        self._began: float | None = None

    def start(self) -> None:
        """Start the time, unless it runs: the library can retry a request."""
        if self._began is None:
            self._began = asyncio.get_running_loop().time()
            self.limit.reschedule(self._began + UPLOAD_SECONDS)

    def stop(self) -> None:
        if self._began is not None and not self.limit.expired():
            self.seconds = asyncio.get_running_loop().time() - self._began
            self.limit.reschedule(None)
            self._began = None


def trace_config() -> aiohttp.TraceConfig:
    """Return a trace configuration that runs the stopwatch given as a call's ``trace_request_ctx``."""
    config = aiohttp.TraceConfig()

    async def start(_session: object, call: SimpleNamespace, _about: object) -> None:
        if call.trace_request_ctx:
            call.trace_request_ctx.start()

    async def stop(_session: object, call: SimpleNamespace, about: aiohttp.TraceRequestEndParams) -> None:
        if call.trace_request_ctx and about.response.status < SERVER_ERROR:
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
    """Remembers which channels refuse pictures, or take them too slowly."""

    def __init__(self) -> None:
        # channels without pictures, and whether only the permission to attach files is missing
        self._refusing: TTLCache[str, bool] = TTLCache(REMEMBERED, REFUSED_SECONDS)
        self._late: LRUCache[str, int] = LRUCache(REMEMBERED)  # consecutive late uploads by channel
        self._resting: TTLCache[str, bool] = TTLCache(REMEMBERED, LATE_SECONDS)
        self._slow: LRUCache[str, bool] = LRUCache(REMEMBERED)  # channels with a last upload too slow for an answer

    def set_permission(self, place: str, has_permission: bool) -> None:
        """Note whether the bot can attach files at a place."""
        channel = _channel(place)
        if not has_permission:
            self._refusing[channel] = True
        elif self._refusing.get(channel):
            del self._refusing[channel]

    def are_accepted(self, place: str) -> bool:
        channel = _channel(place)
        return channel not in self._refusing and channel not in self._resting

    def are_slow(self, place: str) -> bool:
        """Return whether an answer at a place should be deferred while its picture uploads."""
        return _channel(place) in self._slow

    async def show(self, panel: Panel, place: str, sent: SentMessage, deliver: Deliver) -> SentMessage:
        """Deliver a panel with its picture, kept or uploaded, or without it if that fails or takes too long.

        ``sent`` is the message to change. ``deliver`` can be called again with another body, and must then create no
        second message. Returns the message with its new state. Raises what ``deliver`` raises.
        """
        if panel.picture is None or not drawing.has_room_for_picture(panel) or not self.are_accepted(place):
            return await deliver(drawing.message_body(panel, place), None)
        name = drawing.picture_name(panel.picture)
        attachment, _, stands = sent.picture.partition("/")
        if stands == name:
            try:
                kept = await deliver(drawing.message_body(panel, place, {"id": attachment}), None)
            except discord.HTTPException as error:
                if error.code != INVALID:
                    raise
            else:
                return kept._replace(picture=sent.picture)
        body = drawing.message_body(panel, place, {"id": "0", "filename": name})
        stopwatch = Stopwatch()
        try:
            async with stopwatch.limit:
                shown = await deliver(body, Upload(name, panel.picture.png, "image/png", stopwatch))
        except LIBRARY_ERRORS as error:
            if not _can_send_text_alone(error):
                raise
            failure: Exception = error
        else:
            self._late.pop(_channel(place), None)
            if stopwatch.seconds > SLOW_SECONDS:
                self._slow[_channel(place)] = True
            else:
                self._slow.pop(_channel(place), None)
            return shown
        # A request without a clear answer can still take effect later.
        is_settled = isinstance(failure, discord.HTTPException) and failure.status < 500
        try:
            shown = await deliver(drawing.message_body(panel, place), None)
        except (SlowDown, NotDelivered, *LIBRARY_ERRORS) as error:
            if is_settled or _is_refusal(error):
                raise
            self._record_failure(_channel(place), failure)
            # NotDelivered would claim that the upload had no effect.
            raise PlatformFailure(describe_error(error)) from None
        # The text alone was accepted, so the picture was the cause.
        self._record_failure(_channel(place), failure)
        return shown._replace(is_settled=is_settled)

    def _record_failure(self, channel: str, error: Exception) -> None:
        log.info("discord_picture_omitted", why=describe_error(error))
        if isinstance(error, discord.HTTPException) and error.status < 500:
            self._refusing[channel] = error.code == NO_PERMISSION
            return
        self._slow[channel] = True
        self._late[channel] = self._late.get(channel, 0) + 1
        if self._late[channel] == MAX_LATE:
            del self._late[channel]
            self._resting[channel] = True


def _can_send_text_alone(error: Exception) -> bool:
    """Return whether the text might be accepted without the picture."""
    if isinstance(error, discord.HTTPException):
        return error.status >= 500 or error.status == CONTENT_TOO_LARGE or error.code in REFUSALS
    return not isinstance(error, discord.RateLimited)


def _channel(place: str) -> str:
    where = Place.parse(place)
    return channel_of(place) if where.chat else f"@{where.person}"


def _is_refusal(error: Exception) -> bool:
    """Return whether Discord refuses the request itself, so that a retry is pointless."""
    return isinstance(error, discord.HTTPException) and bool(error.code) and error.status != RATE_LIMITED


def picture_of(said: Any) -> str:
    """Return what to store of a message's picture, from Discord's JSON of the message. Empty without a picture."""
    media = next(_media(said.get("components")), None) if isinstance(said, dict) else None
    if media is None:
        return ""
    name = str(media.get("url")).partition("?")[0].rpartition("/")[2]
    known = f"{media['attachment_id']}/{name}"
    return known if STORED_PICTURE.fullmatch(known) else ""


def _media(components: Any) -> Iterator[dict[str, Any]]:
    """Yield the uploaded pictures in JSON components, which can be malformed.

    Discord lists only those attachments that no component shows.
    """
    for component in components if isinstance(components, list) else ():
        if not isinstance(component, dict):
            continue
        items = component.get("items")
        for item in items if isinstance(items, list) else ():
            media = item.get("media") if isinstance(item, dict) else None
            if isinstance(media, dict) and media.get("attachment_id"):
                yield media
        yield from _media(component.get("components"))
