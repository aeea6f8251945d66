"""Sign-in by a link from a chat (`bot.site.sessions`), and sign-out.

The link's key is behind a #, which browsers do not send: no log, proxy or link preview sees it. The page's script
moves the key from the address into a form. Only posting that form signs in; opening the page changes nothing.
"""

import re
from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.api.operations import CODE
from adapters.web.people import SESSION, SESSIONS, set_cookie
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

EXPIRED = _("This link is good no more: have a new one sent to you, by the button below your cards.")


class Entrance:
    """The handlers of ``/in`` and ``/out``."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [
            web.get("/in", self.show),
            web.post("/in", self.enter),
            web.post("/out", self.leave),
        ]

    async def show(self, request: web.Request) -> web.Response:
        """Ask whether to open the cards in this browser."""
        return self._site.page(request, "enter.html", to=parse_code(request.query.get("t", "")))

    async def enter(self, request: web.Request) -> web.Response:
        """Sign in with a link's key and redirect to the table."""
        form = await self._site.read_form(request)
        sessions = self._site.people.sessions
        person = await sessions.redeem_link(form.get("key", ""))
        # The person may have used /forget since the link was made.
        if not person or not (await self._card_room.lobby.profile(person)).is_known:
            why = texts(language_of(browser_language(request))).gettext(EXPIRED)
            return self._site.message_page(request, why, HTTPStatus.GONE)
        # The browser's earlier session ends.
        await self._site.people.sign_out(request)
        code = parse_code(form.get("t", ""))
        return self._site.redirect(f"/t/{code}" if code else "/", SESSION, await sessions.start(person))

    async def leave(self, request: web.Request) -> web.Response:
        """Sign this browser out."""
        await self._site.read_form(request)
        await self._site.people.sign_out(request)
        response = self._site.redirect("/")
        for cookie in SESSIONS:
            set_cookie(response, cookie, "", secure=self._site.is_secure)
        return response


def parse_code(text: str) -> str:
    """Return the text if it is a table's code, else ""."""
    return text if re.fullmatch(CODE, text) else ""
