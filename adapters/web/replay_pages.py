"""The page of a finished game, at ``/g/{game_id}``. Its script reads the game from the API."""

import json
import re
from http import HTTPStatus

from aiohttp import web

from adapters.web.api.operations import GAME_ID
from adapters.web.link_previews import link_preview
from adapters.web.script_texts import replay_texts
from adapters.web.site import Site
from bot.parsing.codes_and_links import read_pasted
from bot.site.game_reader import AnalysisBusy, NotAnalysed, Reader


async def show(site: Site, request: web.Request) -> web.Response:
    game_id, games = request.match_info["game_id"], site.card_room.games
    reader, language = await site.reader(request)
    pasted = read_pasted(game_id)
    if pasted and pasted.kind == "game" and pasted.id != game_id:
        raise web.HTTPSeeOther(f"/g/{pasted.id}")
    is_id = re.fullmatch(GAME_ID, game_id)
    with site.limits.lookup(request) as lookup:
        answer = await games.get_game(game_id, Reader(language)) if is_id else None
        lookup.end(missing=answer is None)
    game = json.loads(answer.body) if answer else None
    data = {
        "id": game_id,
        "game": game,
        "decks": site.assets.decks,
        "texts": replay_texts(language),
        "language": language,
    }
        "seat": await games.find_seat(game_id, reader.person) if game and reader else None,
    if game is None:
        return site.page(request, "replay.html", language, HTTPStatus.NOT_FOUND, data=data)
    link = link_preview(site, language, game["title"], game["result"], f"game/{game_id}")
    return site.page(request, "replay.html", language, data=data, link=link)
