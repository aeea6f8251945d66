"""The page of a finished game, at ``/g/{game_id}``. Its script reads the game from the API."""

import json
import re
from http import HTTPStatus

from aiohttp import web

from adapters.web.api.operations import GAME_ID
from adapters.web.site import Site, browser_language
from bot.parsing.join_links import read_pasted
from bot.site.reader import Reader
from bot.texts import language_of, texts


async def show(site: Site, request: web.Request) -> web.Response:
    game_id, language = request.match_info["game_id"], language_of(browser_language(request))
    pasted = read_pasted(game_id)
    if pasted and pasted.kind == "game" and pasted.id != game_id:
        raise web.HTTPSeeOther(f"/g/{pasted.id}")
    is_id = re.fullmatch(GAME_ID, game_id)
    with site.limits.lookup(request) as lookup:
        answer = await site.card_room.games.get_game(game_id, Reader(language)) if is_id else None
        lookup.end(missing=answer is None)
    game = json.loads(answer.body) if answer else None
    data = {
        "id": game_id,
        "game": game,
        "decks": site.assets.decks,
        "texts": _texts(language),
        "language": language,
    }
    status = HTTPStatus.OK if game else HTTPStatus.NOT_FOUND
    return site.page(request, "replay.html", language, status, data=data)


def position_texts(language: str) -> dict[str, str]:
    """Return the texts that the pages of replays and of watched tables share."""
    _ = texts(language).gettext
    return {
        "bid": _("bid"),
        "deal": _("Deal"),
        "dealer": _("deals"),
        "declared": _("declared"),
        "double_nil": _("double nil"),
        "drawn": _("drawn"),
        "draws_first": _("draws first"),
        "french": _("French suits"),
        "hand": _("hand"),
        "home": _("Home"),
        "italian": _("Italian suits"),
        "nil": _("nil"),
        "on_the_table": _("On the table"),
        "seal": _("Seal"),
        "stock": _("stock"),
        "suits": _("Suits"),
        "tricks": _("tricks"),
    }


def _texts(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return position_texts(language) | {
        "again": _("Try again"),
        "all_open": _("All hands open"),
        "analyse": _("Analyse"),
        "analysing": _("Being analysed. Deals done: {done} of {deals}."),
        "analysis": _("Analysis"),
        "check": _("Check the shuffle"),
        "costliest": _("The costliest moves"),
        "cut": _("Cut"),
        "download": _("Download the record"),
        "everybody": _("Seen by everyone"),
        "fair": _("Is it fair?"),
        "fair_about": _("Your browser works out each pack from its secret, without asking the server."),
        "first": _("Start of the deal"),
        "given_away": _("Points given away: {points}"),
        "is_fair": _("Every shuffle matches its seal."),
        "is_unfair": _("Not every shuffle matches its seal."),
        "last": _("End of the deal"),
        "loading": _("One moment…"),
        "lost": _("−{points} points"),
        "lost_about": _("About −{points} points"),
        "lost_about_one": _("About −1 point"),
        "lost_one": _("−1 point"),
        "move": _("Move"),
        "moves": _("Moves"),
        "next": _("Next move"),
        "no_crypto": _("Browsers can’t check without https: download the record and check it elsewhere."),
        "no_decisions": _("no decisions to judge"),
        "no_game": _("There’s no game here: check the link, or the game is no longer in the archive."),
        "no_proof": _("These cards were laid out by hand."),
        "not_analysed": _("Nobody has had this game analysed lately."),
        "nothing_lost": _("Well played."),
        "pack": _("The pack, first card first"),
        "pause": _("Pause"),
        "play": _("Autoplay"),
        "previous": _("Previous move"),
        "secret": _("Secret"),
        "step_cut": _("{name} cut the pack, as an opponent of the dealer."),
        "step_dealer": _("The first dealer follows from the secret."),
        "step_pack": _("Nobody cut: the pack follows from the secret alone."),
        "step_pack_cut": _("The pack follows from the secret and the cut."),
        "step_pack_wrong": _("The pack does not follow from secret and cut: {count} cards are in the wrong place."),
        "step_seal": _("The secret is the sealed one: its SHA-256 is the seal."),
        "table": _("Table"),
        "taken": _("points taken"),
        "where": _("Deal {deal}, move {move}"),
        "who": _("Cards"),
    }
