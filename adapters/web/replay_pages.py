"""The page of a finished game, at ``/g/{game_id}``. Its script reads the game from the API.

The table's page asks for the reader's costliest cards at the end of a game.
"""

import json
import re
from dataclasses import asdict
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
        "seat": await games.find_seat(game_id, reader.person) if game and reader else None,
        "decks": site.assets.decks,
        "texts": replay_texts(language),
        "language": language,
    }
    if game is None:
        return site.page(request, "replay.html", language, HTTPStatus.NOT_FOUND, data=data)
    link = link_preview(site, language, game["title"], game["result"], f"game/{game_id}")
    return site.page(request, "replay.html", language, data=data, link=link)


async def costliest(site: Site, request: web.Request) -> web.Response:
    """Tell a player of the game which of their cards cost most. A POST begins the analysis, a GET does not."""
    game_id, begins = request.match_info["game_id"], request.method == "POST"
    if begins:
        site.check_own_page(request)
    reader, language = await site.reader(request)
    cards = None
    with site.limits.lookup(request) as lookup:
        if reader and re.fullmatch(GAME_ID, game_id):
            faces = Reader(language, (await site.card_room.lobby.profile(reader.person)).suits)
            try:
                cards = await site.card_room.games.get_costliest(game_id, reader.person, faces, begin=begins)
            except (AnalysisBusy, NotAnalysed):
                raise web.HTTPServiceUnavailable() from None
        lookup.end(missing=cards is None)
    if cards is None:
        raise web.HTTPNotFound()
    return web.json_response(asdict(cards), headers={"Cache-Control": "no-store"})
