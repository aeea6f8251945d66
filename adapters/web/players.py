"""The pages of players: a leaderboard at ``/leaderboard``, and how somebody has played at ``/p/{player_id}``."""

import re
from collections.abc import Sequence
from datetime import date
from http import HTTPStatus
from typing import NamedTuple

from aiohttp import web
from aiohttp.web_routedef import AbstractRouteDef

from adapters.web.api.operations import PLAYER_ID
from adapters.web.people import WebPerson
from adapters.web.site import Site, browser_language
from bot.card_room import CardRoom
from bot.commands import ArgumentKind, choices_of
from bot.features.ratings.feature import RatingsFeature
from bot.features.ratings.players import ALL, PERIODS, Players
from bot.texts import gettext_noop as _
from bot.texts import language_of, texts

FORM_GAMES = 10
"""As many of the last games tell of somebody's form."""

NO_PLAYER = _("There is no such player, or they have played no rated game.")
CURVE_SIZE, SPARK_SIZE = (600, 180), (120, 28)


class Point(NamedTuple):
    """A point of a curve, in the drawing's own units from its upper left corner."""

    x: float
    y: float


class PlayerPages:
    """Answers for them."""

    def __init__(self, site: Site, card_room: CardRoom) -> None:
        self._site, self._card_room = site, card_room
        self.routes: list[AbstractRouteDef] = [
            web.get("/leaderboard", self.leaderboard),
            web.get("/p/{player_id}", self.player),
        ]

    @property
    def _players(self) -> Players:
        return self._card_room.feature(RatingsFeature).players

    async def leaderboard(self, request: web.Request) -> web.Response:
        reader = await self._site.people.identify(request)
        language = await self._language(request, reader)
        _ = texts(language).gettext
        games = {ALL: _("all games"), **{game: _(name) for game, name in choices_of(ArgumentKind.GAME).items()}}
        game, period = (request.query.get(name, ALL) for name in ("game", "period"))
        if game not in games or period not in PERIODS:
            raise web.HTTPNotFound()
        person = reader.person if reader else ""
        board = await self._players.leaderboard(person, game, period, language)
        return self._site.page(
            request,
            "leaderboard.html",
            language,
            board=board,
            games=games,
            periods={ALL: _("all time"), "month": _("this month")},
            sparks=[curve(one.ratings, SPARK_SIZE, margin=3) for one in board.players],
            counted=texts(language).ngettext,
            size=SPARK_SIZE,
        )

    async def player(self, request: web.Request) -> web.Response:
        reader = await self._site.people.identify(request)
        language = await self._language(request, reader)
        id_ = request.match_info["player_id"]
        person = reader.person if reader else ""
        is_id = re.fullmatch(PLAYER_ID, id_)
        with self._site.limits.lookup(request) as lookup:
            player = await self._players.player(id_, person, language) if is_id else None
            lookup.end(nowhere=player is None)
        if player is None:
            return self._site.said(request, HTTPStatus.NOT_FOUND, texts(language).gettext(NO_PLAYER))
        _ = texts(language).gettext
        return self._site.page(
            request,
            "player.html",
            language,
            player=player,
            games={
                ALL: _("all games"),
                **{game: _(name) for game, name in choices_of(ArgumentKind.GAME).items()},
            },
            points=curve([one.rating for one in player.history], CURVE_SIZE, margin=10),
            size=CURVE_SIZE,
            form=player.history[-FORM_GAMES:],
            on=lambda day: _format_day(day, language),
            counted=texts(language).ngettext,
        )

    async def _language(self, request: web.Request, reader: WebPerson | None) -> str:
        if reader is None:
            return language_of(browser_language(request))
        return await self._card_room.lobby.language_of(reader.person, browser_language(request))


def curve(ratings: Sequence[int], size: tuple[int, int], margin: int) -> list[Point]:
    """How ratings went, from left to right, in a drawing of a size; nothing for fewer than two."""
    if len(ratings) < 2:
        return []
    width, height = size[0] - 2 * margin, size[1] - 2 * margin
    low, high = min(ratings), max(ratings)
    return [
        Point(
            round(margin + width * place / (len(ratings) - 1), 1),
            # Who always had the same stands in the middle.
            round(margin + height * ((high - rating) / (high - low) if high > low else 0.5), 1),
        )
        for place, rating in enumerate(ratings)
    ]


def _format_day(day: date, language: str) -> str:
    """A day as it is written in a language."""
    # Not before such a page is asked for.
    from babel.dates import format_date  # noqa: PLC0415

    return format_date(day, "medium", locale=language)
