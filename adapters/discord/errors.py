"""What Discord's refusals mean to delivery."""

import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import discord

from bot.platform import (
    ChatGone,
    MessageGone,
    NotDone,
    Refused,
    SlowDown,
    Trouble,
    Unreachable,
    is_ephemeral,
    is_private,
)

NO_ACCESS, NO_PERMISSION = 50001, 50013
ANSWERED, EXPIRED, NO_TOKEN, NO_WEBHOOK = 40060, 10062, 50027, 10015
ARCHIVED = 50083
INVALID = 50035
TOO_LARGE = 40005

GONE_MESSAGES = {10008, 50005, 50021, 30046, ARCHIVED}
"""Not there, not ours, or not to be edited any more. A new message wakes an archived thread."""

GONE_CHATS = {10003, 10004, NO_ACCESS, NO_PERMISSION, 50008, 50024, 160005, 50009}
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


@asynccontextmanager
async def meaning(place: str, *, editing: bool = False) -> AsyncIterator[None]:
    """Discord's errors as delivery understands them."""
    try:
        yield
    except discord.RateLimited as error:
        raise SlowDown(error.retry_after) from None
    except discord.HTTPException as error:
        _raise(place, error, editing)
    except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
        raise NotDone(why(error)) from None
    except NO_ANSWER as error:
        raise Trouble(why(error)) from None


def _raise(place: str, error: discord.HTTPException, editing: bool) -> None:
    said = why(error)
    if error.status == RATE_LIMITED:
        # The library has waited some times, or whoever answers is not Discord itself.
        raise SlowDown(_retry_after(error)) from None
    if error.code == TOO_MANY_CHATS:
        raise SlowDown(BREATH) from None
    if editing and error.code in GONE_MESSAGES:
        raise MessageGone(said) from None
    if error.code in CLOSED or (is_private(place) and error.code in GONE_CHATS):
        raise Unreachable(said) from None
    if error.code in EXPIRED_PASSES:
        raise (Unreachable if is_ephemeral(place) else ChatGone)(said) from None
    if error.code in GONE_CHATS or error.code == ARCHIVED:
        raise ChatGone(said) from None
    # What carries no code of Discord's may come from anywhere on the way.
    raise (Refused if error.code else Trouble)(said) from None


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
