"""The matches for any set of people who are waiting."""

from itertools import combinations
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from bot.features.find.matching import (
    ANY_LANGUAGE_SECONDS,
    ANY_RATING_SECONDS,
    MAX_CONSIDERED,
    RATING_BOUND,
    Searcher,
    can_match,
    find_matches,
    rating_bound,
)

NOW = 1_000.0
GAMES = ("pizzichino", "metamazzo", "testa")
GAMES_FOR_FOUR = ("tressette", "tavolo")
NAMES = [f"{platform}:{number}" for platform in ("telegram", "discord", "playground") for number in range(5)]


@st.composite
def crowds(draw: st.DrawFn, games_of_all: tuple[str, ...] = GAMES, max_size: int = 15) -> list[Searcher]:
    """Draw up to `max_size` people. Many wait equally long or have the same rating."""
    return [
        Searcher(
            person,
            started_at=NOW - draw(st.sampled_from((0, 5, 19, 20, 40, 60, 500)) | st.integers(0, 100)),
            games=tuple(draw(st.lists(st.sampled_from(games_of_all), min_size=1, unique=True))),
            language=draw(st.sampled_from(("it", "en"))),
            rating=draw(st.sampled_from((1000, 1150, 1151)) | st.integers(0, 2500)),
            blocked_people=draw(st.frozensets(st.sampled_from(NAMES), max_size=2)),
            robots_after=draw(st.sampled_from((0, 30, inf))),
        )
        for person in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=max_size))
    ]


def match_by_the_rule(crowd: list[Searcher]) -> list[tuple[str, str]]:
    """Match people by a simple rule: the person who has waited longest gets the best opponent."""
    waiting_searchers = sorted(crowd, key=lambda searcher: (searcher.started_at, searcher.person))
    pairs = []
    while waiting_searchers:
        longest = waiting_searchers.pop(0)
        fitting = [other for other in waiting_searchers if can_match(longest, other, NOW)]
        if fitting:
            other = min(
                fitting,
                key=lambda other: (
                    other.language != longest.language,
                    abs(other.rating - longest.rating),
                    other.started_at,
                    other.person,
                ),
            )
            waiting_searchers.remove(other)
            pairs.append((longest.person, other.person))
    return pairs


@given(crowds())
def test_matches_agree_with_a_simple_matcher(crowd: list[Searcher]) -> None:
    matches = find_matches(crowd, NOW)
    assert [tuple(searcher.person for searcher in match.people) for match in matches] == match_by_the_rule(crowd)
    for (first, second), game in matches:
        assert can_match(first, second, NOW)
        assert game == next(candidate for candidate in first.games if candidate in second.games)


@given(crowds())
def test_matches_are_unique_unblocked_and_complete(crowd: list[Searcher]) -> None:
    matches = find_matches(crowd, NOW)
    matched = [person.person for match in matches for person in match.people]
    assert len(matched) == len(set(matched))
    assert not any(
        first.person in second.blocked_people or second.person in first.blocked_people for (first, second), _ in matches
    )
    unmatched = [searcher for searcher in crowd if searcher.person not in matched]
    assert not any(can_match(first, second, NOW) for first, second in combinations(unmatched, 2))


@given(crowds())
def test_order_of_people_does_not_matter(crowd: list[Searcher]) -> None:
    assert find_matches(crowd[::-1], NOW) == find_matches(crowd, NOW)


@given(crowds(), st.floats(0, 1000))
def test_people_who_can_match_now_can_match_later(crowd: list[Searcher], seconds: float) -> None:
    assert all(can_match(*couple, NOW + seconds) for couple in combinations(crowd, 2) if can_match(*couple, NOW))


@given(crowds(GAMES_FOR_FOUR, MAX_CONSIDERED + 1))
def test_four_match_or_fewer_who_accept_robots(crowd: list[Searcher]) -> None:
    matches = find_matches(crowd, NOW)
    matched = [searcher.person for match in matches for searcher in match.people]
    assert len(matched) == len(set(matched))
    for people, game in matches:
        assert all(can_match(first, second, NOW) for first, second in combinations(people, 2))
        assert all(game in searcher.games for searcher in people)
        assert len(people) == 4 or (len(people) > 1 and all(searcher.takes_robots(NOW) for searcher in people))
    unmatched = [searcher for searcher in crowd if searcher.person not in matched]
    for size in range(2, 5):
        for people in combinations(unmatched, size):
            accepts = size == 4 or all(searcher.takes_robots(NOW) for searcher in people)
            fits = all(can_match(first, second, NOW) for first, second in combinations(people, 2))
            assert not (accepts and fits and set.intersection(*(set(searcher.games) for searcher in people)))


def test_two_player_search_does_not_fill_a_table_of_four() -> None:
    crowd = [Searcher(f"telegram:{number}", NOW, ("tressette",), "it", 1000) for number in range(3)]
    crowd.append(Searcher("telegram:9", NOW, ("testa",), "it", 1000))
    assert find_matches(crowd, NOW) == []


def test_bounds_widen_with_time() -> None:
    newcomer = Searcher("telegram:1", NOW, ("pizzichino",), "it", 1000)
    far = Searcher("discord:2", NOW, ("pizzichino",), "it", 1000 + RATING_BOUND + 1)
    english = Searcher("discord:3", NOW, ("pizzichino",), "en", 1000)
    assert not can_match(newcomer, far, NOW)
    assert can_match(newcomer, far, NOW + 1)
    assert not can_match(newcomer, english, NOW + ANY_LANGUAGE_SECONDS - 1)
    assert can_match(newcomer, english, NOW + ANY_LANGUAGE_SECONDS)
    assert rating_bound(ANY_RATING_SECONDS) == float("inf")


def test_newcomer_matches_a_long_waiter_at_once() -> None:
    patient = Searcher("telegram:1", NOW - ANY_RATING_SECONDS, ("testa", "pizzichino"), "it", 2000)
    newcomer = Searcher("discord:2", NOW, ("pizzichino", "testa"), "en", 500)
    [((first, _), game)] = find_matches([newcomer, patient], NOW)
    assert (first.person, game) == ("telegram:1", "testa")
