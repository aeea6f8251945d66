"""The searches play by the same rules as the engine, and solve what can be solved."""

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import engine
from engine import GAMES, Game
from engine.cards import cards
from engine.declarations import COMBINATIONS, HONOURS
from engine.light import Light, light
from engine.robots.knowledge import weigh, worlds_of
from engine.search import playing, two_hands
from engine.search.compiled import COMPILED
from engine.search.playing import Board, new_board
from engine.search.solver import Solver
from engine.search.worlds import draw_world
from engine.tressette import TressetteDeal
from tests.engine.tables import random_step

ENDINGS = {
    "pizzichino": 8,
    "spizzichino": 8,
    "metamazzo": 8,
    "testa": 8,
    "tressette": 11,
    "tavolo": 11,
    "spades": 8,
}
"""Cards before the end from which brute force is quick."""


def in_play(game_id: str, random: Random, cards_left: int = 99) -> Game:
    """A game in whose first deal so many cards are left to be played, or a few more."""
    while True:
        game = Game(game_id, dealer=random.randrange(GAMES[game_id].seats))
        game.deal(random.randbytes(32))
        while game.turn is not None and game.current is not None:
            if game.current.phase == "play" and light(game.current).left <= cards_left:
                return game
            moves = [move for move in game.legal_moves(game.turn) if move not in ("claim", "resign", "blind")]
            game.play(game.turn, random.choice(moves))


def brute(here: Light, points: list[int]) -> int:
    """What side 0 comes to, by trying everything."""
    if not here.left:
        return points[here.taken[0]] if points else here.taken[0]
    found = []
    for card in cards(here.legal()):
        after = here.copy()
        after.play(card)
        found.append(brute(after, points))
    return max(found) if here.turn & 1 == 0 else min(found)


@pytest.mark.parametrize("game_id", ENDINGS)
def test_the_solver_agrees_with_brute_force(game_id: str) -> None:
    random, solver = Random(game_id), Solver()
    for number in range(25 if COMPILED else 5):
        here = light(in_play(game_id, random, ENDINGS[game_id] - number % 4).current)  # type: ignore[arg-type]
        points = [random.randrange(-200, 200) for _ in range(14)] if game_id == "spades" else []
        values = solver.solve(here, points)
        assert values is not None
        assert set(values) == set(cards(here.legal()))
        for card, value in values.items():
            after = here.copy()
            after.play(card)
            assert value == brute(after, points), (number, card)


def test_a_solve_that_is_too_long_is_given_up() -> None:
    here = light(in_play("tressette", Random(1)).current)  # type: ignore[arg-type]
    assert Solver(most_positions=50).solve(here) is None


def test_nothing_is_solved_while_cards_are_still_to_be_drawn() -> None:
    assert Solver().solve(light(in_play("metamazzo", Random(1)).current)) is None  # type: ignore[arg-type]


def test_solves_do_not_hear_of_each_other() -> None:
    """The same positions one after the other and each with a solver of its own: what is remembered is true."""
    random, kept = Random(5), Solver()
    for game_id in [*ENDINGS] * 4:
        here = light(in_play(game_id, random, 14).current)  # type: ignore[arg-type]
        points = [random.randrange(-200, 200) for _ in range(14)] if game_id == "spades" else []
        assert kept.solve(here, points) == Solver().solve(here, points)


def on_board(game: Game) -> Board:
    """The position with everything known, as searches play on."""
    here = game.current
    assert here
    open_view = worlds_of(game.view(game.turn), game.history(game.turn))
    board = new_board(7)
    for place in range(playing.SIZE):
        board.state[place] = open_view.start[place]
    position = light(here)
    for seat, hand in enumerate(position.hands):
        board.hands[seat] = hand
    for packets in getattr(position, "packets", ()):
        for packet in packets:
            above = packet[0] if packet else -1
            for card in packet[1:]:
                board.opens[above] |= 1 << card
                above = card if not HONOURS >> card & 1 else above
    for place, card in enumerate(getattr(position, "stock", ())[getattr(position, "drawn", 0) :]):
        board.stock[place] = card
    return board


@pytest.mark.parametrize("game_id", GAMES)
def test_searches_play_by_the_rules(game_id: str) -> None:
    for seed in range(12):
        random = Random(f"{game_id} {seed}")
        game = in_play(game_id, random, random.randrange(8, 41))
        assert game.current
        here, board = light(game.current), on_board(game)
        before = list(here.taken)
        while here.left:
            assert int(playing.legal(board)) == here.legal()
            card = random.choice([*cards(here.legal())])
            here.play(card)
            playing.play(board, card)
            assert [int(hand) for hand in board.hands[: len(here.hands)]] == here.hands
            assert not here.left or int(board.state[playing.TURN]) == here.turn
        gained = [int(board.state[playing.TAKEN + side]) for side in (0, 1)]
        if game_id == "spades":
            assert gained == here.taken
        else:
            assert gained == [after - earlier for after, earlier in zip(here.taken, before, strict=True)]


