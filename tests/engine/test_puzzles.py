"""Endings to solve: one card is better than all others, by the solver and by brute force."""

from dataclasses import replace
from functools import cache
from itertools import permutations

import pytest

from bot.features.puzzles.collection import (
    FILE,
    all_puzzles,
    find_puzzles,
    make_puzzles,
    select_puzzles,
    simulate_games,
)
from engine import GAMES
from engine.cards import cards
from engine.position import SearchPosition, SpadesPosition
from engine.puzzles.checking import find_faults
from engine.puzzles.making import MIN_CHOICES, MIN_MISSED
from engine.puzzles.puzzle import Line, Puzzle, puzzle_id, value_to_points
from engine.search.solver import Solver
from tests.long import mostly_long

SEED = "13"
"""In its first games there are endings: of others a hundred go by until there is one with packets."""


@pytest.fixture(params=mostly_long(GAMES, "testa", "spades"))
def puzzle(request: pytest.FixtureRequest) -> Puzzle:
    """A puzzle of each game, freshly made."""
    return fresh(request.param)


@cache
def fresh(game: str) -> Puzzle:
    return next(find_puzzles(simulate_games(SEED, [game])))


def brute(here: SearchPosition, outcomes: list[int]) -> int:
    """What a position comes to, by trying everything."""
    if not here.left:
        return outcomes[here.taken[0]] if isinstance(here, SpadesPosition) else here.taken[0]
    values = []
    for card in cards(here.legal_cards()):
        after = here.copy()
        after.play(card)
        values.append(brute(after, outcomes))
    return max(values) if here.turn % 2 == 0 else min(values)


def test_one_card_is_better_than_all_others(puzzle: Puzzle) -> None:
    assert not [*find_faults(puzzle)]
    assert puzzle.lines[0].points > puzzle.lines[1].points >= puzzle.lines[-1].points
    assert puzzle.cost >= 1
    assert len(puzzle.lines) >= MIN_CHOICES
    assert puzzle.missed >= MIN_MISSED


def small() -> list[Puzzle]:
    return [puzzle for puzzle in all_puzzles().values() if sum(map(len, puzzle.hands)) <= 9][:30]


@pytest.mark.parametrize("small_one", small(), ids=lambda puzzle: puzzle.id)
def test_small_ones_have_the_same_best_card_by_brute_force(small_one: Puzzle) -> None:
    here, outcomes = small_one.position(), small_one.outcomes()
    worth = {}
    for card in cards(here.legal_cards()):
        after = here.copy()
        after.play(card)
        worth[card] = value_to_points(here, brute(after, outcomes))
    assert worth == {line.cards[0]: line.points for line in small_one.lines}
    assert [card for card in worth if worth[card] == max(worth.values())] == [small_one.best]


def test_a_line_of_a_file_says_all(puzzle: Puzzle) -> None:
    assert Puzzle.from_line(puzzle.to_line()) == puzzle


def test_the_id_does_not_know_what_suits_are_called(puzzle: Puzzle) -> None:
    ranks, spades = len(puzzle.pack.ranks), 3 if puzzle.bids else -1
    others = set()
    for order in permutations(range(4)):
        named = [order[card // ranks] * ranks + card % ranks for card in range(puzzle.pack.size)]
        hands = tuple(tuple(named[card] for card in hand[::-1]) for hand in puzzle.hands)
        found = puzzle_id(replace(puzzle, hands=hands, trick=tuple(named[card] for card in puzzle.trick)))
        if spades < 0 or order[spades] == spades:
            assert found == puzzle.id
        else:
            others.add(found)
    # Spades are trumps: as hearts they would make another position.
    assert puzzle.id not in others
    assert puzzle_id(replace(puzzle, broken=not puzzle.broken)) != puzzle.id


def spoilt(puzzle: Puzzle) -> list[Puzzle]:
    first, second, *rest = puzzle.lines
    return [
        Puzzle(**{**vars(puzzle), "id": "00000000"}),
        Puzzle(**{**vars(puzzle), "lines": (second, first, *rest)}),
        Puzzle(**{**vars(puzzle), "lines": (first._replace(points=first.points + 1), second, *rest)}),
        Puzzle(**{**vars(puzzle), "lines": (first, *rest)}),
        Puzzle(**{**vars(puzzle), "lines": (Line(first.cards[:-1], first.points), second, *rest)}),
        Puzzle(**{**vars(puzzle), "lines": (Line((first.cards[0], *second.cards[1:]), first.points), second, *rest)}),
    ]


def test_what_is_wrong_with_a_puzzle_is_noticed(puzzle: Puzzle) -> None:
    assert all([*find_faults(one)] for one in spoilt(puzzle))


@pytest.mark.long
@pytest.mark.parametrize("total", [7, 20])
def test_the_same_seed_finds_the_same_ones_and_none_twice(total: int) -> None:
    found = [*make_puzzles(total, SEED)]
    assert found == [*make_puzzles(total, SEED)]
    assert found != [*make_puzzles(total, "7")]
    assert len({one.id for one in found}) == len(found) == total


def test_those_that_are_kept_are_of_all_games_and_as_often_hard_as_easy() -> None:
    kept = select_puzzles([*all_puzzles().values()], 140)
    assert [sum(one.game == game for one in kept) for game in GAMES] == [20] * 7
    of_one = [one.missed for one in kept if one.game == "spades"]
    assert len(set(of_one)) >= 5
    assert select_puzzles(kept, 1000) == select_puzzles(kept, 140)


# The package


def test_the_package_has_two_thousand_of_all_games() -> None:
    from importlib.resources import files  # noqa: PLC0415

    puzzles = [*all_puzzles().values()]
    assert len(puzzles) == 2000
    assert len({one.id for one in puzzles}) == 2000
    assert len((files("bot.features.puzzles") / FILE).read_bytes()) <= 300_000
    for game in GAMES:
        assert sum(one.game == game for one in puzzles) >= 200
    for one in puzzles:
        assert (all_puzzles().game_of(one.id), all_puzzles().missed_by(one.id)) == (one.game, one.missed)


def test_the_package_is_right() -> None:
    solver = Solver()
    assert not [(one.id, fault) for one in all_puzzles().values() for fault in find_faults(one, solver)]
