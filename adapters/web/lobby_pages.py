"""The open tables on the first page. The page requests this part regularly while it is visible."""

from aiohttp import web

from adapters.web.codes import code_of
from adapters.web.refusals import Refused
from adapters.web.site import Site
from bot.features.open_tables.feature import OpenTablesFeature


async def show(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    person = reader.person if reader else ""
    if person:
        site.card_room.presence.note(person)
    tables = await site.card_room.feature(OpenTablesFeature).site.lines(person, language)
    text = site.templates.page("lobby.html", language, open_tables=tables)
    return web.Response(text=text, content_type="text/html", headers={"Cache-Control": "no-store"})


async def choose_openness(site: Site, request: web.Request) -> web.Response:
    """Open the reader's table to anyone, or close it again."""
    code, form = code_of(request), await site.read_form(request)
    reader, language = await site.reader(request)
    if reader is None or form.get("anyone") not in ("", "1"):
        raise Refused("there is no such request")
    tables = site.card_room.feature(OpenTablesFeature).site
    why = await tables.choose(code, reader.person, language, is_open=bool(form["anyone"]))
    return web.json_response({"why": why})
