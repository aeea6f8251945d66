"""The search for an opponent, at ``/find``."""

import secrets

from aiohttp import web

from adapters.web.people import COOKIE
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.features.find.feature import FindFeature
from bot.texts import texts


async def show(site: Site, request: web.Request) -> web.Response:
    """Show the reader's search. Without one, redirect to the first page."""
    reader, language = await site.reader(request)
    finder = site.card_room.feature(FindFeature).site
    search = await finder.search_of(reader.person, language) if reader else None
    if search is None or search.state == "none":
        return site.redirect("/")
    _ = texts(language).gettext
    return site.fresh_page(
        request,
        "find.html",
        language,
        search=search,
        looking=await looking_count_text(site, language),
        key=secrets.token_hex(8),
        data={"texts": {"away": _("The connection is gone. Trying again…"), "found": _("Game found")}},
    )


async def state(site: Site, request: web.Request) -> web.Response:
    """Return the state of the reader's search and how many people are looking. The open search page polls this."""
    reader, language = await site.reader(request)
    search = await site.card_room.feature(FindFeature).site.search_of(reader.person if reader else "", language)
    if reader:
        site.card_room.presence.note(reader.person)
    looking = await looking_count_text(site, language)
    answer = {"state": search.state, "text": search.text, "code": search.code, "looking": looking}
    return web.json_response(answer, headers={"Cache-Control": "no-store"})


async def start(site: Site, request: web.Request, form: dict[str, str]) -> web.Response:
    """Start a search from the first page's form."""
    game, key = form.get("game", ""), form.get("key", "")
    reader, cookie, language = await site.admit(request, await site.people.identify(request), form.get("name", ""))
    person = reader.as_person(browser_language(request))
    refusal = await site.card_room.feature(FindFeature).site.start(person, game, f"web:{reader.tag}:{key}:find")
    if refusal:
        return site.message_page(request, refusal, language=language, cookie=cookie)
    return site.redirect("/find", COOKIE, cookie, request)


async def stop(site: Site, request: web.Request) -> web.Response:
    form = await site.read_form(request)
    reader = await site.people.identify(request)
    if "stop" not in form or reader is None:
        raise Refused("there is no such request")
    await site.card_room.feature(FindFeature).site.stop(reader.person, f"web:{reader.tag}:{secrets.token_hex(8)}")
    return site.redirect("/")


async def looking_count_text(site: Site, language: str) -> str:
    """Return how many people are looking for an opponent; empty for none."""
    count = await site.card_room.feature(FindFeature).site.count()
    text = texts(language).ngettext("{count} looking now", "{count} looking now", count)
    return text.format(count=count) if count else ""
