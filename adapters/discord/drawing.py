"""Panels in Discord's form: layout components with text as Markdown. Names are escaped.

A group's panel is in a container, which sets it off from other messages. A private panel uses the whole width. The
components are JSON as the API documents it. The library's views would take longer than the rest of a call.
"""

import re
from collections.abc import Callable
from typing import Any

from adapters.discord.limits import LONGEST_DESCRIPTION, LONGEST_LABEL, LONGEST_TEXT, MAX_COMPONENTS, MAX_IN_ROW
from bot import actions
from bot.panel import Button, Panel, Span, split_row, utf16_length
from bot.panel_picture import Picture
from bot.platform import is_private

LAYOUT, EPHEMERAL = 1 << 15, 1 << 6  # message flags: layout components; visible to one person only
ACTION_ROW, BUTTON, TEXT, GALLERY, FILE, CONTAINER = 1, 2, 10, 12, 13, 17
STYLES = {"good": 3, "danger": 4, "": 2}
LINK = 5
MENTIONS = ("mention", "call", "quiet")
MARKS = {"bold": "**", "italic": "_", "code": "`"}
SMALL = "-# "  # starts each line of small print
APOSTROPHE = "'"
COLOUR = 0x1F7A4D

MAX_WITH_PICTURE = 30  # buttons next to a picture: with rows, picture, text and container they make 39 of 40 components

# Kinds of buttons that open a chat by a link, which Discord does not have.
LINK_KINDS = ("private", "join", "share", "group")

ROW_BY_LENGTH = ((16, 2), (9, 3), (0, MAX_IN_ROW))  # (label length, maximum of buttons in a row with a longer label)

# Characters that Markdown can interpret, including mentions and links. A full stop after a number makes a list.
SPECIAL = re.compile(r"[\\*_~`|<\[\]@]|:(?=//)|^[-+#>]|(?<=\d)\.(?=\s)", re.MULTILINE)
# Faster checks: a text without a match of either, and without a link, needs no escapes.
MAYBE_SPECIAL = re.compile(r"[\\*_~`|<\[\]@\-+#>]")
NUMBERED = re.compile(r"\d\.")

NO_MENTIONS: dict[str, list[str]] = {"parse": []}

Body = dict[str, Any]  # JSON of a request


def message_body(panel: Panel, place: str, attached: dict[str, str] | None = None) -> Body:
    """Return a message's body. It notifies no one. A caller can add `allowed_mentions`.

    ``attached`` is the attachment of the panel's picture: an ``id`` the message already has, or a new one with
    ``filename``. Without it the picture is left out. All other attachments of the message are removed.
    """
    rows = _rows(panel, 3 if attached else 2, in_private=is_private(place))
    room = LONGEST_TEXT - sum([len(button["label"]) for row in rows for button in row["components"]])
    gallery, attachments = [], []
    if panel.picture and attached:
        description = panel.picture.alt[:LONGEST_DESCRIPTION]
        media = {"url": f"attachment://{picture_name(panel.picture)}"}
        gallery = [{"type": GALLERY, "items": [{"media": media, "description": description}]}]
        attachments = [attached]
        # The documentation does not say whether descriptions count towards the limit.
        room -= len(description)
    text = _cut_markdown(panel.beside_picture if gallery else panel, room, folds=bool(gallery))
    components: list[dict[str, Any]] = [*gallery, {"type": TEXT, "content": text}, *rows]
    if not is_private(place):
        components = [{"type": CONTAINER, "accent_color": COLOUR, "components": components}]
    return {"flags": LAYOUT, "components": components, "allowed_mentions": NO_MENTIONS, "attachments": attachments}


def has_room_for_picture(panel: Panel) -> bool:
    return sum(map(len, panel.rows)) <= MAX_WITH_PICTURE


def picture_name(picture: Picture) -> str:
    return f"{picture.subject.digest}.png"


def add_file(body: Body, name: str) -> Body:
    """Return the body with a file component for the first attached file, called ``name``."""
    shown = {"type": FILE, "file": {"url": f"attachment://{name}"}}
    attached = [{"id": "0", "filename": name}]
    return {**body, "components": [*body["components"], shown], "attachments": attached}


def allowed_mentions(panel: Panel) -> dict[str, Any]:
    """Return the people that a new message notifies: only those in "call" spans."""
    people = {number for span in panel.text if span.style == "call" and (number := _user_id(span))}
    return {"parse": [], "users": sorted(people)} if people else NO_MENTIONS


