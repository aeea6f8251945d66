"""A player's settings at ``/settings``; ``?t=CODE`` returns to that table."""

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.refusals import Refused
from adapters.web.sign_in import parse_code
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.features.settings.feature import SettingsFeature
from bot.features.settings.site import SettingsSite


class OwnSettings:
    """The handlers of ``/settings``. Strangers have no settings and are redirected to the first page."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [web.get("/settings", self.show), web.post("/settings", self.choose)]

    @property
    def _settings_site(self) -> SettingsSite:
        return self._card_room.feature(SettingsFeature).site

    async def show(self, request: web.Request) -> web.Response:
        reader = await self._site.people.identify(request)
        if reader is None:
            return self._site.redirect("/")
        language = await self._site.language(request, reader)
        settings = await self._settings_site.settings_of(reader.person, language)
        to = parse_code(request.query.get("t", ""))
        return self._site.page(request, "settings.html", language, settings=settings, to=to)

    async def choose(self, request: web.Request) -> web.Response:
        form = await self._site.read_form(request)
        table = parse_code(form.pop("t", ""))
        reader = await self._site.people.identify(request)
        if reader and not await self._settings_site.choose(reader.as_person(browser_language(request)), form):
            raise Refused("there is no such setting")
        return self._site.redirect(f"/t/{table}" if table else "/")
