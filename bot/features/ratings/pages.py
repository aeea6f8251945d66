"""Panels of ratings: a person's statistics, and leaderboards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot import actions
from bot.document_writer import DocumentWriter
from bot.finished.history import RatedGame
from bot.finished.rating_formula import Standing
from bot.finished.ratings import EVERYTHING, MIN_GAMES, GameStanding
from bot.panel import Column, Grid, Panel, Row, Span, Style, choice_button
from bot.tables.snapshot import isolate_name
from bot.texts import month_name, texts
from bot.words.table_lines import game_names
from bot.words.wording import MEDALS
from engine import GAMES

FORM_GAMES = 10  # number of last games that show a player's form


@dataclass(frozen=True)
class LeaderboardLine:
    rank: int | None
    name: str
    standing: Standing
    is_viewer: bool
    history: Sequence[RatedGame] = ()  # oldest first


def leaderboard_title(language: str, scope_name: str, period: str, game: str) -> list[str]:
    """Return the parts of a leaderboard's title.

    ``scope_name`` is "chat" or "all". ``period`` is "month" for the current one, "all", or a month such as 2026-11.
    ``game`` is an id or "all".
    """
    _ = texts(language).gettext
    return [
        _(GAMES[game].name) if game in GAMES else _("all games"),
        _("this chat") if scope_name == "chat" else _("everywhere"),
        {"month": _("this month"), "all": _("all time")}.get(period) or month_name(period, language),
    ]


def leaderboard_page(
    language: str, scope_name: str, period: str, game: str, lines: Sequence[LeaderboardLine], ranked_count: int
) -> Panel:
    """Return a leaderboard; the arguments are as in `leaderboard_title`.

    A viewer who is not among the best is on the last line.
    """
    _ = texts(language).gettext
    page = DocumentWriter(_("🏆 Leaderboard"))
    page.line(" · ".join(leaderboard_title(language, scope_name, period, game)), "italic")
    page.fold()
    page.gap()
    if not ranked_count:
        page.line(_("Nobody is ranked yet. It takes {count} games against people.").format(count=MIN_GAMES))
    if ranked_lines := [line for line in lines if line.rank is not None]:
        page.block(_leaderboard_table(language, ranked_lines))
    for line in lines:
        _add_line(page, line, language)
    rows: list[Row] = [
        tuple(
            choice_button(label, choice == scope_name, actions.page("leaderboard", choice, period, game))
            for choice, label in (("chat", _("this chat")), ("all", _("everywhere")))
        ),
        tuple(
            choice_button(label, choice == period, actions.page("leaderboard", scope_name, choice, game))
            for choice, label in (("month", _("this month")), ("all", _("all time")))
        ),
    ]
    games = [("all", _("all games")), *game_names(language).items()]
    buttons = [
        choice_button(label, choice == game, actions.page("leaderboard", scope_name, period, choice))
        for choice, label in games
    ]
    rows += [tuple(buttons[:4]), tuple(buttons[4:])]
    return page.panel(*rows)


def _leaderboard_table(language: str, lines: Sequence[LeaderboardLine]) -> Grid:
    _ = texts(language).gettext
    rows = []
    for line in lines:
        standing = line.standing
        style: Style = "bold" if line.is_viewer else ""
        cells = (_place_text(line), isolate_name(line.name), standing.rating, standing.games, standing.wins)
        rows.append(tuple(Span(str(cell), style) for cell in cells))
    people = (Column("#", is_figure=False), Column(_("Player"), is_figure=False))
    return Grid((*people, *map(Column, (_("Rating"), _("Games"), _("Won")))), tuple(rows))


def _place_text(line: LeaderboardLine) -> str:
    return MEDALS.get(line.rank or 0, f"{line.rank}.")


def _add_line(page: DocumentWriter, line: LeaderboardLine, language: str) -> None:
    name, games = isolate_name(line.name), games_text(language, line.standing)
    if line.rank is None:
        note = texts(language).gettext("{name}: {games}, not ranked yet")
        page.line(note.format(name=name, games=games), "italic")
        return
    place, wins = _place_text(line), wins_text(language, line.standing)
    page.text_line(f"{place} {name} {line.standing.rating} ({games}, {wins})", "bold" if line.is_viewer else "")


def stats_page(language: str, name: str, lines: Sequence[GameStanding], history: Sequence[RatedGame]) -> Panel:
    _ = texts(language).gettext
    page = DocumentWriter(_("📊 {name}"), name=isolate_name(name))
    page.fold()
    page.gap()
    played_lines = [line for line in lines if line.standing.games]
    if not played_lines:
        page.line(_("No rated games yet. Games with a robot don’t count."))
    else:
        page.block(_stats_table(language, played_lines))
    for line in played_lines:
        standing = line.standing
        game, games = Span(_game_name(language, line), "bold"), games_text(language, standing)
        percent, place = _percent_won(standing), rank_text(language, line)
        text = _("{game}: rating {rating}, {games}, {percent} % won, {place}")
        page.text_line(text, game=game, rating=standing.rating, games=games, percent=percent, place=place)
    if history:
        page.gap()
        won_letter, lost_letter = result_letters(language)
        form = " ".join(won_letter if game.won else lost_letter for game in history[-FORM_GAMES:])
        page.line(_("Last games: {form} ({won} won, {lost} lost)"), form=form, won=won_letter, lost=lost_letter)
    if len(history) > 1:
        ratings = [game.rating for game in history]
        first, last, low, high = ratings[0], ratings[-1], min(ratings), max(ratings)
        text = _("Over {count} games: {first} → {last} (lowest {low}, highest {high})")
        page.line(text, count=len(ratings), first=first, last=last, low=low, high=high)
    return page.panel()


def _stats_table(language: str, lines: Sequence[GameStanding]) -> Grid:
    _ = texts(language).gettext
    rows = []
    for line in lines:
        standing = line.standing
        rank = f"{line.rank}/{line.ranked}" if line.rank else "–"
        cells = (standing.rating, standing.games, f"{_percent_won(standing)} %", rank)
        rows.append((Span(_game_name(language, line), "bold"), *(Span(str(cell)) for cell in cells)))
    figures = (_("Rating"), _("Games"), _("Won"), _("Rank"))
    return Grid((Column(_("Game"), is_figure=False), *map(Column, figures)), tuple(rows))


def _game_name(language: str, line: GameStanding) -> str:
    _ = texts(language).gettext
    return _("all games") if line.game == EVERYTHING else _(GAMES[line.game].name)


def _percent_won(standing: Standing) -> int:
    return round(100 * standing.wins / standing.games)


def games_text(language: str, standing: Standing) -> str:
    return texts(language).ngettext("{count} game", "{count} games", standing.games).format(count=standing.games)


def wins_text(language: str, standing: Standing) -> str:
    return texts(language).ngettext("{count} won", "{count} won", standing.wins).format(count=standing.wins)


def rank_text(language: str, line: GameStanding) -> str:
    _ = texts(language).gettext
    return _("rank {rank} of {ranked}").format(rank=line.rank, ranked=line.ranked) if line.rank else _("not ranked yet")


def result_letters(language: str) -> tuple[str, str]:
    _ = texts(language).gettext
    return _("W"), _("L")
