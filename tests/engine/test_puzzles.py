"""Puzzles: endings with one best card, by the solver and by brute force."""

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
from engine.puzzles.making import MIN_CHOICES, MIN_MISSED, find_faults
from engine.puzzles.puzzle import Line, Puzzle, puzzle_id, value_to_points
from engine.search.solver import Solver
from tests.long import mostly_long

# A seed whose first games have puzzles. With other seeds, the first puzzle with packets can take a hundred games.
SEED = "13"

# One process finds the puzzles. Each of them takes a second.
pytestmark = pytest.mark.xdist_group("puzzles")


@pytest.fixture(params=mostly_long(GAMES, "testa", "spades"))
def puzzle(request: pytest.FixtureRequest) -> Puzzle:
    """A new puzzle of each game."""
    return find_puzzle(request.param)


@cache
def find_puzzle(game: str) -> Puzzle:
    return next(find_puzzles(simulate_games(SEED, [game])))


def brute_force_value(position: SearchPosition, outcomes: list[int]) -> int:
    """Return the value of a position, by brute force."""
    if not position.cards_left:
        return outcomes[position.taken[0]] if isinstance(position, SpadesPosition) else position.taken[0]
    values = []
    for card in cards(position.legal_cards()):
        after = position.copy()
        after.play(card)
        values.append(brute_force_value(after, outcomes))
    return max(values) if position.turn % 2 == 0 else min(values)


def test_puzzle_has_a_single_best_card(puzzle: Puzzle) -> None:
    assert not [*find_faults(puzzle)]
    assert puzzle.lines[0].points > puzzle.lines[1].points >= puzzle.lines[-1].points
    assert puzzle.cost >= 1
    assert len(puzzle.lines) >= MIN_CHOICES
    assert puzzle.missed >= MIN_MISSED


def test_brute_force_agrees_on_small_puzzles() -> None:
    small_puzzles = [small for small in all_puzzles().values() if sum(map(len, small.hands)) <= 9][:30]
    assert len(small_puzzles) == 30
    for small in small_puzzles:
        position, outcomes = small.position(), small.outcomes()
        values = {}
        for card in cards(position.legal_cards()):
            after = position.copy()
            after.play(card)
            values[card] = value_to_points(position, brute_force_value(after, outcomes))
        assert values == {line.cards[0]: line.points for line in small.lines}, small.id
        assert [card for card in values if values[card] == max(values.values())] == [small.best], small.id


def test_puzzle_survives_a_round_trip_through_its_line(puzzle: Puzzle) -> None:
    assert Puzzle.from_line(puzzle.to_line()) == puzzle


def test_id_ignores_suit_names(puzzle: Puzzle) -> None:
    ranks, spades = len(puzzle.pack.ranks), 3 if puzzle.bids else -1
    other_ids = set()
    for order in permutations(range(4)):
        mapped = [order[card // ranks] * ranks + card % ranks for card in range(puzzle.pack.size)]
        hands = tuple(tuple(mapped[card] for card in hand[::-1]) for hand in puzzle.hands)
        other_id = puzzle_id(replace(puzzle, hands=hands, trick=tuple(mapped[card] for card in puzzle.trick)))
        if spades < 0 or order[spades] == spades:
            assert other_id == puzzle.id
        else:
            other_ids.add(other_id)
    # Spades are trumps, so renaming them to hearts makes another position.
    assert puzzle.id not in other_ids
    assert puzzle_id(replace(puzzle, broken=not puzzle.broken)) != puzzle.id


def faulty_puzzles(puzzle: Puzzle) -> list[Puzzle]:
    first, second, *other_lines = puzzle.lines
    return [
        Puzzle(**{**vars(puzzle), "id": "00000000"}),
        Puzzle(**{**vars(puzzle), "lines": (second, first, *other_lines)}),
        Puzzle(**{**vars(puzzle), "lines": (first._replace(points=first.points + 1), second, *other_lines)}),
        Puzzle(**{**vars(puzzle), "lines": (first, *other_lines)}),
        Puzzle(**{**vars(puzzle), "lines": (Line(first.cards[:-1], first.points), second, *other_lines)}),
        Puzzle(
            **{**vars(puzzle), "lines": (Line((first.cards[0], *second.cards[1:]), first.points), second, *other_lines)}
        ),
    ]


@pytest.mark.long
def test_faulty_puzzles_are_noticed(puzzle: Puzzle) -> None:
    assert all([*find_faults(faulty)] for faulty in faulty_puzzles(puzzle))


@pytest.mark.long
@pytest.mark.parametrize("total", [7, 20])
def test_seed_determines_puzzles_without_duplicates(total: int) -> None:
    puzzles = [*make_puzzles(total, SEED)]
    assert puzzles == [*make_puzzles(total, SEED)]
    assert puzzles != [*make_puzzles(total, "7")]
    assert len({found_puzzle.id for found_puzzle in puzzles}) == len(puzzles) == total


def test_selection_balances_games_and_difficulties() -> None:
    selection = select_puzzles([*all_puzzles().values()], 140)
    assert [sum(selected.game == game for selected in selection) for game in GAMES] == [20] * 7
    missed = [selected.missed for selected in selection if selected.game == "spades"]
    assert len(set(missed)) >= 5
    assert select_puzzles(selection, 1000) == select_puzzles(selection, 140)


# The package


def test_package_has_2000_puzzles_of_all_games() -> None:
    from importlib.resources import files  # noqa: PLC0415

    puzzles = [*all_puzzles().values()]
    assert len(puzzles) == 2000
    assert len({packaged.id for packaged in puzzles}) == 2000
    assert len((files("bot.features.puzzles") / FILE).read_bytes()) <= 300_000
    for game in GAMES:
        assert sum(packaged.game == game for packaged in puzzles) >= 200
    for packaged in puzzles:
        found = all_puzzles().game_of(packaged.id), all_puzzles().missed_by(packaged.id)
        assert found == (packaged.game, packaged.missed)


@pytest.mark.parametrize("part", mostly_long(range(16), 0))
def test_package_has_no_faults(part: int) -> None:
    solver, puzzles = Solver(), [*all_puzzles().values()][part::16]
    faults = [(packaged.id, fault) for packaged in puzzles for fault in find_faults(packaged, solver)]
    assert not faults, f"bot/features/puzzles/{FILE} has faulty puzzles: {faults[:3]}"
