"""Telegram's Mini App: our pages inside Telegram, from a button, the chat's menu or a link.

Source: core.telegram.org/bots/webapps
"""

from collections.abc import Mapping
from typing import Any

import structlog
from cachetools import TTLCache

from adapters.telegram.app_links import app_link, page_of
from adapters.telegram.errors import delivery_errors
from adapters.telegram.mini_app_signature import verify_launch
from adapters.telegram.reading import PLATFORM
from adapters.telegram.transport import Post, json_body
from adapters.telegram.unlinked_text import unlink
from bot.card_room import CardRoom
from bot.platform import DeliveryError, Person, private_place
from bot.site.mini_app import Launch
from bot.store import STORE_ERRORS
from bot.texts import gettext_noop as _
from bot.texts import texts

FRAME_ORIGIN = "https://web.telegram.org"  # shows the page in a frame
MENU = _("Play")
OPEN = _("Open")
SHOWN_SECONDS = 24 * 3600.0  # time after which a chat's menu button is set again
LONGEST_TITLE = 60  # characters; the title is only in the app's preview

log = structlog.get_logger()


class TelegramApp:
    """The bot's Mini App.

    ``address`` is the launch page, empty if our pages have no https, which Telegram requires.
    """

    frame_origins: tuple[str, ...] = (FRAME_ORIGIN,)
    page_origin = ""

    def __init__(self, token: str, post: Post, pages_url: str) -> None:
        self._token, self._post, self.pages_url = token, post, pages_url
        self.address = f"{pages_url}/app/{PLATFORM}" if pages_url.startswith("https://") else ""
        self.username = ""  # the bot's username, set after connecting
        self.is_main = False  # the host turned on the main Mini App at @BotFather

    def page_data(self, query: Mapping[str, str]) -> dict[str, str]:
        return {}

    async def verify_launch(self, launch_data: str) -> Launch:
        person, start = verify_launch(self._token, launch_data)
        return Launch(person, page=page_of(start) if start else "")

    def link(self, address: str) -> str:
        """Return the link that opens one of our pages in the main Mini App; without that, the address itself."""
        if not (self.is_main and self.address and address.startswith(f"{self.pages_url}/")):
            return address
        return app_link(self.username, address.removeprefix(self.pages_url)) or address

    async def set_menu_button(self, language: str, chat: int | None = None) -> None:
        """Let the menu button of a chat, or of all others, open the app. Without an address, restore the default."""
        button: dict[str, Any] = {"type": "default"}
        if self.address:
            text = texts(language).gettext(MENU)
            button = {"type": "web_app", "text": text, "web_app": {"url": self.address}}
        await self._post("setChatMenuButton", json_body({"chat_id": chat, "menu_button": button}))

    async def prepare_message(self, person: Person, text: str, page: str) -> str:
        """Prepare a message for the person to send (core.telegram.org/bots/api#savepreparedinlinemessage)."""
        address = f"{self.pages_url}{page}"
        button = {"text": texts(person.language).gettext(OPEN), "url": self.link(address)}
        result = {
            "type": "article",
            "id": "result",
            "title": text.partition("\n")[0][:LONGEST_TITLE],
            "input_message_content": {
                "message_text": unlink(text, self.pages_url),
                # The preview shows the page's picture.
                "link_preview_options": {"url": address, "prefer_large_media": True},
            },
            "reply_markup": {"inline_keyboard": [[button]]},
        }
        chats = {f"allow_{kind}_chats": True for kind in ("user", "group", "channel")}
        user = int(person.id.partition(":")[2])
        with delivery_errors(private_place(person.id)):
            prepared = await self._post(
                "savePreparedInlineMessage", json_body({"user_id": user, "result": result, **chats})
            )
            return str(prepared["id"])


class MenuButtons:
    """Menu buttons of private chats, each in its person's language. Telegram's default button has one language."""

    def __init__(self, app: TelegramApp, card_room: CardRoom) -> None:
        self._app, self._card_room = app, card_room
        self._shown_language: TTLCache[str, str] = TTLCache(10_000, SHOWN_SECONDS)  # by person

    async def show(self, person: Person) -> None:
        """Set the button of a person who writes to the bot, once a day.

        Without an app, restore the default: an earlier address would stay in the chat, and could belong to others now.
        """
        try:
            language = await self._card_room.lobby.language_of(person.id, person.language)
            if self._shown_language.get(person.id) == language:
                return
            with delivery_errors(private_place(person.id)):
                await self._app.set_menu_button(language, int(person.id.partition(":")[2]))
            self._shown_language[person.id] = language
        except DeliveryError as error:
            log.info("telegram_menu_button_not_set", why=type(error).__name__)
        except STORE_ERRORS as error:
            self._card_room.report_store_error(error)
