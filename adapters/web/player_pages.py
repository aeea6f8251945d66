"""Leaderboards at ``/leaderboard``, players at ``/p/{player_id}``."""

import re
from collections.abc import Sequence
from http import HTTPStatus

from aiohttp import web

from adapters.web.api.operations import PLAYER_ID
from adapters.web.site import Site
from bot.command_names import ArgumentKind, choices_of
from bot.features.ratings.feature import RatingsFeature
from bot.features.ratings.players import ALL, PERIODS
from bot.texts import day_name, texts
from bot.texts import gettext_noop as _

FORM_GAMES = 10  # last games that show a player's form
NO_PLAYER = _("There’s no player with rated games here: check the link.")
CURVE_SIZE, SPARK_SIZE = (600, 180), (120, 28)


async def leaderboard(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    _ = texts(language).gettext
    games = _game_names(language)
    game, period = (request.query.get(name, ALL) for name in ("game", "period"))
    if game not in games or period not in PERIODS:
        raise web.HTTPNotFound()
    person = reader.person if reader else ""
    board = await site.card_room.feature(RatingsFeature).players.leaderboard(person, game, period, language)
    return site.page(
        request,
        "leaderboard.html",
        language,
        board=board,
        games=games,
        periods={ALL: _("all time"), "month": _("this month")},
        sparks=[curve(player.ratings, SPARK_SIZE, margin=3) for player in board.players],
        ngettext=texts(language).ngettext,
        size=SPARK_SIZE,
    )


async def player(site: Site, request: web.Request) -> web.Response:
    reader, language = await site.reader(request)
    id_ = request.match_info["player_id"]
    person = reader.person if reader else ""
    players = site.card_room.feature(RatingsFeature).players
    with site.limits.lookup(request) as lookup:
        player = await players.player(id_, person, language) if re.fullmatch(PLAYER_ID, id_) else None
        lookup.end(missing=player is None)
    if player is None:
        return site.message(request, HTTPStatus.NOT_FOUND, texts(language).gettext(NO_PLAYER))
    _ = texts(language).gettext
    return site.page(
        request,
        "player.html",
        language,
        player=player,
        games=_game_names(language),
        points=curve([game.rating for game in player.history], CURVE_SIZE, margin=10),
        size=CURVE_SIZE,
        form=player.history[-FORM_GAMES:],
        format_day=lambda day: day_name(day, language),
        ngettext=texts(language).ngettext,
    )


def _game_names(language: str) -> dict[str, str]:
    _ = texts(language).gettext
    return {ALL: _("all games"), **{game: _(name) for game, name in choices_of(ArgumentKind.GAME).items()}}


def curve(ratings: Sequence[int], size: tuple[int, int], margin: int) -> list[tuple[float, float]]:
    """Return the points of a rating curve; none for fewer than two ratings. The origin is the upper left corner."""
    if len(ratings) < 2:
        return []
    width, height = size[0] - 2 * margin, size[1] - 2 * margin
    low, high = min(ratings), max(ratings)
    return [
        (
            round(margin + width * index / (len(ratings) - 1), 1),
            # A constant rating is drawn in the middle.
            round(margin + height * ((high - rating) / (high - low) if high > low else 0.5), 1),
        )
        for index, rating in enumerate(ratings)
    ]
