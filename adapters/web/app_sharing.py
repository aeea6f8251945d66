"""Sending a result from a page inside a platform's app (`bot.site.mini_app.PreparesMessages`).

The message is sent in the bot's name, so the bot writes its text: a page only names the result.
"""

import re
from http import HTTPStatus

import structlog
from aiohttp import web

from adapters.web.api.operations import CODE, GAME_ID
from adapters.web.refusals import Refused
from adapters.web.site import Site
from bot.features.daily.feature import DailyFeature
from bot.features.duels.feature import DuelsFeature
from bot.platform import DeliveryError, Person, platform_of
from bot.site.mini_app import PreparesMessages

PAGE_WITH_RESULT = re.compile(rf"/daily|/g/(?P<game>{GAME_ID})|/duel/(?P<duel>{CODE})")

log = structlog.get_logger()


async def prepare(site: Site, request: web.Request) -> web.Response:
    """Prepare a message with a page's result and return its id. The reader then chooses a chat in the app, or cancels.

    Raise `Refused` for a banned reader, and if they have no result on the page.
    """
    platform = request.match_info["platform"]
    app = site.card_room.mini_apps.get(platform)
    form = await site.read_form(request)
    reader = await site.people.identify(request)
    if not isinstance(app, PreparesMessages) or reader is None or platform_of(reader.person) != platform:
        raise web.HTTPNotFound()
    reader, _cookie, language = await site.admit(request, reader)
    site.limits.count_share(reader.person)
    person, page = reader.as_person(language), form.get("page", "")
    text = await _result(site, request, person, page)
    if not text:
        raise Refused("there is no such result")
    try:
        message = await app.prepare_message(person, text, page)
    except DeliveryError as error:
        log.warning("app_message_not_prepared", platform=platform, why=type(error).__name__)
        return web.json_response({}, status=HTTPStatus.SERVICE_UNAVAILABLE)
    return web.json_response({"id": message})


async def _result(site: Site, request: web.Request, person: Person, page: str) -> str:
    """Return the text of the result or invitation on a page; empty if the person cannot share it."""
    match = PAGE_WITH_RESULT.fullmatch(page)
    if match is None:
        return ""
    if game_id := match["game"]:
        with site.limits.lookup(request) as lookup:
            text = await site.card_room.games.get_result(game_id, person.language)
            lookup.end(missing=not text)
        return text
    if code := match["duel"]:
        site.limits.count_code(request)
        duels = site.card_room.feature(DuelsFeature).site
        duel = await duels.page(code, person.id, person.handle, person.language, "")
        if duel is None:
            return ""
        site.limits.give_code_back(request)
        return duel.shareable or (duel.title if duel.is_open else "")
    return await site.card_room.feature(DailyFeature).site.shareable_text(person.id)
