"""The picture of the final standings."""

from __future__ import annotations

from collections.abc import Sequence

from bot.features.tournaments.card_panel import MAX_PLACES
from bot.features.tournaments.standings import TeamStanding, standings, winners
from bot.features.tournaments.texts import TournamentText, deciding_tie_breaks, shorten
from bot.features.tournaments.tournament import Tournament
from bot.pictures.lettering import drawable_text
from bot.pictures.results import small_print
from bot.pictures.sheet import NAMELESS, Part, Row, Rows, Sheet, Words
from bot.texts import day_of
from bot.words.wording import decimal_text

LONGEST_NOTE = 60  # letters below a team's name
LONGEST_ALONE, LONGEST_IN_PAIR = 28, 15  # letters of a single player's name, and of each partner's


def standings_sheet(language: str, tournament: Tournament, group: str, ended_at: int) -> Sheet | None:
    """Return the final standings as a sheet; None if empty.

    ``group`` is the chat's name; ``ended_at`` is in Unix seconds.
    """
    text, table = TournamentText(language, tournament), standings(tournament)
    if not table:
        return None
    _ = text.gettext
    names = {standing.team: _drawable_team(text, standing.team) for standing in table}
    parts: list[Part] = [
        Words(text.winners_text([names[team] for team in winners(tournament)]), "gold"),
        Rows(
            tuple(
                Row(
                    f"{standing.rank}. {names[standing.team]}",
                    _note(text, table, index),
                    decimal_text(standing.score.value, text.language),
                    is_own=standing.rank == 1,
                )
                for index, standing in enumerate(table[:MAX_PLACES])
            )
        ),
    ]
    if len(table) > MAX_PLACES:
        parts.append(Words(text.more_text(len(table) - MAX_PLACES)))
    count = text.ngettext("{count} player", "{count} players", len(table))
    if tournament.team_size > 1:
        count = text.ngettext("{count} pair", "{count} pairs", len(table))
    return Sheet(
        title=text.title,
        note=f"{count.format(count=len(table))} · {_(table[0].score.name)}",
        parts=tuple(parts),
        small=small_print(group, day_of(ended_at, text.language)),
    )


def _drawable_team(text: TournamentText, team: int) -> str:
    """Return a team's name in the letters that pictures can show."""
    names = [drawable_text(name) or NAMELESS for name in text.full_names(team)]
    longest = LONGEST_ALONE if len(names) < 2 else LONGEST_IN_PAIR
    return " + ".join(shorten(name, longest) for name in names)


def _note(text: TournamentText, table: Sequence[TeamStanding], index: int) -> str:
    """Return the line below a team: its wins, and the decisive tie-breaks."""
    _, standing = text.gettext, table[index]
    # In a knock-out, a bye counts as a round won but not as a match.
    wins = _("{won} of {played} won").format(won=standing.won, played=standing.played)
    note = [] if text.tournament.form == "knockout" else [wins]
    note += [
        f"{_(tie_break.name)} {decimal_text(tie_break.value, text.language)}"
        for tie_break in deciding_tie_breaks(table, index)
    ]
    while len(note) > 1 and len(" · ".join(note)) > LONGEST_NOTE:
        note.pop(0)  # the last tie-break is decisive
    return " · ".join(note)
