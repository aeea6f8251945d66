"""What Telegram's refusals mean to delivery."""

import datetime as dt

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

from adapters.telegram.transport import ConnectionLost, InvalidAnswer, ServerError
from bot.platform import (
    ChatGone,
    DeliveryError,
    MessageGone,
    MessageRefused,
    NotDelivered,
    NotEditable,
    PlatformFailure,
    SlowDown,
    TooLong,
    Unreachable,
    is_ephemeral,
    is_inline,
    is_private,
)

LONGEST_TEXT = 4096

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
"""What Telegram says, in lower case, when a message, a chat or a private chat is not there, and when a message has a
picture where none is expected, or the other way round.
"""

NOT_MODIFIED = "message is not modified"
PICTURE_WORDS = ("photo", "image_", "media_", "caption", "file")
NO_RIGHT_TO_PHOTOS = ("rights to send photos", "chat_send_photos_forbidden", "chat_send_media_forbidden")
UNKNOWN_FILES = ("file identifier", "file_id", "file reference", "file_reference")
"""And when something is the matter with a picture: any at all, the chat takes none, a ``file_id`` is none."""


LIBRARY_ERRORS = (TelegramError, AttributeError, KeyError, TypeError, ValueError, OverflowError, OSError)
"""What the library raises when there is no answer, or one that does not say what it should, such as a date that is in
no calendar.
"""


LOST_ANSWERS = (TimedOut, ConnectionLost, InvalidAnswer, ServerError)
"""And when the answer is lost, or says that something broke: what was asked for may have been done. A message that "was
immediately deleted and can't be returned" has even been sent for certain (tdlib/telegram-bot-api, ``Client.cpp``).
"""


class DeliveryErrors:
    """What is done in this context raises Telegram's errors as delivery understands them; a group's move is left as it
    is.
    """

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        return

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, LIBRARY_ERRORS) and not isinstance(error, ChatMigrated):
            raise _delivery_error(self._place, error) from None


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
    return PlatformFailure(f"an answer of another shape ({error_name(error)})")


def _refusal_error(place: str, said: str) -> DeliveryError:
    if is_inline(place) and any(words in said for words in (*WRONG_KIND, *GONE_MESSAGES, *NO_INLINE_MESSAGE)):
        # No other message can take its place.
        return ChatGone(said)
    if any(words in said for words in WRONG_KIND):
        return NotEditable(said)
    if "too long" in said or "too_long" in said:
        return TooLong(LONGEST_TEXT)
    if any(words in said for words in GONE_MESSAGES):
        return MessageGone(said)
    if is_ephemeral(place):
        # The query is too old, the bot is no administrator, the person has left: it takes all of these.
        return Unreachable(said)
    if is_private(place) and any(words in said for words in NEVER_STARTED):
        return Unreachable(said)
    if any(words in said for words in GONE_CHATS):
        return ChatGone(said)
    return MessageRefused(said)


def concerns_picture(said: str, *, ephemeral: bool) -> bool:
    """Whether a refusal of a message with a picture may be about that, so that its text alone might be taken."""
    said = said.lower()
    if any(words in said for words in (*WRONG_KIND, *GONE_MESSAGES, NOT_MODIFIED)):
        return False
    if any(words in said for words in PICTURE_WORDS):
        return True
    return not ephemeral and not any(words in said for words in (*GONE_CHATS, *NEVER_STARTED))


def is_answer_lost(error: BaseException) -> bool:
    """Whether this stands for an answer that did not come, or cannot be read."""
    return isinstance(error, LOST_ANSWERS) or not isinstance(error, (TelegramError, TimeoutError))


def forbids_photos(said: str) -> bool:
    """Whether a refusal says that the chat takes no photos."""
    return any(words in said.lower() for words in NO_RIGHT_TO_PHOTOS)


def is_unknown_file(said: str) -> bool:
    """Whether a refusal says that a ``file_id`` is none, or none any more."""
    return any(words in said.lower() for words in UNKNOWN_FILES)


def slow_down_error(error: RetryAfter) -> SlowDown:
    """How long Telegram asks to wait, within what is believed."""
    wait = error.retry_after
    return SlowDown(wait.total_seconds() if isinstance(wait, dt.timedelta) else float(wait))


def error_name(error: BaseException) -> str:
    """What went wrong, without what might hold an address."""
    return type(error).__name__
