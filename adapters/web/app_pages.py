"""The page that a chat platform's own app opens (`bot.mini_app`): it makes a session of who opened it, and leads to
their cards.

What the app says stands behind a #, as the key of a link (`entrance`): the page's script takes it out of the address
and sends it in a form.
"""

from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.cookie_check import cookie_check_url
from adapters.web.entrance import parse_code
from adapters.web.people import FRAMED, set_cookie
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.mini_app import InvalidLaunch, MiniApp
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

EXPIRED = _(
    "Your app's word is too old, or not for this bot: close this page, and press the button below your cards again."
)


class AppPages:
    """Answers for it."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [
            web.get("/app/{platform}", self.show),
            web.post("/app/{platform}", self.enter),
        ]

    async def show(self, request: web.Request) -> web.Response:
        """The page whose script says who opened it."""
        platform, _app = self._app(request)
        return self._site.page(request, "app.html", platform=platform, to=parse_code(request.query.get("t", "")))

    async def enter(self, request: web.Request) -> web.Response:
        """Make a session of whoever the app says that opened it, unless this is one already; lead to the table."""
        _platform, app = self._app(request)
        said = await self._site.read_form(request)
        try:
            person = app.verify_launch(said.get("data", ""))
        except InvalidLaunch:
            why = texts(language_of(browser_language(request))).gettext(EXPIRED)
            response = self._site.page(request, "said.html", why=why)
            response.set_status(HTTPStatus.FORBIDDEN)
            return response
        code = parse_code(said.get("t", ""))
        address = f"/t/{code}" if code else "/"
        response = web.Response(status=303, headers={"Location": address})
        people = self._site.people
        await self._card_room.lobby.meet(person)
        # Who opens the app may have opened the chat as well, and a hand may wait for that.
        await self._card_room.send_missed_hands(person)
        if person.id not in await people.session_people(request):
            # Whoever was here before in this browser is so no more.
            await people.sign_out(request)
            value = await people.sessions.start(person.id)
            response.headers["Location"] = cookie_check_url(address)
            set_cookie(response, FRAMED, value, secure=self._site.is_secure)
        return response

    def _app(self, request: web.Request) -> tuple[str, MiniApp]:
        platform = request.match_info["platform"]
        if app := self._card_room.mini_apps.get(platform):
            return platform, app
        raise web.HTTPNotFound()
