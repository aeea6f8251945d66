"""Checks of message content as the Bot API makes them: texts, captions, photos and buttons.

Source: core.telegram.org/bots/api.
"""

import struct
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from bot.panel import utf16_length

LONGEST_TEXT, LONGEST_CAPTION = 4096, 1024
LARGEST_PHOTO = 10 * 1024 * 1024
LONGEST_EDGES, LONGEST_RATIO = 10_000, 20
"""Limits of width plus height, and of their ratio (core.telegram.org/bots/api#sendphoto)."""

KINDS = ("url", "callback_data", "switch_inline_query_chosen_chat", "web_app")

PNG = b"\x89PNG\r\n\x1a\n"


class Refused(Exception):
    """An error of the Bot API."""

    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code, self.description, self.parameters = code, description, parameters


class Photos:
    """Uploaded photos by ``file_id``; ``uploads`` counts them."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.uploads = 0
        self._numbers = count(1)

    def save(self, content: bytes) -> str:
        """Store an upload; return its ``file_id``."""
        if not content:
            raise Refused(400, "Bad Request: file must be non-empty")
        if len(content) > LARGEST_PHOTO:
            raise Refused(413, "Request Entity Too Large")
        width, height = _size(content)
        if width + height > LONGEST_EDGES or max(width, height) > LONGEST_RATIO * min(width, height):
            raise Refused(400, "Bad Request: PHOTO_INVALID_DIMENSIONS")
        self.uploads += 1
        file_id = f"photo{next(self._numbers)}"
        self.files[file_id] = content
        return file_id

    def sizes(self, file_id: str) -> list[dict[str, Any]]:
        """Return the sizes of a photo, the largest last."""
        if file_id not in self.files:
            raise Refused(400, "Bad Request: wrong file identifier/HTTP URL specified")
        width, height = _size(self.files[file_id])
        size = len(self.files[file_id])
        shared = {"file_unique_id": f"u{file_id}", "file_size": size}
        small = {"file_id": f"{file_id}small", "width": max(1, width // 4), "height": max(1, height // 4), **shared}
        return [small, {"file_id": file_id, "width": width, "height": height, **shared}]


def _size(content: bytes) -> tuple[int, int]:
    """Return the width and height of a PNG."""
    if not content.startswith(PNG) or len(content) < 24:
        raise Refused(400, "Bad Request: IMAGE_PROCESS_FAILED")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def resolve_attachment(media: str, uploads: dict[str, bytes]) -> bytes | None:
    """Return the uploaded file that ``attach://`` names; None for a ``file_id``.

    Source: core.telegram.org/bots/api#inputmediaphoto
    """
    if not media.startswith("attach://"):
        return None
    if media.removeprefix("attach://") not in uploads:
        raise Refused(400, f"Bad Request: can't parse InputMedia: media not found: {media}")
    return uploads.pop(media.removeprefix("attach://"))


def text_content(fields: dict[str, Any]) -> dict[str, Any]:
    if not fields["text"].strip():
        raise Refused(400, "Bad Request: message text is empty")
    if utf16_length(fields["text"]) > LONGEST_TEXT:
        raise Refused(400, "Bad Request: message is too long")
    _check_entities(fields["text"], fields.get("entities"))
    return {
        "text": fields["text"],
        **_without_empty(entities=fields.get("entities"), reply_markup=checked_markup(fields)),
    }


def caption_content(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the caption and buttons of a photo."""
    caption = fields.get("caption") or ""
    if utf16_length(caption) > LONGEST_CAPTION:
        raise Refused(400, "Bad Request: message caption is too long")
    _check_entities(caption, fields.get("caption_entities"))
    return _without_empty(
        caption=caption, caption_entities=fields.get("caption_entities"), reply_markup=checked_markup(fields)
    )


def text_of(message: dict[str, Any]) -> str:
    """Return a message's text or caption."""
    return str(message.get("text") or message.get("caption") or "")


def buttons_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [button for row in message.get("reply_markup", {}).get("inline_keyboard", ()) for button in row]


def payloads_of(message: dict[str, Any]) -> list[str]:
    return [button["callback_data"] for button in buttons_of(message) if "callback_data" in button]


def _check_entities(text: str, entities: list[dict[str, Any]] | None) -> None:
    for entity in entities or ():
        if entity["offset"] + entity["length"] > utf16_length(text):
            raise Refused(400, "Bad Request: entity beyond the end of the text")


def checked_markup(fields: dict[str, Any]) -> dict[str, Any] | None:
    markup: dict[str, Any] | None = fields.get("reply_markup")
    buttons = [button for row in markup["inline_keyboard"] for button in row] if markup else []
    if len(buttons) > 100:
        raise Refused(400, "Bad Request: REPLY_MARKUP_TOO_LONG")
    for button in buttons:
        if "callback_data" in button and not 1 <= len(button["callback_data"].encode()) <= 64:
            raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
        # Only in private chats and by https: core.telegram.org/bots/api#inlinekeyboardbutton and #webappinfo
        if "web_app" in button and fields.get("chat_id", 0) <= 0:
            raise Refused(400, "Bad Request: BUTTON_TYPE_INVALID")
        if "web_app" in button and not button["web_app"]["url"].startswith("https://"):
            raise Refused(
                400, "Bad Request: inline keyboard button Web App URL is invalid: Only HTTPS links are allowed"
            )
        # tdlib/td, LinkManager::check_link_impl
        host = urlsplit(button.get("url", "https://t.me")).hostname or ""
        if "." not in host and ":" not in host:
            raise Refused(400, f"Bad Request: inline keyboard button URL '{button['url']}' is invalid: Wrong HTTP URL")
        if not button["text"] or sum(kind in button for kind in KINDS) != 1:
            raise Refused(400, "Bad Request: button of no kind, or of two")
    return markup


def _without_empty(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
