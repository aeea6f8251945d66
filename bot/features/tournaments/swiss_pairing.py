"""FIDE's Dutch system, C.04.3 as of February 2026: the pairs of one round.

Score groups are paired from the top, bracket by bracket. The criteria C1 to C21 (article 2) rank the candidates for a
bracket. Candidates that are equal by all criteria are ranked by the order in which article 4 generates them.

FIDE leaves the method open. Here the pairs of a bracket come from a perfect matching of all unpaired teams, as C4
requires. Its edges are the pairs that C1 to C3 allow, and it has the least cost. The cost of an edge has a figure for
each further criterion. Earlier figures outweigh all later ones: they are the digits of one large number.

`tests/bot/features/tournaments/sieve.py` lists all pairings instead, and must find the same one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import networkx

from bot.features.tournaments.team_record import BLACK, STRONG, WHITE, TeamRecord, order_seats

NOBODY = -1
"""The opponent of the team that has a bye."""

DIGIT = 1 << 20
"""Base of the digits. The sum of any figure over all pairs of a round stays below half of it."""

Edge = tuple[int, int]  # two teams that can meet, the higher ranked first; or a team that can get the bye, and `NOBODY`


def pair_round(records: Mapping[int, TeamRecord], edges: Iterable[Edge]) -> list[Edge]:
    """Return the best pairs, each with the higher ranked team first.

    ``records`` are the teams to pair, by number. ``edges`` are the pairs that C1 to C3 allow, in any order. A perfect
    matching of these must exist.
    """
    ranking = sorted(records, key=lambda team: (-records[team].score, team))
    rank = {team: number for number, team in enumerate([*ranking, NOBODY])}
    ordered_edges = {(team, opponent) if rank[team] < rank[opponent] else (opponent, team) for team, opponent in edges}
    remaining_edges = _with_lowest_bye(records, ordered_edges)
    pairs: list[Edge] = []
    moved_down: tuple[int, ...] = ()
    scores = sorted({record.score for record in records.values()}, reverse=True)
    for number, score in enumerate(scores):
        residents = tuple(team for team in ranking if records[team].score == score)
        following = scores[number + 1 : number + 2]
        below = frozenset(team for team in ranking if records[team].score in following)
        bracket_pairs = _Bracket(records, moved_down, residents, below, remaining_edges).pairs()
        pairs += bracket_pairs
        paired_teams = {team for pair in bracket_pairs for team in pair}
        remaining_edges = {edge for edge in remaining_edges if paired_teams.isdisjoint(edge)}
        moved_down = tuple(team for team in (*moved_down, *residents) if team not in paired_teams)
    return pairs + [(team, NOBODY) for team in moved_down]


def _with_lowest_bye(records: Mapping[int, TeamRecord], edges: set[Edge]) -> set[Edge]:
    """Keep only the byes of the lowest score with which all other teams can be paired (C5)."""
    if len(records) % 2 == 0:
        return edges
    scores = sorted({record.score for record in records.values()})
    ranks = {edge: [scores.index(records[edge[0]].score) if edge[1] == NOBODY else 0] for edge in edges}
    [lowest] = [records[one].score for one, other in _match(ranks) if other == NOBODY]
    return {edge for edge in edges if edge[1] != NOBODY or records[edge[0]].score == lowest}


def _match(costs: Mapping[Edge, Sequence[int]]) -> set[Edge]:
    """Return the perfect matching with the least sum of figures. Sums are compared from the first figure on."""
    graph = networkx.Graph()
    for (one, other), digits in costs.items():
        total = 0
        for digit in digits:
            total = total * DIGIT + digit
        graph.add_edge(one, other, weight=-total)
    matching = networkx.max_weight_matching(graph, maxcardinality=True)
    return {pair if pair in costs else pair[::-1] for pair in matching}


@dataclass(frozen=True)
class _Bracket:
    """One bracket: teams ``moved_down`` from above (MDPs), its ``residents``, and the residents of the one ``below``.

    Teams are in the order of their rank. ``edges`` cover all unpaired teams.
    """

    records: Mapping[int, TeamRecord]
    moved_down: Sequence[int]
    residents: Sequence[int]
    below: frozenset[int]
    edges: set[Edge]

    def pairs(self) -> list[Edge]:
        decides_bye = self._decides_bye()
        criteria = {edge: self._criteria(edge, decides_bye=decides_bye) for edge in self.edges}
        matching = _match({edge: [*figures, *self._order_of_moved_down(edge)] for edge, figures in criteria.items()})
        pairs = [edge for edge in matching if self._is_pair(edge) and edge[0] in self.moved_down]
        paired_teams = {team for pair in pairs for team in pair}
        count = sum(map(self._is_pair, matching)) - len(pairs)
        if count:
            # The moved-down teams keep these opponents, or float again.
            remaining_edges = {
                edge: figures
                for edge, figures in criteria.items()
                if paired_teams.isdisjoint(edge) and not (self._is_pair(edge) and edge[0] in self.moved_down)
            }
            pairs += _pair_homogeneous(
                [team for team in self.residents if team not in paired_teams], count, remaining_edges
            )
        return pairs

    @cached_property
    def _members(self) -> frozenset[int]:
        return frozenset((*self.moved_down, *self.residents))

    @cached_property
    def _scores(self) -> list[Fraction]:
        """The scores in this bracket and the one below, from the highest."""
        return sorted({self.records[team].score for team in (*self._members, *self.below)}, reverse=True)

    @cached_property
    def _differences(self) -> list[Fraction]:
        """All differences of scores for C18 to C21, from the largest."""
        own_score = self.records[self.residents[0]].score
        scores = [self.records[team].score for team in self.moved_down]
        return sorted(
            {score - other for score in scores for other in (*scores, own_score, own_score - 1)}, reverse=True
        )

    def _is_pair(self, edge: Edge) -> bool:
        return edge[0] in self._members and edge[1] in self._members

    def _floater(self, edge: Edge) -> int | None:
        """Return the team that leaves this bracket unpaired by an edge. It outranks those below."""
        return edge[0] if edge[0] in self._members and edge[1] not in self._members else None

    def _decides_bye(self) -> bool:
        """Return whether this bracket has a single floater that gets the bye. C9 applies to that floater."""
        candidates = {
            self._unplayed_rounds(one) for one, other in self.edges if other == NOBODY and one in self._members
        }
        if len(candidates) < 2:
            # There is no candidate, or all are equal.
            return False
        floaters = {edge: [int(self._floater(edge) is not None)] for edge in self.edges}
        return sum(floaters[edge][0] for edge in _match(floaters)) == 1

    def _unplayed_rounds(self, team: int) -> int:
        """Return the number of rounds that a team has not played."""
        return len(self.records[team].floats) - len(self.records[team].colours)

    def _criteria(self, edge: Edge, *, decides_bye: bool) -> list[int]:
        """Return what an edge adds to the failures of C6 to C21."""
        one, other = edge
        is_pair, floater = self._is_pair(edge), self._floater(edge)
        # The team that leaves the following bracket: a floater of this bracket, or a resident of the following one.
        floats_on = None if is_pair or other in self.below or one not in self._members | self.below else one
        return [
            *self._floats(floater),  # C6 and C7
            *self._floats(floats_on),  # C8
            self._unplayed_rounds(one) if decides_bye and floater is not None else 0,  # C9
            *(self._colours(one, other) if is_pair else (0, 0, 0, 0)),  # C10 to C13
            *self._repeated_floats(edge, 1),  # C14 and C15
            *self._repeated_floats(edge, 2),  # C16 and C17
            *self._repeated_differences(edge, 1),  # C18 and C19
            *self._repeated_differences(edge, 2),  # C20 and C21
        ]

    def _floats(self, floater: int | None) -> list[int]:
        """Return 1 for a floater, then a figure for each score from the highest: 1 for the floater's score."""
        if floater is None:
            return [0] * (1 + len(self._scores))
        return [1, *(int(self.records[floater].score == score) for score in self._scores)]

    def _colours(self, one: int, other: int) -> list[int]:
        """Count a pair's failures of C10 to C13.

        They are a difference of seats above 2, the same seat three times in a row, a seat that is not due, and a seat
        against a strong due seat.
        """
        figures = [0, 0, 0, 0]
        for team, colour in zip(order_seats(self.records, one, other), (WHITE, BLACK), strict=True):
            record = self.records[team]
            after = replace(record, colours=[*record.colours, colour])
            is_refused = record.due not in (None, colour)
            figures[0] += abs(after.balance) > 2
            figures[1] += after.colours[-3:] == [colour] * 3
            figures[2] += is_refused
            figures[3] += is_refused and record.strength == STRONG
        return figures

    def _has_floated(self, team: int, back: int, direction: str) -> bool:
        floats = self.records[team].floats
        return len(floats) >= back and floats[-back] == direction

    def _repeated_floats(self, edge: Edge, back: int) -> tuple[int, int]:
        """Count the floats of ``back`` rounds ago that an edge repeats.

        Downfloats count for residents, upfloats for opponents.
        """
        one, other = edge
        is_again_down = self._floater(edge) in self.residents and self._has_floated(one, back, "down")
        is_again_up = self._is_pair(edge) and one in self.moved_down and self._has_floated(other, back, "up")
        return int(is_again_down), int(is_again_up)

    def _repeated_differences(self, edge: Edge, back: int) -> list[int]:
        """Return figures for the floats of ``back`` rounds ago that an edge repeats, by difference of scores.

        The downfloats of moved-down teams come first, then the upfloats of their opponents.
        """
        one, other = edge
        down = up = None
        if one in self.moved_down:
            score, is_pair = self.records[one].score, self._is_pair(edge)
            # FIDE's commentary: a team that floats again has a larger difference than one that is paired.
            lower = self.records[other].score if is_pair else self.records[self.residents[0]].score - 1
            down = score - lower if self._has_floated(one, back, "down") else None
            up = score - lower if is_pair and self._has_floated(other, back, "up") else None
        return [int(value == difference) for value in (down, up) for difference in self._differences]

    def _order_of_moved_down(self, edge: Edge) -> list[int]:
        """Return figures for the order of candidates: the paired moved-down teams (4.4) and their opponents (4.2)."""
        one, other = edge
        is_pair = self._is_pair(edge)
        opponent = self.residents.index(other) + 1 if is_pair and other in self.residents else 0
        unpaired_figures = [int(one == team and not is_pair) for team in self.moved_down]
        return [*unpaired_figures, *(opponent if one == team else 0 for team in self.moved_down)]


