"""Pictures of statistics and leaderboards."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.ratings.pages import FORM_GAMES, LeaderboardLine, games_text, rank_text, result_letters, wins_text
from bot.finished.history import DAY_SECONDS, RatedGame
from bot.finished.ratings import GameStanding
from bot.pictures.lettering import drawable_text
from bot.pictures.sheet import NAMELESS, Curve, Form, Part, Plot, Row, Rows, Sheet
from bot.texts import day_of, texts
from engine import GAMES


def stats_sheet(language: str, name: str, lines: Sequence[GameStanding], history: Sequence[RatedGame]) -> Sheet | None:
    _ = texts(language).gettext
    played_lines = [line for line in lines if line.standing.games]
    if not played_lines:
        return None
    parts: list[Part] = []
    if len(history) > 1:
        first_day, last_day = (day_of(history[index].day * DAY_SECONDS, language) for index in (0, -1))
        parts.append(Plot((_curve(history),), begin=first_day, end=last_day, marks=(_("won"), _("lost"))))
    if history:
        parts.append(Form(_("last games"), tuple(game.won for game in history[-FORM_GAMES:]), result_letters(language)))
    rows = []
    for line in played_lines:
        standing = line.standing
        won_text = _("{percent} % won").format(percent=round(100 * standing.wins / standing.games))
        rows.append(
            Row(
                _(GAMES[line.game].name) if line.game in GAMES else _("all games"),
                f"{games_text(language, standing)} · {won_text}",
                str(standing.rating),
                share=standing.wins / standing.games,
            )
        )
    overall_line = played_lines[0]
    return Sheet(
        title=drawable_text(name) or NAMELESS,
        note=f"{overall_line.standing.rating} · {rank_text(language, overall_line)}",
        parts=(*parts, Rows(tuple(rows))),
    )


def leaderboard_sheet(language: str, title_parts: Sequence[str], lines: Sequence[LeaderboardLine]) -> Sheet | None:
    """Return a leaderboard with rating curves, or None if it is empty."""
    rows = tuple(
        Row(
            f"{line.rank}. {drawable_text(line.name) or NAMELESS}",
            f"{games_text(language, line.standing)}, {wins_text(language, line.standing)}",
            str(line.standing.rating),
            curve=_curve(line.history)._replace(marks=()),
            is_own=line.is_viewer,
        )
        for line in lines
        if line.rank is not None
    )
    if not rows:
        return None
    return Sheet(title=texts(language).gettext("Leaderboard"), note=" · ".join(title_parts), parts=(Rows(rows),))


def _curve(history: Sequence[RatedGame]) -> Curve:
    return Curve(tuple(game.rating for game in history), "gold", tuple(game.won for game in history))