@pytest.mark.parametrize(("game_id", "declare"), [("metamazzo", "acquired"), ("testa", "three_tricks")])
def test_searches_count_declarations_as_the_engine_does(game_id: str, declare: str) -> None:
    """When everybody declares at once what they can: from the second trick on, for the first has its own window."""
    declared_at_all = 0
    for seed in range(40):
        random = Random(f"{game_id} {seed}")
        game = Game(game_id, {"declare": declare}, dealer=0)
        game.deal(random.randbytes(32))
        while game.current and game.current.tricks_done < 1:
            random_step(game, random)
        if game.turn is None or game.current is None:
            continue
        declare_all(game)
        board = on_board(game)
        assert isinstance(game.current, TressetteDeal)
        start = game.current.declared.copy()
        while game.turn is not None:
            declare_all(game)
            seat = game.turn
            move = random.choice([one for one in game.legal_moves(seat) if one.startswith("play ")])
            playing.play(board, game.kind.pack.index[move.split(" ")[1]])
            game.play(seat, move)
        counted = [int(board.state[playing.DECLARED + side]) for side in (0, 1)]
        gained = [3 * (now - then) for now, then in zip(game.current.declared, start, strict=True)]
        assert counted == gained, seed
        declared_at_all += sum(gained)
    assert declared_at_all


def declare_all(game: Game) -> None:
    for seat in (0, 1):
        while found := [move for move in game.legal_moves(seat) if move in COMBINATIONS]:
            game.play(seat, found[0])


@pytest.mark.parametrize("game_id", GAMES)
def test_every_world_fits_what_is_known(game_id: str) -> None:
    for seed in range(6):
        random = Random(f"{game_id} {seed}")
        game = in_play(game_id, random, random.randrange(6, 41))
        seat = game.turn
        assert seat is not None
        assert game.current
        view, history = game.view(seat), game.history(seat)
        worlds, board = worlds_of(view, history, pool=20), new_board(seed + 1)
        pool = weigh(worlds, view, history, board)
        for drawn in (worlds._replace(weights=worlds.weights[:0]), pool):
            for _ in range(10):
                assert draw_world(drawn, board)
                hands = [int(hand) for hand in board.hands[: game.kind.seats]]
                assert hands[seat] == game.current.cards[seat] or game_id in ("pizzichino", "spizzichino")
                for other, hand in enumerate(hands):
                    known = int(worlds.known[other])
                    assert hand & known == known
                    if not len(worlds.packets):
                        assert not hand & ~known & ~int(worlds.allowed[other])
                        assert hand.bit_count() == game.current.cards[other].bit_count()
                assert sum(hand.bit_count() for hand in hands) == sum_of(hands).bit_count()


def sum_of(hands: list[int]) -> int:
    union = 0
    for hand in hands:
        union |= hand
    return union


def test_who_does_not_follow_has_no_more_of_the_suit() -> None:
    random = Random(3)
    for _ in range(20):
        game = in_play("tressette", random, random.randrange(8, 30))
        seat = game.turn
        assert seat is not None
        assert game.current
        # These players say volo whenever they like.
        worlds = worlds_of(game.view(seat), game.history(seat), believing=False)
        for other in range(4):
            assert not game.current.cards[other] & ~int(worlds.allowed[other]) & ~int(worlds.known[other])


def test_a_false_volo_is_believed_until_it_cannot_be_true() -> None:
    game = in_play("tressette", Random(2))
    seat = game.turn
    assert seat is not None
    game.play(seat, f"{game.legal_moves(seat)[0]} volo")
    other = game.turn
    assert other is not None
    view, history = game.view(other), game.history(other)
    believing, doubting = (int(worlds_of(view, history, believing=one).allowed[seat]) for one in (True, False))
    assert believing != doubting
    assert doubting & believing == believing


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
from random import Random
from bot.simulation import simulate
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
from tests.engine.test_search import test_the_solver_agrees_with_brute_force
test_the_solver_agrees_with_brute_force("metamazzo")
print("the same")
"""


def test_everything_works_without_compiled_searches() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.endswith("the same\n")


@pytest.mark.skipif(not COMPILED, reason="nothing is compiled without numba")
def test_what_was_compiled_is_not_used_once_a_source_it_calls_into_has_changed(tmp_path: Path) -> None:
    shutil.copytree(Path(engine.__file__).parent, tmp_path / "engine", ignore=shutil.ignore_patterns("__pycache__"))
    source = tmp_path / "engine" / "search" / "compiled.py"
    code = "from engine.search import playing; print(playing.likely(1 << 12))"

    def run() -> int:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, cwd=tmp_path
        )
        return int(done.stdout)

    before = run()
    source.write_text(source.read_text().replace("return PLACE[bit % 67]", "return PLACE[bit % 67] + 1"))
    assert run() != before


def test_a_memory_whose_ages_begin_again_has_forgotten() -> None:
    here = light(in_play("pizzichino", Random(9), 10).current)  # type: ignore[arg-type]
    solver = Solver()
    first = solver.solve(here)
    solver._two.counters[two_hands.AGE] = two_hands.AGES - 1
    assert solver.solve(here) == first
    assert solver._two.counters[two_hands.AGE] == 0
    assert sum(1 for key in solver._two.leaders if key) <= solver.positions
