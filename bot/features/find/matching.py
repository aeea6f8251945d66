"""Who plays with whom, among people who look for an opponent: a pure function of those who wait and of the time.

The rule:

- Two people fit if both want some game, neither has blocked the other, and the bounds of whoever has waited longer
  allow it. So nobody who has waited for long has to wait until a newcomer's bounds widen, too.
- The bound on ratings is `RATING_BOUND` points at first, and `RATING_PER_SECOND` more each second; after
  `ANY_RATING_SECONDS` there is none. Another language is fine after `ANY_LANGUAGE_SECONDS`.
- Whoever has waited longest chooses first: somebody of the same language before others, then whoever is nearest by
  rating, then whoever has waited longest. Then the next of those who are left, and so on.
- They play the first game on the list of whoever chose that is on the others' lists, too.
- At a game for four each of the four fits each other. Whoever chooses takes the best three of the `MOST_CONSIDERED`
  best, all of whom fit. If there are not so many, those who want robots in the other chairs by now play with them, from
  two people on.

No two who are left over fit each other at a game for two, nor any four among whom nobody has more than
`MOST_CONSIDERED` to choose from.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import combinations, islice
from math import inf
from typing import NamedTuple

from engine import GAMES

RATING_BOUND = 150
RATING_PER_SECOND = 15
ANY_RATING_SECONDS = 60.0
ANY_LANGUAGE_SECONDS = 20.0
MOST_CONSIDERED = 8
"""How many are considered for the chairs beside whoever chooses, at a game for four."""


@dataclass(frozen=True, slots=True)
class Searcher:
    """A person who looks for opponents.

    ``since`` is Unix seconds; ``games`` are the ids of those that the person would play, the dearest first, all for as
    many players; ``rating`` is the one that is shown; ``blocked`` are the people whom this person does not want to
    meet. After ``robots_after`` seconds robots may take the chairs for which there is nobody.
    """

    person: str
    since: float
    games: tuple[str, ...]
    language: str
    rating: int
    blocked: frozenset[str] = frozenset()
    robots_after: float = inf

    @property
    def seats(self) -> int:
        """How many play the games that the person would play."""
        return GAMES[self.games[0]].seats

    def takes_robots(self, now: float) -> bool:
        """Whether robots may take the chairs for which there is nobody, at ``now``, Unix seconds."""
        return now - self.since >= self.robots_after


class Match(NamedTuple):
    """People who may play: the first has waited longest. At a game for four robots take the chairs that are left."""

    people: tuple[Searcher, ...]
    game: str


_Rank = tuple[int, float, str]
"""A rating, seconds since and a person: what a list of people is sorted by."""


class _Pool(NamedTuple):
    """Those who want the same games and speak the same language, twice: by rating, and by its negative."""

    rising: list[_Rank]
    falling: list[_Rank]

    def remove(self, one: Searcher) -> None:
        for ranks, sign in ((self.rising, 1), (self.falling, -1)):
            del ranks[bisect_left(ranks, (sign * one.rating, one.since, one.person))]


def rating_bound(waited: float) -> float:
    """How far apart ratings may be for somebody who has waited so many seconds."""
    return inf if waited >= ANY_RATING_SECONDS else RATING_BOUND + RATING_PER_SECOND * max(waited, 0.0)


def can_match(one: Searcher, other: Searcher, now: float) -> bool:
    """Whether these two may be matched at ``now``, Unix seconds."""
    waited = now - min(one.since, other.since)
    return (
        one.person != other.person
        and common_game(one.games, other.games) is not None
        and other.person not in one.blocked
        and one.person not in other.blocked
        and (one.language == other.language or waited >= ANY_LANGUAGE_SECONDS)
        and abs(one.rating - other.rating) <= rating_bound(waited)
    )


def common_game(dearest: Sequence[str], *others: Collection[str]) -> str | None:
    """The first game of one list that is on the others, too."""
    return next((game for game in dearest if all(game in games for games in others)), None)


def find_matches(waiting: Collection[Searcher], now: float) -> list[Match]:
    """Everybody who can be matched at ``now``, Unix seconds, in the order in which they choose.

    Each person may be there once.
    """
    people = {one.person: one for one in waiting}
    pools: dict[tuple[tuple[str, ...], str], _Pool] = {}
    for one in waiting:
        pool = pools.setdefault((one.games, one.language), _Pool([], []))
        pool.rising.append((one.rating, one.since, one.person))
        pool.falling.append((-one.rating, one.since, one.person))
    for pool in pools.values():
        pool.rising.sort()
        pool.falling.sort()
    taken: set[str] = set()
    matches = []
    for one in sorted(waiting, key=lambda one: (one.since, one.person)):
        if one.person in taken:
            continue
        # Found by nobody who chose before, and if this one finds nobody either, nobody who chooses later fits.
        pools[one.games, one.language].remove(one)
        choose = _choose_opponent if one.seats == 2 else _choose_group
        others = choose(one, _candidates(one, pools, people, now), now)
        if not others:
            continue
        for other in others:
            taken.add(other.person)
            pools[other.games, other.language].remove(other)
        game = common_game(one.games, *(other.games for other in others))
        assert game is not None
        matches.append(Match((one, *others), game))
    return matches


def _choose_opponent(_one: Searcher, candidates: Iterator[Searcher], _now: float) -> tuple[Searcher, ...]:
    return tuple(islice(candidates, 1))


def _choose_group(one: Searcher, candidates: Iterator[Searcher], now: float) -> tuple[Searcher, ...]:
    """Who plays with somebody at a game for more than two; nobody where there are not enough."""
    considered = list(islice(candidates, MOST_CONSIDERED))
    wanted = one.seats - 1
    if found := _find_group(one, considered, wanted, now):
        return found
    if not one.takes_robots(now):
        return ()
    considered = [other for other in considered if other.takes_robots(now)]
    return next(filter(None, (_find_group(one, considered, few, now) for few in range(wanted - 1, 0, -1))), ())


def _find_group(one: Searcher, others: list[Searcher], number: int, now: float) -> tuple[Searcher, ...]:
    """The best so many of those who fit somebody, who fit each other as well; none if there are not so many."""
    for some in combinations(others, number):
        if all(can_match(*two, now) for two in combinations(some, 2)) and common_game(
            one.games, *(o.games for o in some)
        ):
            return some
    return ()


def _candidates(
    one: Searcher, pools: Mapping[tuple[tuple[str, ...], str], _Pool], people: Mapping[str, Searcher], now: float
) -> Iterator[Searcher]:
    """Who fits somebody, the best first."""
    for same_language in (True, False):
        if not same_language and now - one.since < ANY_LANGUAGE_SECONDS:
            break
        ranked = [
            fitting
            for (games, language), pool in pools.items()
            if (language == one.language) == same_language and common_game(one.games, games)
            for fitting in _by_distance(one, pool, people, now)
        ]
        yield from (people[person] for _distance, _since, person in merge(*ranked))


def _by_distance(
    one: Searcher, pool: _Pool, people: Mapping[str, Searcher], now: float
) -> tuple[Iterator[_Rank], Iterator[_Rank]]:
    """Those of a pool who fit, with at least the same rating, and with less: rank, by distance."""
    bound = rating_bound(now - one.since)

    def up(ranks: list[_Rank], rating: int, start: int) -> Iterator[_Rank]:
        for place in range(bisect_left(ranks, (start,)), len(ranks)):
            signed, since, person = ranks[place]
            if signed - rating > bound:
                return
            if can_match(one, people[person], now):
                yield signed - rating, since, person

    return up(pool.rising, one.rating, one.rating), up(pool.falling, -one.rating, -one.rating + 1)
