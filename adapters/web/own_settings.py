"""How somebody has their cards on our pages, at ``/settings``; with ``?t=`` one comes back to that table."""

from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.entrance import parse_code
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.features.settings.feature import SettingsFeature
from bot.features.settings.site import SettingsSite


class OwnSettings:
    """Answers for them. Who is nobody yet has none, and is led to the first page."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [web.get("/settings", self.show), web.post("/settings", self.choose)]

    @property
    def _settings_site(self) -> SettingsSite:
        return self._card_room.feature(SettingsFeature).site

    async def show(self, request: web.Request) -> web.Response:
        reader = await self._site.people.identify(request)
        if reader is None:
            return _redirect("/")
        language = await self._card_room.lobby.language_of(reader.person, browser_language(request))
        settings = await self._settings_site.settings_of(reader.person, language)
        to = parse_code(request.query.get("t", ""))
        return self._site.page(request, "settings.html", language, settings=settings, to=to)

    async def choose(self, request: web.Request) -> web.Response:
        said = await self._site.read_form(request)
        table = parse_code(said.get("t", ""))
        chosen = {name: value for name, value in said.items() if name != "t"}
        reader = await self._site.people.identify(request)
        if reader is not None and not await self._settings_site.choose(
            reader.as_person(browser_language(request)), chosen
        ):
            raise Refused("there is no such setting")
        return _redirect(f"/t/{table}" if table else "/")


def _redirect(address: str) -> web.Response:
    return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": address})
