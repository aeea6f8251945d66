"""Panels in Telegram's form: text with entities, so that nothing needs escaping, and an inline keyboard.

They are JSON as the Bot API documents it, not the library's objects: those would cost more than all the rest of a call.
"""

import re
from collections.abc import Collection
from typing import Any

from bot import actions
from bot.actions import join_start_word
from bot.panel import Button, Panel, Span, split_row, utf16_length

STYLES = {"good": "success", "danger": "danger", "": ""}
MENTIONS = ("mention", "call")
HANDLE = re.compile(r"@[A-Za-z0-9_]+")
ANY_CHAT = {"allow_user_chats": True, "allow_group_chats": True, "allow_channel_chats": True}
"""core.telegram.org/bots/api#switchinlinequerychosenchat"""

FOLDED = "expandable_blockquote"
ENTITIES = {"bold": "bold", "italic": "italic", "code": "code", "small": FOLDED}
ROW_BY_LENGTH = ((14, 2), (8, 3), (4, 5), (0, 8))
"""How many buttons stand in a row whose longest label has more than so many characters."""


def text_fields(panel: Panel, markup: dict[str, Any] | None) -> dict[str, Any]:
    """All of a text message that people see."""
    return {
        "text": panel.plain,
        "entities": entities_of(panel) or None,
        "link_preview_options": {"is_disabled": True},
        "reply_markup": markup,
    }


def markup_of(panel: Panel, username: str, *, without: Collection[str] = (), app: str = "") -> dict[str, Any] | None:
    """A panel's buttons, ``without`` those of some kinds; None without any. ``username`` is the bot's.

    ``app`` is where its Mini App is; empty where no button may open that, which is anywhere but in a private chat.
    """
    rows = _rows(panel, username, without, app)
    return {"inline_keyboard": rows} if rows else None


def entities_of(panel: Panel, *, folds: bool = False) -> list[dict[str, Any]]:
    """A text's entities; offsets count UTF-16 units. What may fold up beside a picture does so with ``folds``."""
    entities: list[dict[str, Any]] = []
    offset, fold = 0, panel.fold if folds else None
    for number, span in enumerate(panel.text):
        length = utf16_length(span.text)
        if number == fold:
            whole = sum(utf16_length(rest.text) for rest in panel.text[number:])
            entities.append({"type": FOLDED, "offset": offset, "length": whole})
        # A quote may hold bold and italic text, and no other entity: core.telegram.org/bots/api#formatting-options
        if fold is None or number < fold or span.style in ("bold", "italic"):
            entity = _entity(span, offset, length - span.text.endswith("\n"))
            if entity:
                entities.append(entity)
        offset += length
    return entities


def _entity(span: Span, offset: int, length: int) -> dict[str, Any] | None:
    if span.style in ENTITIES and length:
        return {"type": ENTITIES[span.style], "offset": offset, "length": length}
    number = span.person.partition(":")[2]
    if span.style in MENTIONS and span.person.startswith("telegram:") and number.isdecimal():
        user = {"id": int(number), "first_name": span.text, "is_bot": False}
        return {"type": "text_mention", "offset": offset, "length": length, "user": user}
    if span.style == "quiet" and span.person.startswith("telegram:") and HANDLE.fullmatch(span.text):
        # It looks like a mention, and rings with nobody; left alone it would be found by Telegram, and ring.
        return {"type": "text_link", "offset": offset, "length": length, "url": f"https://t.me/{span.text[1:]}"}
    # Another @handle is found by Telegram itself, and people of other platforms cannot be called here.
    return None


def _rows(panel: Panel, username: str, without: Collection[str], app: str) -> list[list[dict[str, Any]]]:
    """A panel's buttons; rows that are too long for a phone are broken."""
    wanted = [tuple([button for button in row if button.kind not in without]) for row in panel.rows]
    return [
        [_button(button, username, app) for button in part]
        for row in wanted
        if row
        for part in split_row(row, ROW_BY_LENGTH)
    ]


def _button(button: Button, username: str, app: str) -> dict[str, Any]:
    drawn: dict[str, Any] = {"text": button.label}
    if button.kind == "private":
        drawn["url"] = f"https://t.me/{username}?start={button.payload}"
    elif button.kind == "link":
        drawn["url"] = button.payload
    elif button.kind == "join":
        drawn["url"] = f"https://t.me/{username}?start={join_start_word(button.payload)}"
    elif button.kind == "group":
        drawn["url"] = f"https://t.me/{username}?startgroup={join_start_word(button.payload)}"
    elif button.kind == "browser" and app:
        # core.telegram.org/bots/api#inlinekeyboardbutton
        table = actions.parse_payload(button.payload)
        assert isinstance(table, actions.TableAction)
        drawn["web_app"] = {"url": f"{app}?t={table.code}"}
    elif button.kind == "share":
        drawn["switch_inline_query_chosen_chat"] = {"query": button.payload, **ANY_CHAT}
    else:
        drawn["callback_data"] = button.payload
    if style := STYLES[button.style]:
        drawn["style"] = style
    return drawn
