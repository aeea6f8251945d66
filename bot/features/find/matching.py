"""Matching of people who search for opponents: a pure function of the searchers and the time.

- Two people fit if they share a game, neither has blocked the other, and the bounds of the longer search allow it. The
  narrow bounds of a newcomer therefore do not delay a long search.
- Ratings can differ by `RATING_BOUND` points at first, and by `RATING_PER_SECOND` more each second. After
  `ANY_RATING_SECONDS` there is no bound. Other languages fit after `ANY_LANGUAGE_SECONDS`.
- The longest search chooses first: the same language before others, then the nearest rating, then the longest search.
  The next choice is made among the people left, and so on.
- They play the first game on the chooser's list that all others have on theirs.
- At a game for four, all four must fit each other. From the `MAX_CONSIDERED` best candidates, the chooser takes the
  best three who also fit each other. If there are too few, a group of two or three plays with robots, provided all of
  them accept robots by now.

Afterwards no two of the remaining people fit each other at a game for two. No four fit at a game for four, unless one
of them has more than `MAX_CONSIDERED` candidates.
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
MAX_CONSIDERED = 8  # candidates for the other chairs at a game for four


@dataclass(frozen=True, slots=True)
class Searcher:
    person: str
    started_at: float  # Unix seconds
    games: tuple[str, ...]  # ids in order of preference, all with the same number of seats
    language: str
    rating: int  # as shown to people
    blocked_people: frozenset[str] = frozenset()
    robots_after: float = inf  # seconds until robots can take free chairs

    @property
    def seats(self) -> int:
        return GAMES[self.games[0]].seats

    def takes_robots(self, now: float) -> bool:
        return now - self.started_at >= self.robots_after


class Match(NamedTuple):
    """Matched people, longest search first. At a game for four, robots take the chairs left."""

    people: tuple[Searcher, ...]
    game: str


_Rank = tuple[int, float, str]  # sort key: rating, negative rating or distance; start of the search; person


class _Pool(NamedTuple):
    """Searchers with the same games and language, sorted by rating and by negative rating."""

    rising: list[_Rank]
    falling: list[_Rank]

    def remove(self, searcher: Searcher) -> None:
        for ranks, sign in ((self.rising, 1), (self.falling, -1)):
            del ranks[bisect_left(ranks, (sign * searcher.rating, searcher.started_at, searcher.person))]


def rating_bound(waiting_seconds: float) -> float:
    if waiting_seconds >= ANY_RATING_SECONDS:
        return inf
    return RATING_BOUND + RATING_PER_SECOND * max(waiting_seconds, 0.0)


def can_match(searcher: Searcher, other: Searcher, now: float) -> bool:
    """Return whether two people fit at ``now``, in Unix seconds."""
    waiting_seconds = now - min(searcher.started_at, other.started_at)
    return (
        searcher.person != other.person
        and common_game(searcher.games, other.games) is not None
        and other.person not in searcher.blocked_people
        and searcher.person not in other.blocked_people
        and (searcher.language == other.language or waiting_seconds >= ANY_LANGUAGE_SECONDS)
        and abs(searcher.rating - other.rating) <= rating_bound(waiting_seconds)
    )


def common_game(preferred_games: Sequence[str], *other_lists: Collection[str]) -> str | None:
    return next((game for game in preferred_games if all(game in games for games in other_lists)), None)


def find_matches(waiting: Collection[Searcher], now: float) -> list[Match]:
    """Match people at ``now``, in Unix seconds. Matches of longer searches come first.

    Each person must occur once in ``waiting``.
    """
    people = {searcher.person: searcher for searcher in waiting}
    pools: dict[tuple[tuple[str, ...], str], _Pool] = {}
    for searcher in waiting:
        pool = pools.setdefault((searcher.games, searcher.language), _Pool([], []))
        pool.rising.append((searcher.rating, searcher.started_at, searcher.person))
        pool.falling.append((-searcher.rating, searcher.started_at, searcher.person))
    for pool in pools.values():
        pool.rising.sort()
        pool.falling.sort()
    matched_people: set[str] = set()
    matches = []
    for searcher in sorted(waiting, key=lambda searcher: (searcher.started_at, searcher.person)):
        if searcher.person in matched_people:
            continue
        # No earlier chooser took this person. If nobody fits now, no later chooser can take this person either.
        pools[searcher.games, searcher.language].remove(searcher)
        candidates = _candidates(searcher, pools, people, now)
        if searcher.seats == 2:
            other_players = tuple(islice(candidates, 1))
        else:
            other_players = _choose_group(searcher, candidates, now)
        if not other_players:
            continue
        for other in other_players:
            matched_people.add(other.person)
            pools[other.games, other.language].remove(other)
        game = common_game(searcher.games, *(other.games for other in other_players))
        assert game is not None
        matches.append(Match((searcher, *other_players), game))
    return matches


def _choose_group(searcher: Searcher, candidates: Iterator[Searcher], now: float) -> tuple[Searcher, ...]:
    """Return the others for a game for four: three, or fewer if all accept robots by now, or none."""
    best_candidates = list(islice(candidates, MAX_CONSIDERED))
    group_size = searcher.seats - 1
    if group := _find_group(searcher, best_candidates, group_size, now):
        return group
    if not searcher.takes_robots(now):
        return ()
    best_candidates = [other for other in best_candidates if other.takes_robots(now)]
    groups = (_find_group(searcher, best_candidates, size, now) for size in range(group_size - 1, 0, -1))
    return next(filter(None, groups), ())


def _find_group(searcher: Searcher, candidates: list[Searcher], size: int, now: float) -> tuple[Searcher, ...]:
    """Return the best ``size`` candidates who also fit each other, or none."""
    for group in combinations(candidates, size):
        has_common_game = common_game(searcher.games, *(other.games for other in group))
        if has_common_game and all(can_match(*pair, now) for pair in combinations(group, 2)):
            return group
    return ()


def _candidates(
    searcher: Searcher, pools: Mapping[tuple[tuple[str, ...], str], _Pool], people: Mapping[str, Searcher], now: float
) -> Iterator[Searcher]:
    for same_language in (True, False):
        if not same_language and now - searcher.started_at < ANY_LANGUAGE_SECONDS:
            break
        rank_iterators = [
            ranks
            for (games, language), pool in pools.items()
            if (language == searcher.language) == same_language and common_game(searcher.games, games)
            for ranks in _fitting_by_distance(searcher, pool, people, now)
        ]
        yield from (people[person] for _distance, _started_at, person in merge(*rank_iterators))


def _fitting_by_distance(
    searcher: Searcher, pool: _Pool, people: Mapping[str, Searcher], now: float
) -> tuple[Iterator[_Rank], Iterator[_Rank]]:
    """Return two iterators over the people of a pool who fit, the nearest rating first.

    The first has those rated at least as high as the searcher, the second those rated lower.
    """
    bound = rating_bound(now - searcher.started_at)

    def iterate(ranks: list[_Rank], rating: int, start: int) -> Iterator[_Rank]:
        for index in range(bisect_left(ranks, (start,)), len(ranks)):
            signed_rating, started_at, person = ranks[index]
            if signed_rating - rating > bound:
                return
            if can_match(searcher, people[person], now):
                yield signed_rating - rating, started_at, person

    rating = searcher.rating
    return iterate(pool.rising, rating, rating), iterate(pool.falling, -rating, -rating + 1)
