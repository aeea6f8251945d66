"""The page that a chat platform's own app opens (`bot.site.mini_app`).

The app puts its signed data behind a #, like a link's key (`sign_in`). The page's script removes it from the address
and posts it in a form. The form signs the person in and redirects to their cards.
"""

from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.people import FRAMED
from adapters.web.sign_in import parse_code
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.site.mini_app import InvalidLaunch, MiniApp
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

EXPIRED = _(
    "Your app's word is too old, or not for this bot: close this page, and press the button below your cards again."
)


class AppPages:
    """The handlers of ``/app/{platform}``."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [
            web.get("/app/{platform}", self.show),
            web.post("/app/{platform}", self.enter),
        ]

    async def show(self, request: web.Request) -> web.Response:
        self._app(request)
        to = parse_code(request.query.get("t", ""))
        return self._site.page(request, "app.html", platform=request.match_info["platform"], to=to)

    async def enter(self, request: web.Request) -> web.Response:
        """Sign in the person whom the app's data names, and redirect to the table."""
        app = self._app(request)
        form = await self._site.read_form(request)
        try:
            person = app.verify_launch(form.get("data", ""))
        except InvalidLaunch:
            why = texts(language_of(browser_language(request))).gettext(EXPIRED)
            return self._site.message_page(request, why, HTTPStatus.FORBIDDEN)
        code = parse_code(form.get("t", ""))
        address = f"/t/{code}" if code else "/"
        people = self._site.people
        await self._card_room.lobby.meet(person)
        # The person may have opened the chat too, so a hand that waits for that can be sent.
        await self._card_room.send_missed_hands(person)
        if person.id in await people.session_people(request):
            return self._site.redirect(address)
        # The browser's earlier session ends.
        await people.sign_out(request)
        return self._site.redirect(address, FRAMED, await people.sessions.start(person.id))

    def _app(self, request: web.Request) -> MiniApp:
        if app := self._card_room.mini_apps.get(request.match_info["platform"]):
            return app
        raise web.HTTPNotFound()
