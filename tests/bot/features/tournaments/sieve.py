"""FIDE's criteria for Swiss pairs (C.04.3 as of February 2026), checked one by one on finished pairings.

`sieve` lists all pairings and keeps the best, bracket by bracket and criterion by criterion. `explain` names the criterion
that makes one pairing better than another. Both share no code with `bot.features.tournaments.dutch`, except the choice of
the first seat.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bot.features.tournaments.dutch import NOBODY
from bot.features.tournaments.team_record import TeamRecord, order_seats

Pairing = tuple[tuple[int, int], ...]
"""Pairs in any order, with the higher ranked team first. A team with a bye is paired with `NOBODY`."""

Records = Mapping[int, TeamRecord]


def normalize_pairing(records: Records, pairs: Iterable[tuple[int, int | None]]) -> Pairing:
    """Return a pairing from pairs in seat order."""
    pairing = []
    for one, other in pairs:
        if other is None:
            pairing.append((one, NOBODY))
        else:
            higher, lower = sorted((one, other), key=lambda team: (-records[team].score, team))
            pairing.append((higher, lower))
    return tuple(sorted(pairing))


def generate_pairings(teams: Sequence[int], allowed: set[frozenset[int]]) -> Iterator[Pairing]:
    """Yield all complete pairings of teams in rank order. An odd number of teams ends with `NOBODY`."""
    if not teams:
        yield ()
        return
    one, *others = teams
    for other in others:
        if frozenset((one, other)) in allowed:
            for rest in generate_pairings([team for team in others if team != other], allowed):
                yield ((one, other), *rest)


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
    opponent = {one: other for pair in pairing for one, other in (pair, pair[::-1])}
    ranking = sorted(records, key=lambda team: (-records[team].score, team))
    found, moved_down = [], list[int]()
    for score in sorted({record.score for record in records.values()}, reverse=True):
        residents = [team for team in ranking if records[team].score == score]
        teams = moved_down + residents
        pairs = [
            (one, opponent[one])
            for one in teams
            if opponent[one] in teams and teams.index(one) < teams.index(opponent[one])
        ]
        floaters = [team for team in teams if opponent[team] not in teams]
        found.append(Bracket(records, moved_down, residents, pairs, floaters, opponent.get(NOBODY)))
        moved_down = floaters
    return found


def descending(values: Iterable[Fraction]) -> list[Fraction]:
    return sorted(values, reverse=True)


def failures(bracket: Bracket, following: Bracket | None) -> list[tuple[str, object]]:
    """Return the failures of a bracket by criterion, from C6 on. Less is better."""
    records, own = bracket.records, bracket.records[bracket.residents[0]].score
    floated = {
        (team, back): record.floats[-back] if len(record.floats) >= back else "none"
        for team, record in records.items()
        for back in (1, 2)
    }
    floats_next = following.downfloaters if following else []
    found: list[tuple[str, object]] = [
        ("C6", len(bracket.downfloaters)),
        ("C7", descending(records[team].score for team in bracket.downfloaters)),
        ("C8", len(floats_next)),
        ("C8", descending(records[team].score for team in floats_next)),
    ]
    unplayed = 0
    if bracket.bye is not None and bracket.downfloaters == [bracket.bye]:
        unplayed = len(records[bracket.bye].floats) - len(records[bracket.bye].colours)
    found.append(("C9", unplayed))
    beyond, thrice, refused, strongly = 0, 0, 0, 0
    for pair in bracket.pairs:
        for team, colour in zip(order_seats(records, *pair), ("white", "black"), strict=True):
            colours = [*records[team].colours, colour]
            beyond += abs(colours.count("white") - colours.count("black")) > 2
            thrice += colours[-3:] == [colour] * 3
            refused += records[team].due not in (None, colour)
            strongly += records[team].due not in (None, colour) and records[team].strength == 2
    found += [("C10", beyond), ("C11", thrice), ("C12", refused), ("C13", strongly)]
    met = [pair for pair in bracket.pairs if pair[0] in bracket.moved_down]
    repeated = [team for team in bracket.downfloaters if team in bracket.residents]
    for name, back in (("C14", 1), ("C16", 2)):
        found.append((name, sum(floated[team, back] == "down" for team in repeated)))
        found.append((f"C{int(name[1:]) + 1}", sum(floated[other, back] == "up" for _one, other in met)))
    floats_on = [team for team in bracket.downfloaters if team in bracket.moved_down]
    for name, back in (("C18", 1), ("C20", 2)):
        paired = [records[one].score - records[other].score for one, other in met if floated[one, back] == "down"]
        # A team that floats again has a larger difference than with any resident.
        unpaired = [records[team].score - own + 1 for team in floats_on if floated[team, back] == "down"]
        found.append((name, descending([*paired, *unpaired])))
        upfloats = [records[one].score - records[other].score for one, other in met if floated[other, back] == "up"]
        found.append((f"C{int(name[1:]) + 1}", descending(upfloats)))
    return found


def generation_order(bracket: Bracket) -> list[tuple[str, object]]:
    """Return sort keys for the candidate order of article 4. Less is earlier."""
    opponent = dict(bracket.pairs)
    s1 = [team for team in bracket.moved_down if team in opponent]
    met = [bracket.residents.index(opponent[team]) for team in s1]
    rest = [team for team in bracket.residents if team not in {opponent[one] for one in s1}]
    upper = [number for number, team in enumerate(rest, 1) if team in opponent]
    comes = [number for number in upper if number > len(upper)]
    leaves = [number for number in range(len(upper), 0, -1) if number not in upper]
    return [
        ("4.4", [bracket.moved_down.index(team) for team in s1]),
        ("4.2", met),
        ("4.3", len(comes)),
        ("4.3", sum(comes) - sum(leaves)),
        ("4.3", [-number for number in leaves]),
        ("4.3", comes),
        ("4.2", [rest.index(opponent[rest[number - 1]]) for number in upper]),
    ]


def verdicts(records: Records, pairing: Pairing) -> list[tuple[str, object]]:
    """Return everything that decides between pairings, most important first."""
    bye = [records[one].score for one, other in pairing if other == NOBODY]
    found: list[tuple[str, object]] = [("C5", bye)]
    all_brackets = split_brackets(records, pairing)
    for bracket, following in zip(all_brackets, [*all_brackets[1:], None], strict=True):
        found += failures(bracket, following) + generation_order(bracket)
    return found


def sieve(records: Records, allowed: Iterable[tuple[int, int]]) -> Pairing | None:
    """Return the best pairing made of the allowed pairs, or None if there is no complete one."""
    ranking = sorted(records, key=lambda team: (-records[team].score, team))
    teams = ranking + [NOBODY] * (len(ranking) % 2)
    remaining = {
        pairing: verdicts(records, pairing)
        for pairing in generate_pairings(teams, {frozenset(pair) for pair in allowed})
    }
    if not remaining:
        return None
    index = 0
    while len(remaining) > 1:
        best = min(found[index][1] for found in remaining.values())  # type: ignore[type-var]
        remaining = {pairing: found for pairing, found in remaining.items() if found[index][1] == best}
        index += 1
    return tuple(sorted(remaining.popitem()[0]))


def explain(records: Records, better: Pairing, worse: Pairing) -> str:
    """Return the first criterion or article by which a pairing is better, or an empty string."""
    for (name, one), (_name, other) in zip(verdicts(records, better), verdicts(records, worse), strict=False):
        if one != other:
            return name if one < other else ""  # type: ignore[operator]
    return ""
