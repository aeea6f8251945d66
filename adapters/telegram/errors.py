"""Translates Telegram's errors into delivery errors."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from telegram.error import (
    BadRequest,
    ChatMigrated,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram.limits import LONGEST_TEXT, slow_down_error
from adapters.telegram.transport import ConnectionLost, InvalidAnswer, ServerError
from bot.platform import (
    ChatGone,
    DeliveryError,
    MessageGone,
    MessageRefused,
    NotDelivered,
    NotEditable,
    PlatformFailure,
    TooLong,
    Unreachable,
    is_ephemeral,
    is_inline,
    is_private,
)

# Parts of Telegram's error messages.
CANNOT_BE_DELETED = re.compile("message can't be deleted", re.IGNORECASE)
GONE_MESSAGES = re.compile(
    "message to edit not found|message can't be edited|message_id_invalid|message to delete not found"
    f"|{CANNOT_BE_DELETED.pattern}",
    re.IGNORECASE,
)
WRONG_KIND = re.compile("there is no (text|caption|media) in the message to edit", re.IGNORECASE)
NO_INLINE_MESSAGE = re.compile("inline message identifier|message not found|message_author_required", re.IGNORECASE)
GONE_CHATS = re.compile(
    "chat not found|peer_id_invalid|group chat was deleted|bot is not a member|not enough rights|have no rights"
    "|message thread not found|topic_(closed|deleted)|channel_private"
    "|chat_(write_forbidden|send_plain_forbidden|restricted|admin_required|forbidden)",
    re.IGNORECASE,
)
NEVER_STARTED = re.compile(
    "chat not found|peer_id_invalid|bot can't initiate conversation|user is deactivated", re.IGNORECASE
)
NOT_MODIFIED = re.compile("message is not modified", re.IGNORECASE)
ABOUT_PICTURE = re.compile("photo|image_|media_|caption|file", re.IGNORECASE)

LIBRARY_ERRORS = (TelegramError, AttributeError, KeyError, TypeError, ValueError, OverflowError, OSError)
"""Everything the library raises for a refusal, and for a missing or malformed answer, such as an impossible date."""

LOST_ANSWERS = (TimedOut, ConnectionLost, InvalidAnswer, ServerError)
"""Errors after which the call might have taken effect: the answer is lost, or the server failed.

A `ServerError` can even mean success: the message was sent, then "immediately deleted and can't be returned"
(tdlib/telegram-bot-api, ``Client.cpp``).
"""


@contextmanager
def delivery_errors(place: str) -> Iterator[None]:
    """Raise the library's errors as `DeliveryError`, except `ChatMigrated`."""
    try:
        yield
    except ChatMigrated:
        raise
    except LIBRARY_ERRORS as error:
        raise _delivery_error(place, error) from None


def _delivery_error(place: str, error: Exception) -> DeliveryError:
    if isinstance(error, RetryAfter):
        return slow_down_error(error)
    if isinstance(error, Forbidden):
        return (Unreachable if is_private(place) else ChatGone)(error_name(error))
    if isinstance(error, BadRequest):
        return _refusal_error(place, error.message.lower())
    if isinstance(error, LOST_ANSWERS):
        return PlatformFailure(error_name(error))
    if isinstance(error, NetworkError | InvalidToken):
        return NotDelivered(error_name(error))
    return PlatformFailure(f"malformed answer ({error_name(error)})")


def _refusal_error(place: str, text: str) -> DeliveryError:
    if is_inline(place) and any(part.search(text) for part in (WRONG_KIND, GONE_MESSAGES, NO_INLINE_MESSAGE)):
        # No other message can be sent there.
        return ChatGone(text)
    if WRONG_KIND.search(text):
        return NotEditable(text)
    if "too long" in text or "too_long" in text:
        return TooLong(LONGEST_TEXT)
    if GONE_MESSAGES.search(text):
        return MessageGone(text)
    if is_ephemeral(place):
        # The query is too old, the bot is not an administrator, or the person left.
        return Unreachable(text)
    if is_private(place) and NEVER_STARTED.search(text):
        return Unreachable(text)
    return ChatGone(text) if GONE_CHATS.search(text) else MessageRefused(text)


def is_about_picture(text: str, *, ephemeral: bool) -> bool:
    """Return whether a message might have been refused because of its picture, so that its text alone could succeed."""
    if WRONG_KIND.search(text) or GONE_MESSAGES.search(text) or NOT_MODIFIED.search(text):
        return False
    if ABOUT_PICTURE.search(text):
        return True
    return not ephemeral and not GONE_CHATS.search(text) and not NEVER_STARTED.search(text)


def error_name(error: BaseException) -> str:
    """Return only the error's class, because its message can contain an address."""
    return type(error).__name__
