"""Who plays with whom, among people who look for an opponent: a pure function of those who wait and of the time.

The rule:

- Two people fit if both want some game, neither has blocked the other, and the bounds of whoever has waited longer
  allow it. So nobody who has waited for long has to wait until a newcomer's bounds widen, too.
- The bound on ratings is `RATING_BOUND` points at first, and `RATING_PER_SECOND` more each second; after
  `ANY_RATING_SECONDS` there is none. Another language is fine after `ANY_LANGUAGE_SECONDS`.
- Whoever has waited longest chooses first: somebody of the same language before others, then whoever is nearest by
  rating, then whoever has waited longest. Then the next of those who are left, and so on.
- They play the first game on the list of whoever chose that is on the other's list, too.

No two who are left over fit each other.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

RATING_BOUND = 150
RATING_PER_SECOND = 15
ANY_RATING_SECONDS = 60.0
ANY_LANGUAGE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """A person who looks for an opponent.

    ``since`` is Unix seconds; ``games`` are the ids of those that the person would play, the dearest first; ``rating``
    is the one that is shown; ``blocked`` are the people whom this person does not want to meet.
    """

    person: str
    since: float
    games: tuple[str, ...]
    language: str
    rating: int
    blocked: frozenset[str] = frozenset()


class Match(NamedTuple):
    """Two people who may play: ``first`` has waited longer."""

    first: Waiting
    second: Waiting
    game: str


_Rank = tuple[int, float, str]
"""A rating, seconds since and a person: what a list of people is sorted by."""


class _Pool(NamedTuple):
    """Those who want the same games and speak the same language, twice: by rating, and by its negative."""

    rising: list[_Rank]
    falling: list[_Rank]

    def remove(self, one: Waiting) -> None:
        for ranks, sign in ((self.rising, 1), (self.falling, -1)):
            del ranks[bisect_left(ranks, (sign * one.rating, one.since, one.person))]


def rating_bound(waited: float) -> float:
    """How far apart ratings may be for somebody who has waited so many seconds."""
    return inf if waited >= ANY_RATING_SECONDS else RATING_BOUND + RATING_PER_SECOND * max(waited, 0.0)


def fit(one: Waiting, other: Waiting, now: float) -> bool:
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


def common_game(dearest: Sequence[str], others: Collection[str]) -> str | None:
    """The first game of one list that is on the other."""
    return next((game for game in dearest if game in others), None)


def match(waiting: Collection[Waiting], now: float) -> list[Match]:
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
        other = _choose(one, pools, people, now)
        if other:
            taken.add(other.person)
            pools[other.games, other.language].remove(other)
            game = common_game(one.games, other.games)
            assert game is not None
            matches.append(Match(one, other, game))
    return matches


def _choose(
    one: Waiting, pools: Mapping[tuple[tuple[str, ...], str], _Pool], people: Mapping[str, Waiting], now: float
) -> Waiting | None:
    waited = now - one.since
    for same_language in (True, False):
        if not same_language and waited < ANY_LANGUAGE_SECONDS:
            break
        found = [
            rank
            for (games, language), pool in pools.items()
            if (language == one.language) == same_language and common_game(one.games, games)
            for rank in _nearest(one, pool, people, now)
        ]
        if found:
            return people[min(found)[-1]]
    return None


def _nearest(one: Waiting, pool: _Pool, people: Mapping[str, Waiting], now: float) -> Iterator[_Rank]:
    """Who fits best of those with at least the same rating, and of those with less: rank, by distance."""
    bound = rating_bound(now - one.since)
    for ranks, rating, start in (
        (pool.rising, one.rating, one.rating),
        (pool.falling, -one.rating, -one.rating + 1),
    ):
        for place in range(bisect_left(ranks, (start,)), len(ranks)):
            signed, since, person = ranks[place]
            if signed - rating > bound:
                break
            if fit(one, people[person], now):
                yield signed - rating, since, person
                break
