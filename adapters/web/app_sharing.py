"""Sending a result from a page inside a platform's app (`bot.site.mini_app.PreparesMessages`)."""

import re
from http import HTTPStatus

import structlog
from aiohttp import web

from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.platform import DeliveryError, platform_of
from bot.site.mini_app import PreparesMessages

LONGEST = 600  # characters of a result
PAGE = re.compile(r"/[A-Za-z0-9/?=_-]{0,99}")

log = structlog.get_logger()


async def prepare(site: Site, request: web.Request) -> web.Response:
    """Prepare a message with a result and return its id. The reader then chooses a chat in the app, or cancels."""
    platform = request.match_info["platform"]
    app = site.card_room.mini_apps.get(platform)
    form = await site.read_form(request)
    reader = await site.people.identify(request)
    text, page = form.get("text", "").strip(), form.get("page", "")
    if not isinstance(app, PreparesMessages) or reader is None or platform_of(reader.person) != platform:
        raise web.HTTPNotFound()
    if not text or len(text) > LONGEST or not PAGE.fullmatch(page):
        raise Refused("there is no such result")
    language = await site.card_room.lobby.language_of(reader.person, browser_language(request))
    try:
        message = await app.prepare_message(reader.as_person(language), text, page)
    except DeliveryError as error:
        log.warning("app_message_not_prepared", platform=platform, why=type(error).__name__)
        return web.json_response({}, status=HTTPStatus.SERVICE_UNAVAILABLE)
    return web.json_response({"id": message})
