"""The searches follow the engine's rules, and the solver agrees with brute force."""

import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

import engine
from engine import GAMES, Game
from engine.cards import cards
from engine.declarations import COMBINATIONS, HONOURS
from engine.position import FIRST_PICK, PacketsPosition, SearchPosition, pick_move, picked_card, search_position
from engine.robots.deductions import worlds_of
from engine.search import playing, simple_players, tree, two_hands
from engine.search.compiled import COMPILED, zeros
from engine.search.playing import SIZE, Board, new_board
from engine.search.solver import Solver
from engine.search.worlds import Worlds
from engine.tressette import TressetteDeal
from tests.engine.tables import game_in_play, play_random_step

# Number of cards left at which brute force is quick.
ENDINGS = {
    "pizzichino": 8,
    "spizzichino": 8,
    "metamazzo": 8,
    "testa": 8,
    "tressette": 11,
    "tavolo": 11,
    "spades": 8,
}


def list_moves(position: SearchPosition) -> list[int]:
    return [*cards(position.legal_cards()), *map(pick_move, cards(position.legal_picks()))]


def brute_force_value(position: SearchPosition, points: list[int]) -> int:
    """Return side 0's result, by brute force."""
    if not position.cards_left:
        return points[position.taken[0]] if points else position.taken[0]
    results = []
    for move in list_moves(position):
        after = position.copy()
        after.make_move(move)
        results.append(brute_force_value(after, points))
    return max(results) if position.turn & 1 == 0 else min(results)


@pytest.mark.parametrize("game_id", ENDINGS)
def test_solver_agrees_with_brute_force(game_id: str) -> None:
    random, solver = Random(game_id), Solver()
    for number in range(25 if COMPILED else 5):
        position = search_position(game_in_play(game_id, random, ENDINGS[game_id] - number % 4).current)  # type: ignore[arg-type]
        points = [random.randrange(-200, 200) for _ in range(14)] if game_id == "spades" else []
        values = solver.solve(position, points)
        assert values is not None
        assert set(values) == set(list_moves(position))
        for move, value in values.items():
            after = position.copy()
            after.make_move(move)
            assert value == brute_force_value(after, points), (number, move)


def test_solver_gives_up_on_long_searches() -> None:
    position = search_position(game_in_play("tressette", Random(1)).current)  # type: ignore[arg-type]
    assert Solver(max_positions=50).solve(position) is None


def test_solver_needs_an_empty_stock() -> None:
    assert Solver().solve(search_position(game_in_play("metamazzo", Random(1)).current)) is None  # type: ignore[arg-type]


def test_solver_memory_is_correct() -> None:
    """A solver with earlier positions in memory gives the same values as a new one."""
    random, kept_solver = Random(5), Solver()
    for game_id in [*ENDINGS] * 4:
        position = search_position(game_in_play(game_id, random, 14).current)  # type: ignore[arg-type]
        points = [random.randrange(-200, 200) for _ in range(14)] if game_id == "spades" else []
        assert kept_solver.solve(position, points) == Solver().solve(position, points)


def fill_board(game: Game) -> Board:
    """Return the board that searches play on, with every card known."""
    deal = game.current
    assert deal
    public_fields = worlds_of(game.view(game.turn), game.history(game.turn))
    board = new_board(7)
    for index in range(playing.SIZE):
        board.state[index] = public_fields.start[index]
    position = search_position(deal)
    for seat, hand in enumerate(position.hands):
        board.hands[seat] = hand
    for seat, packets in enumerate(getattr(position, "packets", ())):
        for packet in packets:
            for above, card in pairwise(packet):
                board.opens[above] = 1 << card
            if len(packet) > 1:
                board.covering[seat] |= 1 << packet[0] & HONOURS
    for index, card in enumerate(getattr(position, "stock", ())[getattr(position, "drawn_count", 0) :]):
        board.stock[index] = card
    return board


def uncovers_a_card(position: SearchPosition, move: int) -> bool:
    """Return whether a move plays or uncovers a card: picking up a packet's last card does not affect the tricks."""
    if not isinstance(position, PacketsPosition) or move < FIRST_PICK:
        return True
    return any(packet[:1] == (picked_card(move),) and len(packet) > 1 for packet in position.packets[position.turn])


