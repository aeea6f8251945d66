"""The deal of the day at ``/daily``; ``?yesterday`` shows the last one's result."""

from aiohttp import web

from adapters.web.people import COOKIE, form_names
from adapters.web.site import Site, browser_language
from bot.features.daily.feature import DailyFeature


async def show(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    yesterday = "yesterday" in request.query
    days, person = site.card_room.feature(DailyFeature).site, reader.person if reader else ""
    day = await days.page(person, language, yesterday=yesterday)
    return site.page(request, "daily.html", language, day=day, yesterday=yesterday, **form_names(reader))


async def play(site: Site, request: web.Request) -> web.Response:
    """Start the deal of the day, or show the result if it has been played."""
    form = await site.read_form(request)
    reader, cookie, language = await site.admit(request, await site.people.identify(request), form.get("name", ""))
    person, visitor = reader.as_person(browser_language(request)), site.guest_visitor(request, reader)
    code, why = await site.card_room.feature(DailyFeature).site.open_table(person, visitor)
    if not code:
        return site.message_page(request, why, language=language, cookie=cookie)
    return site.redirect(f"/t/{code}", COOKIE, cookie)
