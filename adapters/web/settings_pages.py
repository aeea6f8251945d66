"""A player's settings at ``/settings``; ``?t=CODE`` returns to that table. Strangers have no settings."""

from aiohttp import web

from adapters.web.codes import parse_code
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.features.settings.feature import SettingsFeature


async def show(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    if reader is None:
        return site.redirect("/")
    settings = await site.card_room.feature(SettingsFeature).site.settings_of(reader.person, language)
    return site.page(request, "settings.html", language, settings=settings, to=parse_code(request.query.get("t", "")))


async def choose(site: Site, request: web.Request) -> web.Response:
    form = await site.read_form(request)
    table = parse_code(form.pop("t", ""))
    reader = await site.people.identify(request)
    settings = site.card_room.feature(SettingsFeature).site
    if reader and not await settings.choose(reader.as_person(browser_language(request)), form):
        raise Refused("there is no such setting")
    return site.redirect(f"/t/{table}" if table else "/")
