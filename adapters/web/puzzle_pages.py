"""Puzzles at ``/puzzle``; ``?id=`` shows a certain one, to share."""

from http import HTTPStatus

from aiohttp import web

from adapters.web.people import COOKIE
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.features.puzzles.feature import PuzzlesFeature
from bot.texts import gettext_noop as _
from bot.texts import texts

NO_PUZZLE = _("I have no such puzzle.")
ALL_ANSWERED = _("🧩 You have answered all puzzles that I have.")


async def show(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    id_ = request.query.get("id", "")[:16]
    puzzles = site.card_room.feature(PuzzlesFeature).site
    puzzle = await puzzles.page(reader.person if reader else "", language, id_)
    if puzzle is None:
        status, why = (HTTPStatus.NOT_FOUND, NO_PUZZLE) if id_ else (HTTPStatus.OK, ALL_ANSWERED)
        return site.message(request, status, texts(language).gettext(why))
    return site.page(request, "puzzle.html", language, puzzle=puzzle, deck=site.assets.decks[puzzle.deck])


async def answer(site: Site, request: web.Request) -> web.Response:
    """Record an answer and redirect to its result. A stranger who answers becomes a guest, with a rating."""
    form = await site.read_form(request)
    id_, card = form.get("id", ""), form.get("card", "")
    puzzles = site.card_room.feature(PuzzlesFeature).site
    if not puzzles.is_answer(id_, card):
        raise Refused("there is no such answer")
    reader, cookie, _language = await site.admit(request, await site.people.identify(request))
    await puzzles.answer(reader.as_person(browser_language(request)), id_, card)
    return site.redirect(f"/puzzle?id={id_}", COOKIE, cookie)
