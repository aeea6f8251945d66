"""A spectator's page of a table, at ``/t/{watch_id}``. Its script follows the API's stream."""

import json
import re
from dataclasses import asdict
from http import HTTPStatus

from aiohttp import web

from adapters.web.api.operations import WATCH_ID
from adapters.web.link_previews import link_preview
from adapters.web.script_texts import watch_texts
from adapters.web.site import Site, browser_language
from bot.command_names import ArgumentKind, choices_of
from bot.site.watching import card_names, combination_texts
from bot.texts import language_of, texts


async def find_rematch(site: Site, request: web.Request) -> web.Response:
    """Answer the page of a finished game with the watch id of the rematch; empty if that cannot be watched."""
    watch_id = request.match_info["watch_id"]
    with site.limits.lookup(request) as lookup:
        is_valid = await site.card_room.watching.is_valid(watch_id)
        lookup.end(missing=not is_valid)
    rematch = await site.card_room.lobby.rematch_to_watch(watch_id, request.query.get("game", "")[:64])
    return web.json_response({"rematch": rematch}, headers={"Cache-Control": "no-store"})


async def show_log(site: Site, request: web.Request) -> web.Response:
    """Answer the page with the log of the deal, in the browser's language."""
    watch_id, language = request.match_info["watch_id"], language_of(browser_language(request))
    suits = "french" if request.query.get("suits") == "french" else "italian"
    with site.limits.lookup(request) as lookup:
        log = await site.card_room.watching.get_log(watch_id, language, suits)
        lookup.end(missing=log is None and not await site.card_room.watching.is_valid(watch_id))
    return web.json_response({"log": log and asdict(log)}, headers={"Cache-Control": "no-store"})


async def show(site: Site, request: web.Request) -> web.Response:
    watch_id, language = request.match_info["watch_id"], language_of(browser_language(request))
    with site.limits.lookup(request) as lookup:
        table = await site.card_room.watching.get_table(watch_id) if re.fullmatch(WATCH_ID, watch_id) else None
        lookup.end(missing=table is None)
    _ = texts(language).gettext
    titles = {game: _(name) for game, name in choices_of(ArgumentKind.GAME).items()}
    data = {
        "id": watch_id,
        "table": json.loads(table.model_dump_json()) if table else None,
        "titles": titles,
        "decks": site.assets.decks,
        "cards": card_names(),
        "combinations": combination_texts(language),
        "texts": watch_texts(language),
    }
    if table is None:
        return site.page(request, "watch.html", language, HTTPStatus.NOT_FOUND, data=data)
    link = link_preview(site, language, _("Watch"), titles[table.game], f"table/{table.game}")
    return site.page(request, "watch.html", language, data=data, link=link)
