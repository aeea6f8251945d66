"""Translates Discord's errors into delivery errors."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
import discord

from adapters.discord.limits import OPEN_CHAT_SECONDS, RATE_LIMIT_SECONDS
from bot.platform import (
    ChatGone,
    DeliveryError,
    MessageGone,
    MessageRefused,
    NotDelivered,
    PlatformFailure,
    SlowDown,
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

# The message is missing, not the bot's, or no longer editable. A new message reopens an archived thread.
GONE_MESSAGES = {10008, 50005, 50021, 30046, ARCHIVED}

# The channel or server is missing, invisible or read-only, or cannot hold messages, or the thread is locked.
GONE_CHATS = {*NO_CHANNEL, 10004, NO_PERMISSION, 50008, 50024, 160005, 50009}

# The person does not accept messages from the bot, shares no server with it, or no longer exists.
CLOSED = {50007, 50278, 10013, 50033}

EXPIRED_TOKENS = {EXPIRED, NO_TOKEN, NO_WEBHOOK}
TOO_MANY_CHATS = 40003  # private chats are being opened too fast
RATE_LIMITED = 429

# Everything the library raises for a refusal, and for a missing or malformed answer.
LIBRARY_ERRORS = (
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


@contextmanager
def delivery_errors(place: str, *, editing: bool = False) -> Iterator[None]:
    """Raise the library's errors as delivery errors. Set ``editing`` if the block edits or deletes a message."""
    try:
        yield
    except LIBRARY_ERRORS as error:
        raise _delivery_error(place, error, editing) from None


def _delivery_error(place: str, error: Exception, editing: bool) -> DeliveryError:
    if isinstance(error, discord.RateLimited):
        return SlowDown(error.retry_after)
    if isinstance(error, discord.HTTPException):
        return _refusal_error(place, error, editing)
    if isinstance(error, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        return NotDelivered(describe_error(error))
    return PlatformFailure(describe_error(error))


def _refusal_error(place: str, error: discord.HTTPException, editing: bool) -> DeliveryError:
    reason = describe_error(error)
    if error.status == RATE_LIMITED:
        # The library has given up retrying, or the answer is not from Discord but from a proxy.
        try:
            return SlowDown(float(error.response.headers["Retry-After"]))
        except (AttributeError, KeyError, ValueError):
            return SlowDown(RATE_LIMIT_SECONDS)
    if error.code == TOO_MANY_CHATS:
        return SlowDown(OPEN_CHAT_SECONDS)
    if editing and error.code in GONE_MESSAGES:
        return MessageGone(reason)
    if error.code in CLOSED or (is_private(place) and error.code in GONE_CHATS):
        return Unreachable(reason)
    if error.code in EXPIRED_TOKENS:
        return (Unreachable if is_ephemeral(place) else ChatGone)(reason)
    if error.code in GONE_CHATS or error.code == ARCHIVED:
        return ChatGone(reason)
    # An error without Discord's code can come from a proxy.
    return (MessageRefused if error.code else PlatformFailure)(reason)


def describe_error(error: BaseException) -> str:
    """Return a short reason, without text that could contain an address."""
    if isinstance(error, discord.HTTPException):
        return f"{error.status}, code {error.code}"
    return type(error).__name__
