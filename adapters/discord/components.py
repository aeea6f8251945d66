"""Panels as Discord's messages: layout components.

A group's panel is in a container, which sets it off from other messages. A private panel uses the whole width. The
components are JSON as the API documents it. Building the library's views would take most of a call's time.
"""

from typing import Any

from adapters.discord.limits import LONGEST_DESCRIPTION, LONGEST_LABEL, LONGEST_TEXT, MAX_COMPONENTS, MAX_IN_ROW
from adapters.discord.markdown import cut_markdown, escape, user_id
from bot import actions
from bot.panel import Button, Panel, split_row
from bot.panel_picture import Picture
from bot.platform import is_private

LAYOUT, EPHEMERAL = 1 << 15, 1 << 6  # message flags: layout components; visible to one person only
ACTION_ROW, BUTTON, TEXT, GALLERY, FILE, CONTAINER = 1, 2, 10, 12, 13, 17
STYLES = {"good": 3, "danger": 4, "": 2}
LINK = 5
COLOUR = 0x1F7A4D
MAX_WITH_PICTURE = 30  # buttons next to a picture: with rows, picture, text and container they make 39 of 40 components
# Kinds of buttons that open a chat by a link. Discord has no such links.
LINK_KINDS = ("private", "join", "start", "share", "group")

# Pairs of a label's length, and the maximum number of buttons in a row with a longer label.
ROW_BY_LENGTH = ((16, 2), (9, 3), (0, MAX_IN_ROW))
NO_MENTIONS: dict[str, list[str]] = {"parse": []}

Body = dict[str, Any]  # JSON of a request


def message_body(panel: Panel, place: str, attached: dict[str, str] | None = None) -> Body:
    """Return a message's body. The message notifies no one, unless the caller adds `allowed_mentions`.

    ``attached`` is the attachment of the panel's picture: an ``id`` that the message already has, or a new one
    with ``filename``. Without it the picture is left out. All other attachments of the message are removed.
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
    text = cut_markdown(panel.beside_picture if gallery else panel, room, folds=bool(gallery))
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
    file_component = {"type": FILE, "file": {"url": f"attachment://{name}"}}
    attached = [{"id": "0", "filename": name}]
    return {**body, "components": [*body["components"], file_component], "attachments": attached}


def allowed_mentions(panel: Panel) -> dict[str, Any]:
    """Return the people that a new message notifies: only those in "call" spans."""
    people = {number for span in panel.text if span.style == "call" and (number := user_id(span))}
    return {"parse": [], "users": sorted(people)} if people else NO_MENTIONS


def toast_body(text: str) -> Body:
    components = [{"type": TEXT, "content": escape(text)[:LONGEST_TEXT]}]
    return {"flags": LAYOUT | EPHEMERAL, "components": components, "allowed_mentions": NO_MENTIONS}


def _rows(panel: Panel, other_components: int, *, in_private: bool) -> list[dict[str, Any]]:
    """Return the buttons, in rows that leave room for the message's other components."""
    panel_rows = [map(_with_press, row) if in_private else row for row in panel.rows]
    rows_without_links = [tuple([button for button in row if button.kind not in LINK_KINDS]) for row in panel_rows]
    rows = [part for row in rows_without_links if row for part in split_row(row, ROW_BY_LENGTH)]
    if len(rows) + sum(map(len, rows)) + other_components > MAX_COMPONENTS:
        buttons = [button for row in rows_without_links for button in row]
        rows = [tuple(buttons[start : start + MAX_IN_ROW]) for start in range(0, len(buttons), MAX_IN_ROW)]
    used: dict[str, int] = {}
    return [{"type": ACTION_ROW, "components": [_button(button, used) for button in row]} for row in rows]


def _with_press(button: Button) -> Button:
    """Turn a button that shares a game into one that sends a message to forward. Return any other unchanged."""
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
