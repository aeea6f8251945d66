"""Puzzles at ``/puzzle``; ``?id=`` shows a certain one, to share."""

from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.people import COOKIE
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.features.puzzles.feature import PuzzlesFeature
from bot.texts import gettext_noop as _
from bot.texts import texts

NO_PUZZLE = _("I have no such puzzle.")
ALL_ANSWERED = _("🧩 You have answered all puzzles that I have.")


class PuzzlePages:
    """The handlers of ``/puzzle``. A stranger who answers becomes a guest, with a rating."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [web.get("/puzzle", self.show), web.post("/puzzle", self.answer)]

    async def show(self, request: web.Request) -> web.Response:
        reader = await self._site.people.identify(request)
        language = await self._site.language(request, reader)
        id_ = request.query.get("id", "")[:16]
        person = reader.person if reader else ""
        puzzle = await self._card_room.feature(PuzzlesFeature).site.page(person, language, id_)
        if puzzle is None:
            status, why = (HTTPStatus.NOT_FOUND, NO_PUZZLE) if id_ else (HTTPStatus.OK, ALL_ANSWERED)
            return self._site.message(request, status, texts(language).gettext(why))
        deck = self._site.assets.decks[puzzle.deck]
        return self._site.page(request, "puzzle.html", language, puzzle=puzzle, deck=deck)

    async def answer(self, request: web.Request) -> web.Response:
        """Record an answer and redirect to its result."""
        form = await self._site.read_form(request)
        reader, cookie = await self._site.people.identify(request), ""
        id_, card = form.get("id", ""), form.get("card", "")
        puzzles = self._card_room.feature(PuzzlesFeature).site
        if not puzzles.is_answer(id_, card):
            raise Refused("there is no such answer")
        if reader is None:
            self._site.limits.count_newcomer(request)
            reader, cookie = await self._site.people.add_guest("")
        await puzzles.answer(reader.as_person(browser_language(request)), id_, card)
        return self._site.redirect(f"/puzzle?id={id_}", COOKIE, cookie)
