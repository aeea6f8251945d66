"""Swiss rounds: the teams' records, the pairs that can meet, and the relaxation of rules in small fields.

`bot.features.tournaments.swiss_pairing` chooses the pairs. It needs networkx, so `bot.features.tournaments.rounds`
imports this module only to pair a round.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import networkx

from bot.features.tournaments.swiss_pairing import NOBODY, pair_round
from bot.features.tournaments.team_record import ABSOLUTE, BLACK, WHITE, TeamRecord, order_seats
from bot.features.tournaments.tournament import Match, Tournament


@dataclass(frozen=True)
class Demands:
    """Absolute rules that can be given up. Two others always apply: teams never meet twice or have two byes."""

    colours: bool  # two teams to which the same seat is absolutely due do not meet (C3)
    forfeits: bool  # a team that has won by forfeit does not get the bye (part of C2)


# Small fields run out of pairs that satisfy all rules. Rules are then given up in this order.
RELAXED = (Demands(True, True), Demands(False, True), Demands(False, False))


def pair_next_round(tournament: Tournament, rounds: int) -> tuple[tuple[int, int | None], ...] | None:
    """Pair the next of ``rounds`` rounds; None if the remaining teams cannot all be paired."""
    records = {team: record for team, record in enumerate(records_of(tournament)) if not tournament.has_withdrawn(team)}
    if len(records) < 2:
        return None
    is_last = len(tournament.rounds) + 1 >= rounds
    for demands in RELAXED:
        if can_be_paired(records, demands, len(tournament.rounds), is_last=is_last):
            edges = possible_pairs(records, demands, len(tournament.rounds), is_last=is_last)
            return _order_pairs(records, pair_round(records, edges))
    return None


def records_of(tournament: Tournament) -> list[TeamRecord]:
    records = [TeamRecord() for _team in tournament.teams]
    for matches in tournament.rounds:
        earlier_scores = [record.score for record in records]
        for match in matches:
            for side, team in enumerate(match.teams):
                _add_match(records[team], match, team, side, earlier_scores)
    return records


def _add_match(record: TeamRecord, match: Match, team: int, side: int, earlier_scores: Sequence[Fraction]) -> None:
    """Add a match to a team's record. ``side`` is 0 for the match's first team."""
    points = match.score(team)
    record.score += points
    if match.is_bye:
        record.byes += 1
        record.floats.append("down")
        return
    other = match.teams[1 - side]
    record.met.add(other)
    if match.was_played:
        record.colours.append((WHITE, BLACK)[side])
        difference = earlier_scores[team] - earlier_scores[other]
        record.floats.append("down" if difference > 0 else "up" if difference < 0 else "none")
    else:
        record.forfeit_wins += points == 1
        record.floats.append("down" if points else "none")


def can_be_paired(records: dict[int, TeamRecord], demands: Demands, played: int, *, is_last: bool) -> bool:
    """Return whether all teams can be paired in one round, after ``played`` rounds."""
    graph = networkx.Graph()
    graph.add_edges_from(possible_pairs(records, demands, played, is_last=is_last))
    return 2 * len(networkx.max_weight_matching(graph, maxcardinality=True)) == len(records) + len(records) % 2


def possible_pairs(
    records: dict[int, TeamRecord], demands: Demands, played: int, *, is_last: bool
) -> Iterator[tuple[int, int]]:
    """Yield the pairs that C1 to C3 allow, and the teams that can have the bye, each with `NOBODY`."""
    for (first, first_record), (opponent, opponent_record) in combinations(records.items(), 2):
        if opponent in first_record.met:
            continue
        is_clash = (
            first_record.due == opponent_record.due and min(first_record.strength, opponent_record.strength) == ABSOLUTE
        )
        # In the last round, C3 does not bind topscorers, who have more than half of all points (1.8).
        leads = is_last and max(first_record.score, opponent_record.score) > Fraction(played, 2)
        if leads or not (demands.colours and is_clash):
            yield first, opponent
    if len(records) % 2:
        for team, record in records.items():
            if not record.byes and not (demands.forfeits and record.forfeit_wins):
                yield team, NOBODY


def _order_pairs(
    records: Mapping[int, TeamRecord], pairs: Iterable[tuple[int, int]]
) -> tuple[tuple[int, int | None], ...]:
    """Return pairs in a round's order: the first seat first, the best pairs first, the bye last."""

    def order(pair: tuple[int, int]) -> tuple[bool, Fraction, Fraction, int]:
        first, second = pair
        is_bye = second == NOBODY
        return is_bye, -records[first].score, Fraction(0) if is_bye else -records[second].score, first

    ordered_pairs = sorted(pairs, key=order)
    return tuple(
        (first, None) if second == NOBODY else order_seats(records, first, second) for first, second in ordered_pairs
    )
