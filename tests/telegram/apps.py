"""The fake Telegram's Mini App: menu buttons, and messages that a page prepares.

Sources: core.telegram.org/bots/api#setchatmenubutton, core.telegram.org/method/bots.setBotMenuButton and
core.telegram.org/bots/api#savepreparedinlinemessage.
"""

import time
from dataclasses import dataclass, field
from typing import Any

from tests.telegram.content import Refused

PREPARED_SECONDS = 600
KINDS = ("user", "bot", "group", "channel")


def check_menu_button(button: dict[str, Any]) -> None:
    if button["type"] != "web_app":
        return
    if not button["text"]:
        raise Refused(400, "Bad Request: BUTTON_TEXT_INVALID")
    if not button["web_app"]["url"].startswith("https://"):
        raise Refused(400, "Bad Request: menu button Web App URL is invalid: Only HTTPS links are allowed")


@dataclass
class Prepared:
    """A message that its user can send. ``chats`` are kinds of chats."""

    user: int
    message: dict[str, Any]
    chats: set[str]
    expires: int


@dataclass
class Apps:
    """``has_main``: the host has turned on the main Mini App at @BotFather. ``menu_buttons`` by user, or None."""

    has_main: bool = False
    menu_buttons: dict[int | None, dict[str, Any]] = field(default_factory=dict)
    prepared: dict[str, Prepared] = field(default_factory=dict)

    def menu_button(self, user: int) -> dict[str, Any]:
        """Return the button that a user sees: their chat's, otherwise the bot's."""
        own, general = (self.menu_buttons.get(chat, {"type": "default"}) for chat in (user, None))
        return general if own["type"] == "default" else own

    def prepare(self, fields: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
        chats = {kind for kind in KINDS if fields.get(f"allow_{kind}_chats")}
        expires = int(time.time()) + PREPARED_SECONDS
        id_ = f"prepared{len(self.prepared)}"
        self.prepared[id_] = Prepared(fields["user_id"], message, chats, expires)
        return {"id": id_, "expiration_date": expires}
