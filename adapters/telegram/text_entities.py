"""Panels' texts in Telegram's form: plain text with entities, so that nothing needs escaping.

Texts and entities are JSON as the Bot API documents it. Building the library's objects would take most of a call's
time.
"""

import re
from typing import Any

from bot.panel import Panel, Span, utf16_length

MENTIONS = ("mention", "call")
HANDLE = re.compile(r"@[A-Za-z0-9_]+")
FOLDED = "expandable_blockquote"
ENTITIES = {"bold": "bold", "italic": "italic", "code": "code", "small": FOLDED}


def text_fields(panel: Panel, markup: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "text": panel.plain,
        "entities": entities_of(panel) or None,
        "link_preview_options": {"is_disabled": True},
        "reply_markup": markup,
    }


def entities_of(panel: Panel, *, folds: bool = False) -> list[dict[str, Any]]:
    """Return a text's entities; offsets count UTF-16 units. ``folds`` collapses the text from the panel's fold on."""
    entities: list[dict[str, Any]] = []
    offset, fold = 0, panel.fold if folds else None
    for number, span in enumerate(panel.text):
        length = utf16_length(span.text)
        if number == fold:
            whole = sum(utf16_length(folded_span.text) for folded_span in panel.text[number:])
            entities.append({"type": FOLDED, "offset": offset, "length": whole})
        # A quote can contain only bold and italic text: core.telegram.org/bots/api#formatting-options
        if fold is None or number < fold or span.style in ("bold", "italic"):
            entity = _entity(span, offset, length - span.text.endswith("\n"))
            if entity:
                entities.append(entity)
        offset += length
    return entities


def _entity(span: Span, offset: int, length: int) -> dict[str, Any] | None:
    fields = entity_fields(span) if length else None
    return fields and {**fields, "offset": offset, "length": length}


def entity_fields(span: Span) -> dict[str, Any] | None:
    """Return the fields of a span's entity without its position; None for plain text."""
    if span.style in ENTITIES:
        return {"type": ENTITIES[span.style]}
    number = span.person.partition(":")[2]
    if span.style in MENTIONS and span.person.startswith("telegram:") and number.isdecimal():
        user = {"id": int(number), "first_name": span.text, "is_bot": False}
        return {"type": "text_mention", "user": user}
    if span.style == "quiet" and span.person.startswith("telegram:") and HANDLE.fullmatch(span.text):
        # A link looks like a mention but notifies no one. Without the link Telegram would mention the person.
        return {"type": "text_link", "url": f"https://t.me/{span.text[1:]}"}
    # Telegram recognises other @handles. People on other platforms cannot be mentioned here.
    return None
