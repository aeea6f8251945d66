"""The reader's blocked players, at ``/blocks``."""

import re

from aiohttp import web

from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.features.find.feature import FindFeature

PLACE = re.compile(r"[a-z]+(\.[0-9A-Za-z-]+){1,2}")  # a place of `bot.meetings`, with dots for spaces
TOKEN = re.compile(r"[0-9a-f]{8}")


async def show(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    blocks = await site.card_room.feature(FindFeature).blocks.block_lines(reader.person) if reader else []
    return site.fresh_page(request, "blocks.html", language, blocks=blocks)


async def change(site: Site, request: web.Request) -> web.Response:
    """Block the person met in a place, or undo a block, and show the list."""
    form = await site.read_form(request)
    reader, language = await site.reader(request)
    place, token = form.get("place", ""), form.get("undo", "")
    if reader is None or not (PLACE.fullmatch(place) or TOKEN.fullmatch(token)):
        raise Refused("there is no such request")
    blocks = site.card_room.feature(FindFeature).blocks
    if token:
        await blocks.unblock(reader.person, token)
    else:
        with site.limits.lookup(request) as lookup:
            refusal = await blocks.block(reader.as_person(browser_language(request)), place.split("."))
            lookup.end(missing=bool(refusal))
        if refusal:
            return site.message_page(request, refusal, language=language)
    return site.redirect("/blocks")
