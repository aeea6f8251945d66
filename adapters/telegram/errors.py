"""Translates Telegram's errors to delivery errors."""

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

# Parts of Telegram's error messages, in lower case.
CANNOT_BE_DELETED = "message can't be deleted"
GONE_MESSAGES = (
    "message to edit not found",
    "message can't be edited",
    "message_id_invalid",
    "message to delete not found",
    CANNOT_BE_DELETED,
)
WRONG_KIND = (
    "there is no text in the message to edit",
    "there is no caption in the message to edit",
    "there is no media in the message to edit",
)
NO_INLINE_MESSAGE = ("inline message identifier", "message not found", "message_author_required")
GONE_CHATS = (
    "chat not found",
    "peer_id_invalid",
    "group chat was deleted",
    "not enough rights",
    "have no rights",
    "topic_closed",
    "topic_deleted",
    "message thread not found",
    "chat_write_forbidden",
    "chat_send_plain_forbidden",
    "chat_restricted",
    "chat_admin_required",
    "chat_forbidden",
    "channel_private",
    "bot is not a member",
)
NEVER_STARTED = ("chat not found", "peer_id_invalid", "bot can't initiate conversation", "user is deactivated")
NOT_MODIFIED = "message is not modified"
PICTURE_WORDS = ("photo", "image_", "media_", "caption", "file")
NO_RIGHT_TO_PHOTOS = ("rights to send photos", "chat_send_photos_forbidden", "chat_send_media_forbidden")
UNKNOWN_FILES = ("file identifier", "file_id", "file reference", "file_reference")

LIBRARY_ERRORS = (TelegramError, AttributeError, KeyError, TypeError, ValueError, OverflowError, OSError)
"""Everything the library raises for a missing or malformed answer, such as an impossible date."""

LOST_ANSWERS = (TimedOut, ConnectionLost, InvalidAnswer, ServerError)
"""Errors after which the call can have taken effect: the answer is lost, or the server failed.

A message that "was immediately deleted and can't be returned" was certainly sent (tdlib/telegram-bot-api,
``Client.cpp``).
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
    if is_inline(place) and any(words in text for words in (*WRONG_KIND, *GONE_MESSAGES, *NO_INLINE_MESSAGE)):
        # No other message can be sent there.
        return ChatGone(text)
    if any(words in text for words in WRONG_KIND):
        return NotEditable(text)
    if "too long" in text or "too_long" in text:
        return TooLong(LONGEST_TEXT)
    if any(words in text for words in GONE_MESSAGES):
        return MessageGone(text)
    if is_ephemeral(place):
        # The query is too old, the bot is not an administrator, or the person left.
        return Unreachable(text)
    if is_private(place) and any(words in text for words in NEVER_STARTED):
        return Unreachable(text)
    if any(words in text for words in GONE_CHATS):
        return ChatGone(text)
    return MessageRefused(text)


def is_about_picture(text: str, *, ephemeral: bool) -> bool:
    """Return whether a message was perhaps refused because of its picture, so that its text alone can succeed."""
    text = text.lower()
    if any(words in text for words in (*WRONG_KIND, *GONE_MESSAGES, NOT_MODIFIED)):
        return False
    if any(words in text for words in PICTURE_WORDS):
        return True
    return not ephemeral and not any(words in text for words in (*GONE_CHATS, *NEVER_STARTED))


def is_answer_lost(error: BaseException) -> bool:
    """Return whether the answer was lost or malformed, so that the call can have taken effect."""
    return isinstance(error, LOST_ANSWERS) or not isinstance(error, (TelegramError, TimeoutError))


def forbids_photos(text: str) -> bool:
    return any(words in text.lower() for words in NO_RIGHT_TO_PHOTOS)


def is_unknown_file(text: str) -> bool:
    """Return whether a ``file_id`` was refused as invalid or expired."""
    return any(words in text.lower() for words in UNKNOWN_FILES)


def error_name(error: BaseException) -> str:
    """Return the error's class alone: its message can contain an address."""
    return type(error).__name__
