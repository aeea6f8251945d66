"""Panels' buttons as Telegram's inline keyboards.

They are JSON as the Bot API documents it. Building the library's objects would take most of a call's time.
"""

from collections.abc import Callable, Collection
from typing import Any
from urllib.parse import urlsplit

from bot import actions
from bot.panel import Button, Panel, split_row
from bot.parsing.codes_and_links import join_start_word

STYLES = {"good": "success", "danger": "danger", "": ""}
# core.telegram.org/bots/api#switchinlinequerychosenchat
ANY_CHAT = {"allow_user_chats": True, "allow_group_chats": True, "allow_channel_chats": True}
ROW_BY_LENGTH = (
    (14, 2),
    (8, 3),
    (4, 5),
    (0, 8),
)  # (label length, maximum number of buttons in a row with a longer label)


def url_for_buttons(url: str) -> str:
    """Return the URL if Telegram accepts it in buttons, otherwise an empty string.

    Telegram refuses a whole message for one bad URL. The host must contain a dot or be an IPv6 address (tdlib/td,
    ``LinkManager::check_link_impl``).
    """
    host = urlsplit(url).hostname or ""
    return url if "." in host or ":" in host else ""


def start_url(username: str, word: str) -> str:
    """Return the address that opens the private chat with the bot ``username`` and sends it ``/start word``."""
    return f"https://t.me/{username}?start={word}"


def markup_of(
    panel: Panel,
    username: str,
    *,
    hidden_kinds: Collection[str] = (),
    app: str = "",
    link: Callable[[str], str] = str,
) -> dict[str, Any] | None:
    """Return a panel's keyboard, or None if it is empty.

    ``username`` is the bot's name. Buttons of the kinds in ``hidden_kinds`` are left out. ``app`` is the address of
    the Mini App. It is empty outside private chats because buttons cannot open it there. ``link`` turns
    a page's address into the link that a button opens.
    """
    visible_rows = [tuple([button for button in row if button.kind not in hidden_kinds]) for row in panel.rows]
    # Rows too long for a phone are split.
    rows = [
        [_button(button, username, app, link) for button in part]
        for row in visible_rows
        if row
        for part in split_row(row, ROW_BY_LENGTH)
    ]
    return {"inline_keyboard": rows} if rows else None


def _button(button: Button, username: str, app: str, link: Callable[[str], str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"text": button.label}
    if button.kind in ("private", "start"):
        fields["url"] = start_url(username, button.payload)
    elif button.kind == "link":
        fields["url"] = link(button.payload)
    elif button.kind == "join":
        fields["url"] = start_url(username, join_start_word(button.payload))
    elif button.kind == "group":
        fields["url"] = f"https://t.me/{username}?startgroup={join_start_word(button.payload)}"
    elif button.kind == "browser" and app:
        # core.telegram.org/bots/api#inlinekeyboardbutton
        action = actions.parse_payload(button.payload)
        assert isinstance(action, actions.TableAction)
        fields["web_app"] = {"url": f"{app}?t={action.code}"}
    elif button.kind == "share":
        fields["switch_inline_query_chosen_chat"] = {"query": button.payload, **ANY_CHAT}
    else:
        fields["callback_data"] = button.payload
    if style := STYLES[button.style]:
        fields["style"] = style
    return fields
