"""Panels in Telegram's form: text with entities, so that nothing needs escaping, and an inline keyboard."""

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, MessageEntity, User

from bot.panel import Button, Panel, Row, Span, units

STYLES = {"good": "success", "danger": "danger", "": None}
KINDS = {"bold": MessageEntity.BOLD, "italic": MessageEntity.ITALIC, "code": MessageEntity.CODE}
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
ROW_BY_LENGTH = ((14, 2), (8, 3), (4, 5), (0, 8))
"""How many buttons stand in a row whose longest label has more than so many characters."""


def text_of(panel: Panel) -> tuple[str, list[MessageEntity]]:
    """A panel's text, and its entities; offsets count UTF-16 units."""
    entities, offset = [], 0
    for span in panel.text:
        length = units(span.text)
        entity = _entity(span, offset, length)
        if entity:
            entities.append(entity)
        offset += length
    return panel.plain, entities


def _entity(span: Span, offset: int, length: int) -> MessageEntity | None:
    if span.style in KINDS and length:
        return MessageEntity(KINDS[span.style], offset, length)
    number = span.person.partition(":")[2]
    if span.style == "mention" and span.person.startswith("telegram:") and number.isdecimal():
        return MessageEntity(MessageEntity.TEXT_MENTION, offset, length, user=User(int(number), span.text, False))
    # An @handle is found by Telegram itself, and people of other platforms cannot be called here.
    return None


def keyboard(panel: Panel, username: str, *, asides: bool = True) -> InlineKeyboardMarkup | None:
    """A panel's buttons; rows that are too long for a phone are broken. Without ``asides`` theirs are left out."""
    wanted = (tuple(button for button in row if asides or button.kind != "aside") for row in panel.rows)
    rows = [part for row in wanted if row for part in _broken(row)]
    return InlineKeyboardMarkup([[_button(button, username) for button in row] for row in rows]) if rows else None


def _button(button: Button, username: str) -> InlineKeyboardButton:
    if button.kind == "private":
        return InlineKeyboardButton(
            button.label, url=f"https://t.me/{username}?start={button.payload}", style=STYLES[button.style]
        )
    return InlineKeyboardButton(button.label, callback_data=button.payload, style=STYLES[button.style])


def _broken(row: Row) -> list[Row]:
    longest = max(len(button.label) for button in row)
    most = next(count for length, count in ROW_BY_LENGTH if longest > length)
    parts = -(-len(row) // most)
    each = -(-len(row) // parts)
    return [row[at : at + each] for at in range(0, len(row), each)]
