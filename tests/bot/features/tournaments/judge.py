"""py4swiss as an independent judge of Swiss pairings.

It implements the rules of FIDE's Dutch system before February 2026, and gives the same pairs as bbpPairings. Its wheels
exist only for Linux on x86-64 and for macOS. Tests that need it are skipped elsewhere.
"""

from fractions import Fraction
from typing import Any, NamedTuple
from unittest import mock

import pytest

from bot.features.tournaments.tournament import Match, Tournament

dutch: Any = pytest.importorskip("py4swiss.engines.dutch.engine")
brackets: Any = pytest.importorskip("py4swiss.engines.dutch.bracket")
common: Any = pytest.importorskip("py4swiss.engines.common")
trf: Any = pytest.importorskip("py4swiss.trf.parsed_trf")
sections: Any = pytest.importorskip("py4swiss.trf.sections")
codes: Any = pytest.importorskip("py4swiss.trf.codes")
results: Any = pytest.importorskip("py4swiss.trf.results")

BYE, ABSENT = "U", "Z"


class Judgement(NamedTuple):
    """The judge's next pairs in our notation, or None if it finds none.

    ``has_collapsed`` is true if it paired all score groups below a bracket as one, by a rule dropped in 2026.
    """

    pairs: tuple[tuple[int, int | None], ...] | None
    has_collapsed: bool


class _Brackets(brackets.Brackets):  # type: ignore[misc]
    """The judge's brackets, with a count of collapses."""

    collapses = 0

    def collapse(self) -> None:
        _Brackets.collapses += 1
        super().collapse()


def ask_judge(tournament: Tournament, rounds: int) -> Judgement:
    """Ask the judge for the next pairs.

    Void matches count as met, although the judge's own rules would allow a second meeting.
    """
    players = []
    for team in range(len(tournament.teams)):
        rows = [_make_result(tournament, number, team) for number in range(len(tournament.rounds))]
        points = sum((match.score(team) for match in tournament.matches_of(team)), Fraction(0))
        players.append(
            sections.PlayerSection(
                code=codes.PlayerCode.PLAYER,
                starting_number=team + 1,
                points_times_ten=int(10 * points),
                rank=team + 1,
                results=rows,
            )
        )
    met = {(match.first + 1, match.second + 1) for match in tournament.matches if match.second is not None}
    zeroed = {team + 1 for team in range(len(tournament.teams)) if tournament.has_withdrawn(team)}
    parsed = trf.ParsedTrf(
        player_sections=players,
        x_section=sections.XSection(number_of_rounds=rounds, forbidden_pairs=met, zeroed_ids=zeroed),
    )
    parsed.validate_contents()
    before = _Brackets.collapses
    with mock.patch.object(dutch, "Brackets", _Brackets):
        try:
            pairs = dutch.Engine.generate_pairings(parsed)
        except common.PairingError:
            return Judgement(None, False)
    converted = tuple((pair.white - 1, pair.black - 1 if pair.black else None) for pair in pairs)
    return Judgement(converted, _Brackets.collapses > before)


def _make_result(tournament: Tournament, number: int, team: int) -> Any:
    match = next((match for match in tournament.rounds[number] if team in match.teams), None)
    if match is None or match.is_bye:
        return results.RoundResult(id=0, color="-", result=ABSENT if match is None else BYE)
    side = match.teams.index(team)
    return results.RoundResult(id=match.teams[1 - side] + 1, color="wb"[side], result=_make_token(match, team))


def _make_token(match: Match, team: int) -> str:
    points = match.score(team)
    if not match.was_played:
        return "+" if points else "-"
    return {Fraction(0): "0", Fraction(1): "1"}.get(points, "=")
