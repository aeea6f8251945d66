"""Where a link from a chat leads: it makes a browser its person's own (`bot.sessions`).

What the link holds stands behind a #, so browsers send it to nobody: no log, no proxy and no link's preview has it. The
page's script takes it out of the address and into a form, and the form makes the session: to look at the page changes
nothing.
"""

import re
from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.api.operations import CODE
from adapters.web.cookie_check import cookie_check_url
from adapters.web.people import SESSION, SESSIONS, set_cookie
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

EXPIRED = _("This link is good no more: have a new one sent to you, by the button below your cards.")


class Entrance:
    """Answers for it."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [
            web.get("/in", self.show),
            web.post("/in", self.enter),
            web.post("/out", self.leave),
        ]

    async def show(self, request: web.Request) -> web.Response:
        """The page that asks whether the cards shall be opened here."""
        return self._site.page(request, "enter.html", to=parse_code(request.query.get("t", "")))

    async def enter(self, request: web.Request) -> web.Response:
        """Make a session of what a link holds, and lead to the table."""
        said = await self._site.read_form(request)
        sessions = self._site.people.sessions
        person = await sessions.redeem_link(said.get("key", ""))
        # Whoever was forgotten since has no use for it any more.
        if not person or not (await self._card_room.lobby.profile(person)).is_known:
            why = texts(language_of(browser_language(request))).gettext(EXPIRED)
            response = self._site.page(request, "said.html", why=why)
            response.set_status(HTTPStatus.GONE)
            return response
        # Whoever was here before in this browser is so no more.
        await self._site.people.sign_out(request)
        code = parse_code(said.get("t", ""))
        response = web.Response(status=303, headers={"Location": cookie_check_url(f"/t/{code}" if code else "/")})
        set_cookie(response, SESSION, await sessions.start(person), secure=self._site.is_secure)
        return response

    async def leave(self, request: web.Request) -> web.Response:
        """End the session of this browser."""
        await self._site.read_form(request)
        await self._site.people.sign_out(request)
        response = web.Response(status=303, headers={"Location": "/"})
        for cookie in SESSIONS:
            set_cookie(response, cookie, "", secure=self._site.is_secure)
        return response


def parse_code(text: str) -> str:
    """A table's code; empty for what is none."""
    return text if re.fullmatch(CODE, text) else ""
