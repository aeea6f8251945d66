"""Pictures on Discord: which one each message carries, and where none can be shown.

A picture's file is named after its scene. That name and the attachment's id, which Discord says, are kept with the
message (`SentMessage.picture`): a picture that is not known to stand there is uploaded again.
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

UPLOAD_SECONDS = 2.0
"""How long a message waits for its upload before its text goes alone: since it goes out, for the library's own waits
for a rate limit would hold up a text as well.
"""

SLOW_SECONDS = 0.5
"""An upload that takes longer would be a risk to an answer, which has three seconds in all."""

MAX_LATE = 2
"""So many uploads in a row that are late, and a channel is left in peace for a while."""

REFUSED_SECONDS, LATE_SECONDS = 6 * 3600.0, 600.0
"""For how long."""

REMEMBERED = 20_000
"""Channels of which something is remembered."""

STORED_PICTURE = re.compile(r"[0-9]+/[0-9a-f]+\.png")
"""What is kept of a picture: the attachment's id, and the name of its file."""

REFUSALS = {NO_PERMISSION, TOO_LARGE, INVALID}
CONTENT_TOO_LARGE, SERVER_ERROR = 413, 500

log = structlog.get_logger()


class Stopwatch:
    """Times an upload, and ends it by a TimeoutError when it is late: from when it goes out until it is taken or
    refused. Before and after that the library may wait for a rate limit, or a private chat be opened, as with a text.

    ``seconds`` is what it took.
    """

    def __init__(self) -> None:
        self.limit = asyncio.timeout(None)
        self.seconds = 0.0
        self._began: float | None = None

    def start(self) -> None:
        """It goes out; perhaps again, after an error that the library did not raise."""
        if self._began is None:
            self._began = asyncio.get_running_loop().time()
            self.limit.reschedule(self._began + UPLOAD_SECONDS)

    def stop(self) -> None:
        if self._began is not None and not self.limit.expired():
            self.seconds = asyncio.get_running_loop().time() - self._began
            self.limit.reschedule(None)
            self._began = None


def trace_config() -> aiohttp.TraceConfig:
    """What has a session run the stopwatches of its calls, given as ``trace_request_ctx``."""
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
    """A file that comes with a message; ``type`` is its media type. The call that brings it has a ``stopwatch``."""

    name: str
    content: bytes
    type: str
    stopwatch: Stopwatch | None = None


Deliver = Callable[[Body, Upload | None], Awaitable[SentMessage]]
"""Sends or changes a message."""


class Pictures:
    """What is known of channels that take no pictures, or not in time."""

    def __init__(self) -> None:
        self._refusing: TTLCache[str, bool] = TTLCache(REMEMBERED, REFUSED_SECONDS)
        """Channels that take none; whether that is only because the bot may not attach files there."""
        self._late: LRUCache[str, int] = LRUCache(REMEMBERED)
        """Uploads in a row that were late, by channel."""
        self._resting: TTLCache[str, bool] = TTLCache(REMEMBERED, LATE_SECONDS)
        self._slow: LRUCache[str, bool] = LRUCache(REMEMBERED)
        """Channels where the last upload took so long that an answer should not wait for the next."""

    def set_permission(self, place: str, has_permission: bool) -> None:
        """Whether the bot may attach files at a place just now."""
        channel = _channel(place)
        if not has_permission:
            self._refusing[channel] = True
        elif self._refusing.get(channel):
            del self._refusing[channel]

    def are_accepted(self, place: str) -> bool:
        """Whether pictures can be shown at a place, as far as is known."""
        channel = _channel(place)
        return channel not in self._refusing and channel not in self._resting

    def are_slow(self, place: str) -> bool:
        """Whether an answer at a place should not wait for its picture."""
        return _channel(place) in self._slow

    async def show(self, panel: Panel, place: str, sent: SentMessage, deliver: Deliver) -> SentMessage:
        """Deliver a panel: with its picture, kept or uploaded, or alone where that is not possible in time.

        ``sent`` is the message that changes. ``deliver`` may be called again with something else, and nothing may be
        there twice then. Returns the message as it stands then; raises what ``deliver`` raises.
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
        # What was heard of no more may still be done, after this.
        is_settled = isinstance(failure, discord.HTTPException) and failure.status < 500
        try:
            shown = await deliver(drawing.message_body(panel, place), None)
        except (SlowDown, NotDelivered, *LIBRARY_ERRORS) as error:
            if is_settled or _is_refusal(error):
                raise
            self._record_failure(_channel(place), failure)
            # It would be said that nothing was done.
            raise PlatformFailure(describe_error(error)) from None
        # The text went through: it was the picture's fault.
        self._record_failure(_channel(place), failure)
        return shown._replace(is_settled=is_settled)

    def _record_failure(self, channel: str, error: Exception) -> None:
        log.info("discord_picture_left_out", why=describe_error(error))
        if isinstance(error, discord.HTTPException) and error.status < 500:
            self._refusing[channel] = error.code == NO_PERMISSION
            return
        self._slow[channel] = True
        self._late[channel] = self._late.get(channel, 0) + 1
        if self._late[channel] == MAX_LATE:
            del self._late[channel]
            self._resting[channel] = True


def _can_send_text_alone(error: Exception) -> bool:
    """Whether the text alone may go where it did not go with a picture."""
    if isinstance(error, discord.HTTPException):
        return error.status >= 500 or error.status == CONTENT_TOO_LARGE or error.code in REFUSALS
    return not isinstance(error, discord.RateLimited)


def _channel(place: str) -> str:
    where = Place.parse(place)
    return channel_of(place) if where.chat else f"@{where.person}"


def _is_refusal(error: Exception) -> bool:
    """Whether Discord will not have it, now or later."""
    return isinstance(error, discord.HTTPException) and bool(error.code) and error.status != RATE_LIMITED


def picture_of(said: Any) -> str:
    """What is to be known of a message's picture, by what Discord says of the message; empty if it shows none."""
    media = next(_media(said.get("components")), None) if isinstance(said, dict) else None
    if media is None:
        return ""
    name = str(media.get("url")).partition("?")[0].rpartition("/")[2]
    known = f"{media['attachment_id']}/{name}"
    return known if STORED_PICTURE.fullmatch(known) else ""


def _media(components: Any) -> Iterator[dict[str, Any]]:
    """The uploaded pictures in components that are JSON, whatever else that holds.

    Discord lists among a message's attachments only those that no component shows.
    """
    for one in components if isinstance(components, list) else ():
        if not isinstance(one, dict):
            continue
        items = one.get("items")
        for item in items if isinstance(items, list) else ():
            media = item.get("media") if isinstance(item, dict) else None
            if isinstance(media, dict) and media.get("attachment_id"):
                yield media
        yield from _media(one.get("components"))
