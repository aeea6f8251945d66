"""FIDE's criteria for Swiss pairs (C.04.3 as of February 2026), checked one by one on finished pairings.

`sieve` lists all pairings and keeps the best, bracket by bracket and criterion by criterion. `explain` names the
criterion that makes one pairing better than another. Both share no code with
`bot.features.tournaments.swiss_pairing`, except the choice of the first seat.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bot.features.tournaments.swiss_pairing import NOBODY
from bot.features.tournaments.team_record import TeamRecord, order_seats

Pairing = tuple[tuple[int, int], ...]
"""Pairs in any order, with the higher ranked team first. A team with a bye is paired with `NOBODY`."""

Records = Mapping[int, TeamRecord]


def normalize_pairing(records: Records, pairs: Iterable[tuple[int, int | None]]) -> Pairing:
    """Return a pairing from pairs in seat order."""
    pairing = []
    for first, second in pairs:
        if second is None:
            pairing.append((first, NOBODY))
        else:
            higher, lower = sorted((first, second), key=lambda team: (-records[team].score, team))
            pairing.append((higher, lower))
    return tuple(sorted(pairing))


def generate_pairings(teams: Sequence[int], allowed: set[frozenset[int]]) -> Iterator[Pairing]:
    """Yield all complete pairings of teams in rank order. An odd number of teams ends with `NOBODY`."""
    if not teams:
        yield ()
        return
    first, *opponents = teams
    for opponent in opponents:
        if frozenset((first, opponent)) in allowed:
            for rest in generate_pairings([team for team in opponents if team != opponent], allowed):
                yield ((first, opponent), *rest)


@dataclass(frozen=True)
class Bracket:
    records: Records
    moved_down: list[int]
    residents: list[int]
    pairs: list[tuple[int, int]]
    downfloaters: list[int]
    bye: int | None


def split_brackets(records: Records, pairing: Pairing) -> list[Bracket]:
    """Return the brackets of a pairing, highest score first."""
    opponent = {team: other for pair in pairing for team, other in (pair, pair[::-1])}
    ranking = sorted(records, key=lambda team: (-records[team].score, team))
    brackets, moved_down = [], list[int]()
    for score in sorted({record.score for record in records.values()}, reverse=True):
        residents = [team for team in ranking if records[team].score == score]
        teams = moved_down + residents
        pairs = [
            (team, opponent[team])
            for team in teams
            if opponent[team] in teams and teams.index(team) < teams.index(opponent[team])
        ]
        floaters = [team for team in teams if opponent[team] not in teams]
        brackets.append(Bracket(records, moved_down, residents, pairs, floaters, opponent.get(NOBODY)))
        moved_down = floaters
    return brackets


def sort_descending(values: Iterable[Fraction]) -> list[Fraction]:
    return sorted(values, reverse=True)


def list_failures(bracket: Bracket, following: Bracket | None) -> list[tuple[str, object]]:
    """Return the failures of a bracket by criterion, from C6 on. Less is better."""
    records, own = bracket.records, bracket.records[bracket.residents[0]].score
    floated = {
        (team, rounds_ago): record.floats[-rounds_ago] if len(record.floats) >= rounds_ago else "none"
        for team, record in records.items()
        for rounds_ago in (1, 2)
    }
    floats_next = following.downfloaters if following else []
    results: list[tuple[str, object]] = [
        ("C6", len(bracket.downfloaters)),
        ("C7", sort_descending(records[team].score for team in bracket.downfloaters)),
        ("C8", len(floats_next)),
        ("C8", sort_descending(records[team].score for team in floats_next)),
    ]
    unplayed = 0
    if bracket.bye is not None and bracket.downfloaters == [bracket.bye]:
        unplayed = len(records[bracket.bye].floats) - len(records[bracket.bye].colours)
    results.append(("C9", unplayed))
    beyond, thrice, refusals, strongly = 0, 0, 0, 0
    for pair in bracket.pairs:
        for team, colour in zip(order_seats(records, *pair), ("white", "black"), strict=True):
            colours = [*records[team].colours, colour]
            beyond += abs(colours.count("white") - colours.count("black")) > 2
            thrice += colours[-3:] == [colour] * 3
            refusals += records[team].due not in (None, colour)
            strongly += records[team].due not in (None, colour) and records[team].strength == 2
    results += [("C10", beyond), ("C11", thrice), ("C12", refusals), ("C13", strongly)]
    met = [pair for pair in bracket.pairs if pair[0] in bracket.moved_down]
    repeated = [team for team in bracket.downfloaters if team in bracket.residents]
    for name, rounds_ago in (("C14", 1), ("C16", 2)):
        results.append((name, sum(floated[team, rounds_ago] == "down" for team in repeated)))
        results.append((f"C{int(name[1:]) + 1}", sum(floated[lower, rounds_ago] == "up" for _higher, lower in met)))
    floats_on = [team for team in bracket.downfloaters if team in bracket.moved_down]
    for name, rounds_ago in (("C18", 1), ("C20", 2)):
        paired = [
            records[higher].score - records[lower].score
            for higher, lower in met
            if floated[higher, rounds_ago] == "down"
        ]
        # A team that floats again has a larger difference than with any resident.
        unpaired = [records[team].score - own + 1 for team in floats_on if floated[team, rounds_ago] == "down"]
        results.append((name, sort_descending([*paired, *unpaired])))
        upfloats = [
            records[higher].score - records[lower].score for higher, lower in met if floated[lower, rounds_ago] == "up"
        ]
        results.append((f"C{int(name[1:]) + 1}", sort_descending(upfloats)))
    return results


def generation_order(bracket: Bracket) -> list[tuple[str, object]]:
    """Return sort keys for the candidate order of article 4. Less is earlier."""
    opponent = dict(bracket.pairs)
    s1 = [team for team in bracket.moved_down if team in opponent]
    met = [bracket.residents.index(opponent[team]) for team in s1]
    opponents = {opponent[team] for team in s1}
    without_opponents = [team for team in bracket.residents if team not in opponents]
    upper = [number for number, team in enumerate(without_opponents, 1) if team in opponent]
    comes = [number for number in upper if number > len(upper)]
    leaves = [number for number in range(len(upper), 0, -1) if number not in upper]
    return [
        ("4.4", [bracket.moved_down.index(team) for team in s1]),
        ("4.2", met),
        ("4.3", len(comes)),
        ("4.3", sum(comes) - sum(leaves)),
        ("4.3", [-number for number in leaves]),
        ("4.3", comes),
        ("4.2", [without_opponents.index(opponent[without_opponents[number - 1]]) for number in upper]),
    ]


def list_criteria(records: Records, pairing: Pairing) -> list[tuple[str, object]]:
    """Return everything that decides between pairings, most important first."""
    bye = [records[team].score for team, opponent in pairing if opponent == NOBODY]
    criteria: list[tuple[str, object]] = [("C5", bye)]
    all_brackets = split_brackets(records, pairing)
    for bracket, following in zip(all_brackets, [*all_brackets[1:], None], strict=True):
        criteria += list_failures(bracket, following) + generation_order(bracket)
    return criteria


def sieve(records: Records, allowed: Iterable[tuple[int, int]]) -> Pairing | None:
    """Return the best pairing made of the allowed pairs, or None if there is no complete one."""
    ranking = sorted(records, key=lambda team: (-records[team].score, team))
    teams = ranking + [NOBODY] * (len(ranking) % 2)
    remaining = {
        pairing: list_criteria(records, pairing)
        for pairing in generate_pairings(teams, {frozenset(pair) for pair in allowed})
    }
    if not remaining:
        return None
    index = 0
    while len(remaining) > 1:
        best = min(criteria[index][1] for criteria in remaining.values())  # type: ignore[type-var]
        remaining = {pairing: criteria for pairing, criteria in remaining.items() if criteria[index][1] == best}
        index += 1
    return tuple(sorted(remaining.popitem()[0]))


def explain(records: Records, better: Pairing, worse: Pairing) -> str:
    """Return the first criterion or article by which a pairing is better, or an empty string."""
    for (name, value), (_name, other_value) in zip(
        list_criteria(records, better), list_criteria(records, worse), strict=False
    ):
        if value != other_value:
            return name if value < other_value else ""  # type: ignore[operator]
    return ""
