"""The picture of the final standings."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bot.features.tournaments.card_panel import MOST_PLACES
from bot.features.tournaments.standings import Standing, standings, winners
from bot.features.tournaments.texts import TournamentText, deciding_tie_breaks, shorten
from bot.features.tournaments.tournament import Tournament
from bot.pictures.lettering import drawable_text
from bot.pictures.results import small_print
from bot.pictures.sheet import NAMELESS, Part, Row, Rows, Sheet, Words
from bot.words.wording import fix_minus

LONGEST_NOTE = 60  # letters below a team's name
LONGEST_ALONE, LONGEST_IN_PAIR = 28, 15  # letters of a single player's name, and of each partner's


def standings_sheet(language: str, t: Tournament, group: str, ended: int) -> Sheet | None:
    """Return the final standings as a sheet; None if they are empty.

    ``group`` is the name of the chat. ``ended`` is in Unix seconds.
    """
    drawn, table = _SheetText(language, t), standings(t)
    if not table:
        return None
    _, text = drawn.text.gettext, drawn.text
    rows = tuple(drawn.row(one, table, at) for at, one in enumerate(table[:MOST_PLACES]))
    parts: list[Part] = [Words(drawn.winners(), "gold"), Rows(rows)]
    if len(table) > MOST_PLACES:
        parts.append(Words(text.more(len(table) - MOST_PLACES)))
    teams = text.ngettext("{count} player", "{count} players", len(table))
    if t.team_size > 1:
        teams = text.ngettext("{count} pair", "{count} pairs", len(table))
    day = time.strftime("%Y-%m-%d", time.gmtime(ended))
    return Sheet(
        title=text.title,
        note=f"{teams.format(count=len(table))} · {_(table[0].score.counts)}",
        parts=tuple(parts),
        small=small_print(group, day),
    )


class _SheetText:
    """A tournament's texts in the letters that pictures can show."""

    def __init__(self, language: str, t: Tournament) -> None:
        self.text = TournamentText(language, t)

    def team(self, team: int) -> str:
        names = [drawable_text(name) or NAMELESS for name in self.text.full_names(team)]
        most = LONGEST_ALONE if len(names) < 2 else LONGEST_IN_PAIR
        return " + ".join(shorten(name, most) for name in names)

    def winners(self) -> str:
        return self.text.winners_text([self.team(team) for team in winners(self.text.t)])

    def row(self, standing: Standing, table: Sequence[Standing], at: int) -> Row:
        """Return a team's line, with the decisive tie-breaks below."""
        _ = self.text.gettext
        # In a knock-out, a bye counts as a round won but not as a match.
        is_knockout = self.text.t.form == "knockout"
        note = [] if is_knockout else [_("{won} of {played} won").format(won=standing.won, played=standing.played)]
        note += [f"{_(one.name)} {fix_minus(one.value)}" for one in deciding_tie_breaks(table, at)]
        while len(note) > 1 and len(" · ".join(note)) > LONGEST_NOTE:
            # The last tie-break is decisive.
            note.pop(0)
        return Row(
            f"{standing.place}. {self.team(standing.team)}",
            " · ".join(note),
            fix_minus(standing.score.text),
            is_own=standing.place == 1,
        )
