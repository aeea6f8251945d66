"""`buongioco bench robots`: levels against each other on the same packs, each played twice with seats swapped."""

import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from random import Random

import typer

from bot.bench.reference import ReferenceRobot
from engine import GAMES, Game
from engine.robots import Robot, act, robot
from engine.robots.strong import SEARCH_AS_USUAL, StrongRobot

PAIRS = (("easy", "random"), ("medium", "easy"), ("strong", "medium"), ("strong", "plain"), ("strong", "flat"))
"""Who is measured against whom: each level against the one below it, and the strong one against two references."""

GAMES_FOR = 10
"""For so many deals one whole game is played."""

CONFIDENCE = 1.96


@dataclass
class Tally:
    """What a pair's deals and games came to, for the first of the two. ``seconds`` are of CPU, by move and player."""

    margins: list[float] = field(default_factory=list)
    games: int = 0
    won: int = 0
    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))


def player(name: str, seed: str, seconds: float) -> Robot:
    """A robot by its name; "plain" is the reference with as many seconds of CPU a card, "flat" the strong robot's own
    search without its tree and without what it reads from the others' play.
    """
    if name == "plain":
        return ReferenceRobot(Random(seed), seconds)
    if name == "flat":
        return StrongRobot(Random(seed), search=SEARCH_AS_USUAL.flat())
    return robot(name, Random(seed))


def play_deal(game: Game, robots: Sequence[Robot], seconds: tuple[list[float], list[float]], first: int) -> None:
    """Play the deal on the table, each robot asked at its turn as the bot does; seats of ``first``'s side are those of
    the first player.
    """
    while not game.needs_deal and not game.over:
        turn = game.turn
        assert turn is not None
        start = time.process_time()
        act(game, turn, robots[turn])
        seconds[(turn ^ first) & 1].append(time.process_time() - start)


def duplicate(game_id: str, names: tuple[str, str], number: int, seconds: float) -> Tally:
    """One pack, played twice with seats swapped; and for some packs a whole game."""
    tally, margin = Tally(), 0.0
    secret = Random(f"{game_id} {number}").randbytes(32)
    for first in (0, 1):
        # The highest target there is, so that nobody claims what only a whole game decides.
        game = Game(game_id, {"target": max(GAMES[game_id].rules.choices()["target"])}, dealer=number % 2)
        game.deal(secret)
        play_deal(game, _seated(game_id, names, f"{number} {first}", seconds, first), tally.seconds, first)
        margin += (1 - 2 * first) * (game.totals[0] - game.totals[1]) / 2
    tally.margins.append(margin)
    if number % GAMES_FOR == 0:
        first = number // GAMES_FOR % 2
        tally.games, tally.won = 1, int(_whole_game(game_id, names, number, seconds, first))
    return tally


def _seated(game_id: str, names: tuple[str, str], seed: str, seconds: float, first: int) -> list[Robot]:
    return [player(names[(seat ^ first) & 1], f"{seed} {seat}", seconds) for seat in range(GAMES[game_id].seats)]


def _whole_game(game_id: str, names: tuple[str, str], number: int, seconds: float, first: int) -> bool:
    random = Random(f"game {game_id} {number}")
    game = Game(game_id)
    robots = _seated(game_id, names, f"game {number}", seconds, first)
    while not game.over:
        game.deal(random.randbytes(32))
        play_deal(game, robots, ([], []), first)
    return bool(game.winner) and game.winner is not None and game.winner[0] & 1 == first


def _task(about: tuple[str, tuple[str, str], int, float]) -> Tally:
    return duplicate(*about)


def tallies(game_id: str, names: tuple[str, str], deals: int, seconds: float, workers: int | None) -> Tally:
    """All deals of a pair, on all cores."""
    whole = Tally()
    tasks = [(game_id, names, number, seconds) for number in range(deals)]
    label = f"{game_id} {names[0]} : {names[1]}"
    with (
        ProcessPoolExecutor(workers) as pool,
        typer.progressbar(length=deals, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar,
    ):
        for one in pool.map(_task, tasks, chunksize=2):
            whole.margins += one.margins
            whole.games += one.games
            whole.won += one.won
            for side in (0, 1):
                whole.seconds[side].extend(one.seconds[side])
            bar.update(1)
    return whole


def line(names: tuple[str, str], tally: Tally) -> str:
    """A pair's result in a line."""
    mean = statistics.mean(tally.margins)
    error = CONFIDENCE * statistics.stdev(tally.margins) / len(tally.margins) ** 0.5 if len(tally.margins) > 1 else 0.0
    times = [sorted(1000 * one for one in spent) for spent in tally.seconds]
    medians = " : ".join(f"{one[len(one) // 2]:.1f}" for one in times)
    worst = " : ".join(f"{one[len(one) * 99 // 100]:.1f}" for one in times)
    share = f"{100 * tally.won / tally.games:.0f} % of {tally.games} games" if tally.games else "no games"
    return (
        f"  {names[0]:>6} : {names[1]:6} {mean:+6.2f} ± {error:.2f} points a deal over {len(tally.margins)} packs,"
        f" {share}; CPU a move {medians} ms, p99 {worst}"
    )


def run(games: Sequence[str], deals: int, pairs: Sequence[tuple[str, str]] = PAIRS, workers: int | None = None) -> None:
    """The command's body."""
    for game_id in games:
        typer.echo(f"{game_id}: mean points a deal with a 95 % interval, each pack played twice with seats swapped")
        spent = 0.02
        for names in pairs:
            tally = tallies(game_id, names, deals, spent, workers)
            if names == ("strong", "medium"):
                # The reference gets what the strong robot takes for a card that it has to think about.
                thought = [one for one in tally.seconds[0] if one > 0.001]
                spent = statistics.mean(thought) if thought else spent
            typer.echo(line(names, tally))