def toast_body(text: str) -> Body:
    components = [{"type": TEXT, "content": escape(text)[:LONGEST_TEXT]}]
    return {"flags": LAYOUT | EPHEMERAL, "components": components, "allowed_mentions": NO_MENTIONS}


def escape(text: str) -> str:
    """Escape Markdown, so that the text appears as written."""
    return SPECIAL.sub(r"\\\g<0>", text) if _may_be_special(text) else text


def _may_be_special(text: str) -> bool:
    """Return whether Markdown could interpret any part of the text."""
    return bool(MAYBE_SPECIAL.search(text) or "://" in text or ("." in text and NUMBERED.search(text)))


def _cut_markdown(panel: Panel, longest: int, *, folds: bool) -> str:
    """Return the text as Markdown, cut to ``longest`` with its escapes."""
    text = markdown(panel, folds=folds)
    if 2 * len(text) >= longest:
        room = utf16_length(panel.plain)
        while utf16_length(text) > longest:
            room = min(room - 1, room * longest // utf16_length(text))
            text = markdown(panel.cut(room), folds=folds)
    # Discord refuses an empty text, so it gets a zero-width space.
    return text if text.strip() else "\u200b"


def markdown(panel: Panel, *, folds: bool = False) -> str:
    """Return the text with Markdown styles.

    Adjacent spans of the same style are joined, because their marks would cancel each other out. With ``folds`` the
    part after the panel's fold becomes small print, because Discord cannot fold text.
    """
    if folds and panel.fold is not None:
        shown = "".join(span.text for span in panel.text[panel.fold :])
        return markdown(Panel(panel.text[: panel.fold])) + _apply_style(shown, "small", escape)
    # Few panels need escapes, and one check of the whole text is faster than one per span.
    escape_text = escape if _may_be_special(panel.plain) else str
    parts: list[str] = []
    run, style = "", ""  # adjacent texts of one style
    for span in panel.text:
        if span.style != style:
            if run:
                parts.append(_apply_style(run, style, escape_text))
            run, style = "", span.style
        if style in MENTIONS and (number := _user_id(span)):
            parts.append(f"<@{number}>")
        else:
            run += span.text
    parts.append(_apply_style(run, style, escape_text))
    return "".join(parts)


def _apply_style(text: str, style: str, escape: Callable[[str], str]) -> str:
    if style == "small":
        return "".join(f"{SMALL}{escape(line)}" if line.strip() else line for line in text.splitlines(keepends=True))
    mark, inside = MARKS.get(style), text.strip()
    if mark is None or not inside:
        return escape(text)
    before, _, after = text.partition(inside)
    return f"{before}{mark}{inside.replace('`', APOSTROPHE) if style == 'code' else escape(inside)}{mark}{after}"


def _user_id(span: Span) -> str:
    """Return a Discord person's number, or "" for people on other platforms, who cannot be notified."""
    platform, _, number = span.person.partition(":")
    return number if platform == "discord" and number.isdecimal() else ""


def _rows(panel: Panel, other_components: int, *, in_private: bool) -> list[dict[str, Any]]:
    """Return the buttons, in rows that leave room for the message's other components."""
    shown = [map(_with_press, row) if in_private else row for row in panel.rows]
    wanted = [tuple([button for button in row if button.kind not in LINK_KINDS]) for row in shown]
    rows = [part for row in wanted if row for part in split_row(row, ROW_BY_LENGTH)]
    if len(rows) + sum(map(len, rows)) + other_components > MAX_COMPONENTS:
        buttons = [button for row in wanted for button in row]
        rows = [tuple(buttons[start : start + MAX_IN_ROW]) for start in range(0, len(buttons), MAX_IN_ROW)]
    used: dict[str, int] = {}
    return [{"type": ACTION_ROW, "components": [_button(button, used) for button in row]} for row in rows]


def _with_press(button: Button) -> Button:
    """Replace a button that shares a game with one that sends a message to forward."""
    if button.kind == "share" and button.payload:
        return button._replace(kind="press", payload=actions.page("share", button.payload))
    return button


def _button(button: Button, used: dict[str, int]) -> dict[str, Any]:
    """Return a button. Discord requires unique custom ids within a message: ``used`` counts each payload."""
    fields = {"type": BUTTON, "label": button.label[:LONGEST_LABEL]}
    if button.kind == "link":
        return {**fields, "style": LINK, "url": button.payload}
    count = used[button.payload] = used.get(button.payload, 0) + 1
    custom_id = button.payload if count == 1 else f"{button.payload}~{count}"
    return {**fields, "style": STYLES[button.style], "custom_id": custom_id}