def _pair_homogeneous(teams: Sequence[int], count: int, criteria: Mapping[Edge, Sequence[int]]) -> list[Edge]:
    """Return the best ``count`` pairs of a homogeneous bracket or a remainder.

    S1 holds the higher ranked team of each pair. The first of several equal candidates wins. They are ordered by
    exchanges between S1 and S2 (4.3), then by transpositions of S2 (4.2).
    """
    number = {team: index for index, team in enumerate(teams, 1)}

    def upper(edge: Edge) -> int:
        """Return the number of the pair's team in S1, or 0 if the edge does not pair these teams."""
        return number[edge[0]] if edge[0] in number and edge[1] in number else 0

    def exchanges(edge: Edge) -> list[int]:
        team = upper(edge)
        leaving_figures = [int(team == other) for other in range(count, 0, -1)]
        entering_figures = [-int(team == other) for other in range(count + 1, len(teams) + 1)]
        return [int(team > count), team, *leaving_figures, *entering_figures]

    def transpositions(edge: Edge, s1: Iterable[int]) -> list[int]:
        return [number[edge[1]] if upper(edge) == team else 0 for team in s1]

    original = range(1, count + 1)
    matching = _match(
        {edge: [*row, *exchanges(edge), *transpositions(edge, original)] for edge, row in criteria.items()}
    )
    s1 = sorted(filter(None, map(upper, matching)))
    if s1 != list(original):
        matching = _match(
            {
                edge: [*row, *transpositions(edge, s1)]
                for edge, row in criteria.items()
                if not upper(edge) or (upper(edge) in s1 and number[edge[1]] not in s1)
            }
        )
    return [edge for edge in matching if upper(edge)]
