"""What Discord's refusals mean to delivery."""

import zlib

import aiohttp
import discord

from bot.platform import (
    ChatGone,
    DeliveryError,
    MessageGone,
    NotDone,
    Refused,
    SlowDown,
    Trouble,
    Unreachable,
    is_ephemeral,
    is_private,
)

UNKNOWN_CHANNEL, NO_ACCESS, NO_PERMISSION = 10003, 50001, 50013
NO_CHANNEL = {UNKNOWN_CHANNEL, NO_ACCESS}
ANSWERED, EXPIRED, NO_TOKEN, NO_WEBHOOK = 40060, 10062, 50027, 10015
ARCHIVED = 50083
INVALID = 50035
TOO_LARGE = 40005

GONE_MESSAGES = {10008, 50005, 50021, 30046, ARCHIVED}
"""Not there, not ours, or not to be edited any more. A new message wakes an archived thread."""

GONE_CHATS = {*NO_CHANNEL, 10004, NO_PERMISSION, 50008, 50024, 160005, 50009}
"""The channel or server is gone, may not be seen or written to, or cannot hold messages; a thread is locked."""

CLOSED = {50007, 50278, 10013, 50033}
"""The person takes no messages from the bot, shares no server with it, or is no more."""

EXPIRED_PASSES = {EXPIRED, NO_TOKEN, NO_WEBHOOK}
TOO_MANY_CHATS = 40003
"""Private chats are being opened too fast."""

BREATH = 60.0
RATE_LIMITED, SHORT_BREATH = 429, 5.0

NO_ANSWER = (
    discord.DiscordException,
    aiohttp.ClientError,
    OSError,
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    RecursionError,
    zlib.error,
)
"""What the library raises when there is no answer, or one that does not say what it should."""


class Meaning:
    """What is done in this context raises Discord's errors as delivery understands them; ``editing`` a message."""

    __slots__ = ("_editing", "_place")

    def __init__(self, place: str, *, editing: bool = False) -> None:
        self._place, self._editing = place, editing

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, NO_ANSWER):
            raise _understood(self._place, error, self._editing) from None


def _understood(place: str, error: Exception, editing: bool) -> DeliveryError:
    if isinstance(error, discord.RateLimited):
        return SlowDown(error.retry_after)
    if isinstance(error, discord.HTTPException):
        return _refusal(place, error, editing)
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return NotDone(why(error))
    return Trouble(why(error))


def _refusal(place: str, error: discord.HTTPException, editing: bool) -> DeliveryError:
    said = why(error)
    if error.status == RATE_LIMITED:
        # The library has waited some times, or whoever answers is not Discord itself.
        return SlowDown(_retry_after(error))
    if error.code == TOO_MANY_CHATS:
        return SlowDown(BREATH)
    if editing and error.code in GONE_MESSAGES:
        return MessageGone(said)
    if error.code in CLOSED or (is_private(place) and error.code in GONE_CHATS):
        return Unreachable(said)
    if error.code in EXPIRED_PASSES:
        return (Unreachable if is_ephemeral(place) else ChatGone)(said)
    if error.code in GONE_CHATS or error.code == ARCHIVED:
        return ChatGone(said)
    # What carries no code of Discord's may come from anywhere on the way.
    return (Refused if error.code else Trouble)(said)


def _retry_after(error: discord.HTTPException) -> float:
    try:
        return float(error.response.headers["Retry-After"])
    except (AttributeError, KeyError, ValueError):
        return SHORT_BREATH


def why(error: BaseException) -> str:
    """What went wrong, without what might hold an address."""
    if isinstance(error, discord.HTTPException):
        return f"{error.status}, code {error.code}"
    return type(error).__name__
