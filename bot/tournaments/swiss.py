"""Rounds by FIDE's Dutch system (C.04.3), as the library caissify-pairings pairs them.

The library knows nothing but what it is told: what each team has played so far is worked out here. White is the first
seat. Importing this brings networkx; `bot.tournaments.pairing` does so when a round is paired.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx
from caissify_pairings import generate_pairings

from bot.tournaments.outcomes import earned, was_played
from bot.tournaments.tournament import Match, Tournament

# It tells how it finds its way; what comes of it is checked here.
logging.getLogger("caissify_pairings").setLevel(logging.ERROR)

WHITE, BLACK = "white", "black"

NOBODY = -1
"""Who is met by who has a bye."""


@dataclass
class Record:
    """What a team has played: ``colours`` of the matches in which cards were dealt, ``floats`` of every round."""

    score: Fraction = Fraction(0)
    colours: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    met: set[int] = field(default_factory=set)
    byes: int = 0
    forfeit_wins: int = 0

    @property
    def balance(self) -> int:
        """How many times more it has had the first seat than the second."""
        return self.colours.count(WHITE) - self.colours.count(BLACK)

    @property
    def due(self) -> str | None:
        """The colour that it ought to have next; None before its first match."""
        if not self.colours:
            return None
        if self.balance:
            return BLACK if self.balance > 0 else WHITE
        return BLACK if self.colours[-1] == WHITE else WHITE

    @property
    def strength(self) -> int:
        """How much it ought to have that: 3 absolutely, or one seat would come three times in a row or more often."""
        if abs(self.balance) > 1 or self.colours[-2:] in ([WHITE, WHITE], [BLACK, BLACK]):
            return 3
        return 2 if self.balance else int(bool(self.colours))


@dataclass(frozen=True)
class Demands:
    """What a round has to be like, beside that nobody meets anybody twice nor has two byes."""

    colours: bool
    forfeits: bool
    """Whether who has won by forfeit may not have a bye."""


RELAXED = (Demands(True, True), Demands(False, True), Demands(False, False))
"""Small fields run out of pairs that satisfy all; rather than end, a tournament gives up on these one by one."""


def pair(t: Tournament, rounds: int) -> tuple[tuple[int, int | None], ...] | None:
    """The next of so many ``rounds``; None where those who are left cannot all be paired any more."""
    records = {team: record for team, record in enumerate(records_of(t)) if not t.has_withdrawn(team)}
    if len(records) < 2:
        return None
    is_last = len(t.rounds) + 1 >= rounds
    for demands in RELAXED:
        if can_be_paired(records, demands, len(t.rounds), is_last=is_last):
            pairs = _paired(records, demands, len(t.rounds) + 1, rounds)
            if is_sound(records, pairs):
                return pairs
    return None


def records_of(t: Tournament) -> list[Record]:
    """What each team has played, by number."""
    records = [Record() for _team in t.teams]
    for matches in t.rounds:
        before = [record.score for record in records]
        for match in matches:
            for at, team in enumerate(match.teams):
                _add(records[team], match, team, at, before)
    return records


def _add(record: Record, match: Match, team: int, at: int, before: Sequence[Fraction]) -> None:
    """A match of a team, which is the match's first (``at`` is 0) or second; scores are those ``before`` the round."""
    points = earned(match, team)
    record.score += points
    if match.is_bye:
        record.byes += 1
        record.floats.append("down")
        return
    other = match.teams[1 - at]
    record.met.add(other)
    if was_played(match):
        record.colours.append((WHITE, BLACK)[at])
        difference = before[team] - before[other]
        record.floats.append("down" if difference > 0 else "up" if difference < 0 else "none")
    else:
        record.forfeit_wins += points == 1
        record.floats.append("down" if points else "none")


def can_be_paired(records: dict[int, Record], demands: Demands, played: int, *, is_last: bool) -> bool:
    """Whether all of them can be paired at once, after so many rounds ``played``."""
    graph = networkx.Graph()
    graph.add_edges_from(_possible(records, demands, played, is_last=is_last))
    return 2 * len(networkx.max_weight_matching(graph, maxcardinality=True)) == len(records) + len(records) % 2


def _possible(records: dict[int, Record], demands: Demands, played: int, *, is_last: bool) -> Iterator[tuple[int, int]]:
    """Who may meet whom, or nobody."""
    for (one, ours), (other, theirs) in combinations(records.items(), 2):
        if other in ours.met:
            continue
        is_clash = ours.due == theirs.due and min(ours.strength, theirs.strength) == 3
        # In the last round those who lead, with more than half of all points, need not mind.
        leads = is_last and max(ours.score, theirs.score) > Fraction(played, 2)
        if leads or not (demands.colours and is_clash):
            yield one, other
    if len(records) % 2:
        for team, record in records.items():
            if not record.byes and not (demands.forfeits and record.forfeit_wins):
                yield team, NOBODY


def is_sound(records: dict[int, Record], pairs: Iterable[tuple[int, int | None]]) -> bool:
    """Whether everybody is paired once, with somebody new or for a first bye."""
    paired = [team for pair in pairs for team in pair if team is not None]
    byes = [one for one, other in pairs if other is None]
    return (
        sorted(paired) == sorted(records)
        and len(byes) == len(records) % 2
        and not any(records[team].byes for team in byes)
        and not any(other in records[one].met for one, other in pairs)
    )


def _paired(
    records: dict[int, Record], demands: Demands, number: int, rounds: int
) -> tuple[tuple[int, int | None], ...]:
    """The library's pairs for a round, each with the first seat first. The library counts from 1."""
    players: list[dict[str, Any]] = [
        {
            "id": team + 1,
            "name": "",
            "score": float(record.score),
            "rating": 0,
            "starting_number": team + 1,
            "pairing_number": team + 1,
            "color_hist": record.colours if demands.colours else [],
            "float_history": record.floats,
            "bye_count": record.byes,
            "forfeit_win_count": record.forfeit_wins if demands.forfeits else 0,
        }
        for team, record in records.items()
    ]
    met = {(one + 1, other + 1) for one, record in records.items() for other in record.met if one < other}
    found = [
        (one["white_id"] - 1, None if one["black_id"] is None else one["black_id"] - 1)
        for one in generate_pairings("dutch", players, met, number, rounds)
    ]
    return tuple((one, None) if other is None else seated(records, one, other) for one, other in found)


def seated(records: dict[int, Record], one: int, other: int) -> tuple[int, int]:
    """Two that meet, with who has the first seat before the other: C.04.3, article 5.2.

    The library's own choice forgets that who has the higher score is ranked higher, whatever the number.
    """
    higher, lower = sorted((one, other), key=lambda team: (-records[team].score, team))
    is_first = _has_first_seat(records[higher], records[lower], is_odd=higher % 2 == 0)
    return (higher, lower) if is_first else (lower, higher)


def _has_first_seat(high: Record, low: Record, *, is_odd: bool) -> bool:
    """Whether the higher ranked of two has the first seat, whose number ``is_odd`` as the rules count, from 1."""
    if high.due and low.due and high.due != low.due:
        return high.due == WHITE
    for ours, theirs in ((high.strength, low.strength), (abs(high.balance), abs(low.balance))):
        if ours != theirs:
            return high.due == WHITE if ours > theirs else low.due == BLACK
    for colour, opposite in zip(reversed(high.colours), reversed(low.colours), strict=False):
        if colour != opposite:
            return colour == BLACK
    return high.due == WHITE if high.due else is_odd