@pytest.mark.parametrize("game_id", GAMES)
def test_searches_play_by_the_rules(game_id: str) -> None:
    for seed in range(12):
        random = Random(f"{game_id} {seed}")
        game = game_in_play(game_id, random, random.randrange(8, 41))
        assert game.current
        position, board = search_position(game.current), fill_board(game)
        while position.cards_left:
            moves = int(playing.legal_moves(board)) & ~(7 << playing.FIRST_THREE if game_id != "spades" else 0)
            assert {*cards(moves)} == {move for move in list_moves(position) if uncovers_a_card(position, move)}
            move = random.choice([*cards(moves)])
            position.make_move(move)
            playing.make_move(board, move)
            assert [int(hand) for hand in board.hands[: len(position.hands)]] == position.hands
            assert not position.cards_left or int(board.state[playing.TURN]) == position.turn
        assert [int(board.state[playing.TAKEN + side]) for side in (0, 1)] == position.taken


@pytest.mark.parametrize(("game_id", "declare"), [("metamazzo", "acquired"), ("testa", "three_tricks")])
def test_searches_count_declarations_as_the_engine_does(game_id: str, declare: str) -> None:
    """The first trick has its own window, so the test starts with the second.

    A combination that can wait is declared in the last trick of its window, or before one of its cards is played.
    """
    total_declared = 0
    for seed in range(40):
        random = Random(f"{game_id} {seed}")
        game = Game(game_id, {"declare": declare}, dealer=0)
        game.deal(random.randbytes(32))
        while game.current and game.current.tricks_done < 1:
            declare_all(game)
            play_random_step(game, random)
        if game.turn is None or game.current is None:
            continue
        declare_all(game)
        board = fill_board(game)
        assert isinstance(game.current, TressetteDeal)
        start = game.current.declared.copy()
        while game.turn is not None:
            seat = game.turn
            move = random.choice([legal for legal in game.legal_moves(seat) if legal.startswith("play ")])
            if declare == "acquired" or game.current.tricks_done == 3:
                declare_all(game)
            declare_all(game, {move.split(" ")[1]})
            playing.play_card(board, game.kind.pack.index[move.split(" ")[1]])
            game.play(seat, move)
        searched = [int(board.state[playing.DECLARED + side]) for side in (0, 1)]
        gained = [3 * (now - then) for now, then in zip(game.current.declared, start, strict=True)]
        assert searched == gained, seed
        total_declared += sum(gained)
    assert total_declared


def test_simple_player_uses_only_its_own_hand() -> None:
    random = Random(5)
    for _ in range(40):
        board = fill_board(game_in_play("tressette", random, random.randrange(8, 41)))
        own_seat = int(board.state[playing.TURN])
        choices = int(playing.legal_cards(board))
        before = [int(simple_players.appeal(board, card)) for card in cards(choices)]
        other_seats = [seat for seat in range(4) if seat != own_seat]
        counts = [int(board.hands[seat]).bit_count() for seat in other_seats]
        unseen = [card for seat in other_seats for card in cards(int(board.hands[seat]))]
        random.shuffle(unseen)
        for seat, count in zip(other_seats, counts, strict=True):
            board.hands[seat] = sum(1 << unseen.pop() for _ in range(count))
        assert [int(simple_players.appeal(board, card)) for card in cards(choices)] == before


@pytest.mark.parametrize("lonely", [True, False])
def test_search_with_simple_rivals_branches_for_one_seat(lonely: bool) -> None:
    game = game_in_play("tressette", Random(8), 24)
    assert game.current
    board, start = fill_board(game), zeros(SIZE)
    for index in range(SIZE):
        start[index] = board.state[index]
    # There is one world, and simple players always choose the same.
    known_cards = zeros(4)
    for seat in range(4):
        known_cards[seat] = board.hands[seat]
    nothing = zeros(0)
    worlds = Worlds(start, known_cards, zeros(4), zeros(4), nothing, nothing, nothing, nothing)
    grown = zeros(3000 * tree.FIELDS)
    tree.search(
        grown, 1, zeros(tree.LONGEST_PATH), worlds, board, 2000, 16.0, 0, tree.LONGEST_PATH, lonely, tree.CARDS_ONLY
    )
    me = int(start[playing.TURN])
    root = search_position(game.current)
    largest = {True: 0, False: 0}

    def walk(node: int, position: SearchPosition) -> None:
        children = []
        child = int(grown[node * tree.FIELDS + tree.FIRST])
        while child:
            children.append(child)
            child = int(grown[child * tree.FIELDS + tree.NEXT])
        if children:
            while position.legal_cards().bit_count() == 1:
                position.play(position.legal_cards().bit_length() - 1)
            largest[position.turn == me] = max(largest[position.turn == me], len(children))
        for child in children:
            after = position.copy()
            after.play(int(grown[child * tree.FIELDS + tree.MOVE]))
            walk(child, after)

    walk(0, root)
    assert largest[True] > 1
    assert (largest[False] > 1) is not lonely


