"""Endings to solve, at ``/puzzle``; one of them, to send to somebody, at ``/puzzle?id=``."""

from http import HTTPStatus

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.cookie_check import cookie_check_url
from adapters.web.people import COOKIE, set_cookie
from adapters.web.refusals import Refused
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.features.puzzles.feature import PuzzlesFeature
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

NO_PUZZLE = _("I have no such puzzle.")
ALL_ANSWERED = _("🧩 You have answered all puzzles that I have.")


class PuzzlePages:
    """Answers for them. Whoever answers is somebody from then on: their rating is kept."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [web.get("/puzzle", self.show), web.post("/puzzle", self.answer)]

    async def show(self, request: web.Request) -> web.Response:
        reader = await self._site.people.identify(request)
        person, language = "", language_of(browser_language(request))
        if reader:
            person, language = (
                reader.person,
                await self._card_room.lobby.language_of(reader.person, browser_language(request)),
            )
        id_ = request.query.get("id", "")[:16]
        puzzle = await self._card_room.feature(PuzzlesFeature).site.page(person, language, id_)
        if puzzle is None:
            status, why = (HTTPStatus.NOT_FOUND, NO_PUZZLE) if id_ else (HTTPStatus.OK, ALL_ANSWERED)
            return self._site.said(request, status, texts(language).gettext(why))
        deck = self._site.assets.decks[puzzle.deck]
        return self._site.page(request, "puzzle.html", language, puzzle=puzzle, deck=deck)

    async def answer(self, request: web.Request) -> web.Response:
        """Take an answer, and lead to what it was worth."""
        said = await self._site.read_form(request)
        reader, cookie = await self._site.people.identify(request), ""
        id_, card = said.get("id", ""), said.get("card", "")
        if not self._card_room.feature(PuzzlesFeature).site.is_answer(id_, card):
            raise Refused("there is no such answer")
        if reader is None:
            self._site.limits.count_newcomer(request)
            reader, cookie = await self._site.people.add_guest("")
        await self._card_room.feature(PuzzlesFeature).site.answer(
            reader.as_person(browser_language(request)), id_, card
        )
        address = f"/puzzle?id={id_}"
        response = web.Response(
            status=HTTPStatus.SEE_OTHER, headers={"Location": cookie_check_url(address) if cookie else address}
        )
        if cookie:
            set_cookie(response, COOKIE, cookie, secure=self._site.is_secure)
        return response
