"""Pictures of statistics and leaderboards."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bot.features.ratings.pages import FORM, LeaderboardLine, rank_text, result_letters
from bot.finished.history import DAY_SECONDS, RatedGame
from bot.finished.ratings import GameStanding
from bot.pictures.lettering import drawable_text
from bot.pictures.sheet import NAMELESS, Curve, Form, Part, Plot, Row, Rows, Sheet
from bot.texts import texts
from engine import GAMES


def stats_sheet(language: str, name: str, lines: Sequence[GameStanding], history: Sequence[RatedGame]) -> Sheet | None:
    _, ngettext = texts(language)
    played = [line for line in lines if line.standing.games]
    if not played:
        return None
    parts: list[Part] = []
    if len(history) > 1:
        parts.append(
            Plot((_curve(history),), begin=_day(history[0]), end=_day(history[-1]), marks=(_("won"), _("lost")))
        )
    if history:
        form = tuple(game.won for game in history[-FORM:])
        parts.append(Form(_("last games"), form, result_letters(language)))
    rows = []
    for line in played:
        standing = line.standing
        percent = round(100 * standing.wins / standing.games)
        games = ngettext("{count} game", "{count} games", standing.games).format(count=standing.games)
        note = [games, _("{percent} % won").format(percent=percent)]
        rows.append(
            Row(
                _(GAMES[line.game].name) if line.game in GAMES else _("all games"),
                " · ".join(note),
                str(standing.shown),
                share=standing.wins / standing.games,
            )
        )
    whole = played[0]
    return Sheet(
        title=drawable_text(name) or NAMELESS,
        note=f"{whole.standing.shown} · {rank_text(language, whole)}",
        parts=(*parts, Rows(tuple(rows))),
    )


def leaderboard_sheet(language: str, about: Sequence[str], lines: Sequence[LeaderboardLine]) -> Sheet | None:
    """Return a leaderboard with rating curves, or None if it is empty. ``about`` are the parts of its title."""
    _, ngettext = texts(language)
    rows = []
    for line in lines:
        if line.rank is None:
            continue
        standing = line.standing
        games = ngettext("{count} game", "{count} games", standing.games).format(count=standing.games)
        wins = ngettext("{count} won", "{count} won", standing.wins).format(count=standing.wins)
        rows.append(
            Row(
                f"{line.rank}. {drawable_text(line.name) or NAMELESS}",
                f"{games}, {wins}",
                str(standing.shown),
                curve=_curve(line.history)._replace(marks=()),
                is_own=line.is_viewer,
            )
        )
    if not rows:
        return None
    return Sheet(title=_("Leaderboard"), note=" · ".join(about), parts=(Rows(tuple(rows)),))


def _curve(history: Sequence[RatedGame]) -> Curve:
    return Curve(tuple(game.rating for game in history), "gold", tuple(game.won for game in history))


def _day(game: RatedGame) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(game.day * DAY_SECONDS))