def test_search_outcome_counts_only_whole_points() -> None:
    board = new_board(1)
    for own_thirds, other_thirds, worth in ((17, 18, -3), (18, 17, 3), (16, 19, -3), (15, 20, -3), (20, 15, 3)):
        board.state[playing.TAKEN], board.state[playing.TAKEN + 1] = own_thirds, other_thirds
        assert playing.outcome(board.state) == worth


def declare_all(game: Game, cards: set[str] | None = None) -> None:
    """Declare everything; with ``cards``, only combinations with one of these cards, by the seat to move."""
    for seat in (0, 1) if cards is None else (game.turn or 0,):
        mask = game.kind.pack.mask(cards) if cards else -1
        while combinations := [m for m in game.legal_moves(seat) if m in COMBINATIONS and COMBINATIONS[m].cards & mask]:
            game.play(seat, combinations[0])


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from random import Random
from bot.robots.simulation import simulate
from engine import verify
from engine.search.compiled import COMPILED
from engine.robots import Budget
from engine.robots.strong import StrongRobot
from engine import Game
assert not COMPILED
for game_id in ("metamazzo", "pizzichino", "tressette", "spades"):
    game = Game(game_id, dealer=0)
    game.deal(bytes(32))
    robot = StrongRobot(Random(1), Budget(share=0.02))
    for _ in range(60):
        if game.turn is None:
            break
        game.play(game.turn, robot.choose(game.view(game.turn), game.history(game.turn)))
    print(game_id, len(game.moves))
from tests.engine.test_search import test_solver_agrees_with_brute_force
for game_id in ("metamazzo", "pizzichino", "spizzichino"):
    test_solver_agrees_with_brute_force(game_id)
from tests.engine.test_optional_moves import test_solver_agrees_where_a_pick_costs
test_solver_agrees_where_a_pick_costs()
print("the same")
"""


@pytest.mark.long
def test_results_are_the_same_without_compiled_searches() -> None:
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout.endswith("the same\n")


@pytest.mark.long
@pytest.mark.skipif(not COMPILED, reason="nothing is compiled without numba")
def test_changed_source_invalidates_compiled_code(tmp_path: Path) -> None:
    shutil.copytree(Path(engine.__file__).parent, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "engine" / "search" / "compiled.py"
    code = "from engine.search import simple_players; print(simple_players.expected_tricks(1 << 12))"

    def run() -> int:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path
        )
        return int(done.stdout)

    before = run()
    source.write_text(source.read_text().replace("return BIT_INDEX[bit % 67]", "return BIT_INDEX[bit % 67] + 1"))
    assert run() != before


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled without numba")
def test_unwritable_cache_is_warned_of_once(tmp_path: Path) -> None:
    shutil.copytree(Path(engine.__file__).parent, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    # numba tries the named folder, then one next to the source, then the user's. Files cannot be folders.
    blocked = tmp_path / "engine" / "search" / "__pycache__"
    blocked.touch()
    names = {"NUMBA_CACHE_DIR": str(blocked), "XDG_CACHE_HOME": str(blocked), "HOME": str(blocked)}
    done = subprocess.run(
        [sys.executable, "-c", "from engine.search import bidding"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        cwd=tmp_path,
        env={**os.environ, **names},
    )
    assert done.stderr.count("RuntimeWarning: each start compiles searches") == 1


def test_solver_memory_is_cleared_when_ages_wrap() -> None:
    position = search_position(game_in_play("pizzichino", Random(9), 10).current)  # type: ignore[arg-type]
    solver = Solver()
    first = solver.solve(position)
    solver._two.counters[two_hands.AGE] = two_hands.AGES - 1
    assert solver.solve(position) == first
    assert solver._two.counters[two_hands.AGE] == 0
    assert sum(1 for key in solver._two.table[:: two_hands.ENTRY] if key) <= solver.positions
