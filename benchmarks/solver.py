"""`python -m benchmarks solver`: CPU time of exact solves of random endings, compared with plain alpha-beta."""

import statistics
import time
from random import Random

import typer

from engine import Game
from engine.cards import ITALIAN, cards
from engine.position import SearchPosition, search_position
from engine.search.compiled import COMPILED
from engine.search.solver import Solver
from engine.tressette import THIRDS

TWO_HANDS, FOUR_HANDS, WITH_PACKETS = (6, 8, 10), (5, 6, 7, 8), (12, 16, 20)
SOLVES, BASELINES, PLAIN_EACH = 200, 12, 8
SUIT_OF = ITALIAN.suit_of


def random_ending(random: Random, seats: int, cards_each: int) -> SearchPosition:
    """Return a random open ending of Tressette with ``cards_each`` cards in each hand. Seat 0 leads."""
    dealt = random.sample(range(ITALIAN.size), seats * cards_each)
    position: SearchPosition = object.__new__(SearchPosition)
    position.hands = [
        sum(1 << card for card in dealt[seat * cards_each : (seat + 1) * cards_each]) for seat in range(seats)
    ]
    position.turn, position.cards_left, position.pot = 0, seats * cards_each, 0
    position.trick_size, position.allowed_cards = 0, 0
    position.best_card, position.winner, position.taken = -1, -1, [0, 0]
    return position


def packets_ending(random: Random, cards_left: int) -> SearchPosition:
    """Return a position with packets after random moves, with ``cards_left`` cards to play."""
    game = Game("pizzichino", dealer=0)
    game.deal(random.randbytes(32))
    while game.turn is not None:
        deal = game.current
        if deal and deal.phase == "play" and (position := search_position(deal)).cards_left <= cards_left:
            return position
        game.play(game.turn, random.choice([move for move in game.legal_moves(game.turn) if move != "resign"]))
    raise AssertionError("a deal ended with cards left")


def alpha_beta(leader_hand: int, other_hand: int, thirds: int, low: int, high: int) -> int:
    """Return how many of the ``thirds`` the leader takes, by simple alpha-beta over two hands without memory.

    Unbeatable cards are led first. Winning answers are tried before losing ones.
    """
    if not leader_hand or thirds <= low or high <= 0:
        return thirds if not leader_hand or thirds <= low else 0
    value = -1
    for card in sorted(cards(leader_hand), key=lambda lead: (other_hand & SUIT_OF[lead]) >> lead != 0):
        suit = SUIT_OF[card]
        worst = 99
        for reply in sorted(
            cards(other_hand & suit or other_hand),
            key=lambda answer: answer > card and suit >> answer & 1,
            reverse=True,
        ):
            gain, bottom, top = THIRDS[card] + THIRDS[reply], max(low, value), min(high, worst)
            thirds_after = thirds - gain
            if reply > card and suit >> reply & 1:
                result = thirds_after - alpha_beta(
                    other_hand ^ 1 << reply,
                    leader_hand ^ 1 << card,
                    thirds_after,
                    thirds_after - top,
                    thirds_after - bottom,
                )
            else:
                result = gain + alpha_beta(
                    leader_hand ^ 1 << card, other_hand ^ 1 << reply, thirds_after, bottom - gain, top - gain
                )
            worst = min(worst, result)
            if worst <= bottom:
                break
        value = max(value, worst)
        if value >= high:
            break
    return value


def report(label: str, times: list[float], positions: list[int]) -> None:
    times, positions = sorted(times), sorted(positions)
    typer.echo(
        f"{label}: median {1000 * statistics.median(times):.2f} ms, p99 {1000 * times[len(times) * 99 // 100]:.2f} ms,"
        f" {positions[len(positions) // 2]:,} positions in the median, {positions[-1]:,} at most"
    )


def run() -> None:
    """Measure exact solves of random endings, next to plain alpha-beta."""
    typer.echo(f"searches are {'compiled' if COMPILED else 'not compiled: install numba (the extra `fast`)'}")
    typer.echo("times are CPU times")
    solver = Solver()
    for seats in (2, 4):
        solver.solve(random_ending(Random(0), seats, 2))
    times = []
    for number in range(BASELINES):
        position = random_ending(Random(number), 2, PLAIN_EACH)
        start = time.process_time()
        own_hand, other_hand = position.hands
        value = alpha_beta(
            own_hand, other_hand, sum(THIRDS[card] for card in cards(own_hand | other_hand)) + position.LAST, -1, 99
        )
        times.append(time.process_time() - start)
        solved = solver.solve(position)
        assert solved
        assert max(solved.values()) == value, "the solver and plain alpha-beta differ"
    typer.echo(
        f"baseline, plain alpha-beta in Python for the best card alone, two hands of {PLAIN_EACH}: median"
        f" {1000 * statistics.median(times):.0f} ms, worst of {BASELINES} {1000 * max(times):.0f} ms"
    )
    for seats, sizes in ((2, TWO_HANDS), (4, FOUR_HANDS)):
        for each in sizes:
            times, positions = [], []
            for number in range(SOLVES if COMPILED else BASELINES):
                position = random_ending(Random(f"{seats} {each} {number}"), seats, each)
                start = time.process_time()
                solved = solver.solve(position)
                times.append(time.process_time() - start)
                positions.append(solver.positions)
            hands = "two" if seats == 2 else "four"
            report(f"every card's value, {hands} open hands of {each}", times, positions)
    for left in WITH_PACKETS:
        times, positions = [], []
        for number in range(SOLVES if COMPILED else BASELINES):
            position = packets_ending(Random(f"packets {left} {number}"), left)
            start = time.process_time()
            solver.solve(position)
            times.append(time.process_time() - start)
            positions.append(solver.positions)
        report(f"every move's value, {left} cards in two hands and packets", times, positions)
