"""`python -m benchmarks robots`: levels against each other on the same packs, each played twice with seats swapped."""

import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from random import Random
from typing import Annotated

import typer

from benchmarks.reference import ReferenceRobot
from engine import GAMES, Game, game_kind
from engine.robots import Robot, act, make_robot
from engine.robots.strong import DEFAULT_SEARCH, StrongRobot

Pair = tuple[str, str]

PAIRS: tuple[Pair, ...] = (
    ("easy", "random"),
    ("medium", "easy"),
    ("strong", "medium"),
    ("strong", "plain"),
    ("strong", "flat"),
)
"""Who is measured against whom: each level against the one below it, and the strong one against two references."""

DEALS_FOR_A_GAME = 10
"""For so many packs one whole game is played, unless it is said how many."""

SECONDS_UNMEASURED = 0.02
"""Of CPU, a card, for the reference when the strong robot's own was not measured before."""

CONFIDENCE = 1.96


@dataclass
class Tally:
    """What a pair's deals and games came to, for the first of the two. ``seconds`` are of CPU, by move and player."""

    margins: list[float] = field(default_factory=list)
    games: int = 0
    won: int = 0
    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))


def make_player(name: str, seed: str, seconds: float) -> Robot:
    """A robot by its name; "plain" is the reference with as many seconds of CPU a card, "flat" the strong robot's own
    search without its tree and without what it reads from the others' play.
    """
    if name == "plain":
        return ReferenceRobot(Random(seed), seconds)
    if name == "flat":
        return StrongRobot(Random(seed), search=DEFAULT_SEARCH.without_tree())
    return make_robot(name, Random(seed))


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


def play_pack(number: int, game_id: str, names: Pair, seconds: float) -> Tally:
    """One pack, played twice with seats swapped."""
    tally, margin = Tally(), 0.0
    secret = Random(f"{game_id} {number}").randbytes(32)
    for first in (0, 1):
        # The highest target there is, so that nobody claims what only a whole game decides.
        game = Game(game_id, {"target": max(GAMES[game_id].rules.choices()["target"])}, dealer=number % 2)
        game.deal(secret)
        play_deal(game, _make_robots(game_id, names, f"{number} {first}", seconds, first), tally.seconds, first)
        margin += (1 - 2 * first) * (game.totals[0] - game.totals[1]) / 2
    tally.margins.append(margin)
    return tally


def play_game(number: int, game_id: str, names: Pair, seconds: float) -> Tally:
    """A game to its usual target. Each two numbers that follow each other have the same packs, with seats swapped."""
    packs, first = divmod(number, 2)
    random = Random(f"game {game_id} {packs}")
    game = Game(game_id)
    robots = _make_robots(game_id, names, f"game {number}", seconds, first)
    while not game.over:
        game.deal(random.randbytes(32))
        play_deal(game, robots, ([], []), first)
    return Tally(games=1, won=int(game.winner[0] & 1 == first) if game.winner else 0)


def _make_robots(game_id: str, names: Pair, seed: str, seconds: float, first: int) -> list[Robot]:
    return [make_player(names[(seat ^ first) & 1], f"{seed} {seat}", seconds) for seat in range(GAMES[game_id].seats)]


def play_pair(game_id: str, names: Pair, deals: int, games: int, seconds: float, workers: int | None) -> Tally:
    """All packs and games of a pair, on all cores."""
    whole = Tally()
    pack = partial(play_pack, game_id=game_id, names=names, seconds=seconds)
    game = partial(play_game, game_id=game_id, names=names, seconds=seconds)
    label = f"{game_id} {names[0]} : {names[1]}"
    with (
        ProcessPoolExecutor(workers) as pool,
        typer.progressbar(length=deals + games, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar,
    ):
        # Both are under way before either is waited for.
        played = pool.map(pack, range(deals), chunksize=2), pool.map(game, range(games))
        for one in chain(*played):
            whole.margins += one.margins
            whole.games += one.games
            whole.won += one.won
            for side in (0, 1):
                whole.seconds[side].extend(one.seconds[side])
            bar.update(1)
    return whole


def format_line(names: Pair, tally: Tally) -> str:
    """A pair's result in a line."""
    parts = []
    if tally.margins:
        spread = statistics.stdev(tally.margins) if len(tally.margins) > 1 else 0.0
        error = CONFIDENCE * spread / len(tally.margins) ** 0.5
        mean = statistics.mean(tally.margins)
        parts.append(f"{mean:+6.2f} ± {error:.2f} points a deal over {len(tally.margins)} packs")
    if tally.games:
        low, high = win_interval(tally.won, tally.games)
        parts.append(f"{tally.won} of {tally.games} games ({100 * low:.0f} to {100 * high:.0f} %)")
    if tally.margins:
        times = [sorted(1000 * one for one in spent) for spent in tally.seconds]
        medians = " : ".join(f"{one[len(one) // 2]:.1f}" for one in times)
        worst = " : ".join(f"{one[len(one) * 99 // 100]:.1f}" for one in times)
        parts.append(f"CPU a move {medians} ms, p99 {worst}")
    return f"  {names[0]:>6} : {names[1]:6} {', '.join(parts)}"


def win_interval(won: int, games: int) -> tuple[float, float]:
    """The interval that the share of games won lies in with 95 % (Wilson's: it holds for few games and for all won)."""
    part, z = won / games, CONFIDENCE**2 / games
    middle, half = part + z / 2, CONFIDENCE * (part * (1 - part) / games + z / (4 * games)) ** 0.5
    return max(0.0, (middle - half) / (1 + z)), min(1.0, (middle + half) / (1 + z))


def command(
    game: Annotated[list[str] | None, typer.Option(help="Only this game; several may follow.")] = None,
    deals: Annotated[int, typer.Option(min=0, help="How many packs, each played twice with seats swapped.")] = 100,
    games: Annotated[
        int | None, typer.Option(min=0, help="How many games to the usual target; without it one for each ten packs.")
    ] = None,
    pair: Annotated[
        list[str] | None, typer.Option(help="Only this pair, as in strong:medium; several may follow.")
    ] = None,
) -> None:
    """Levels of robots against each other and two references: points a deal, games won, CPU a move."""
    known = {":".join(names): names for names in PAIRS}
    if wrong := [one for one in pair or () if one not in known]:
        typer.echo(f"There is no pair {wrong[0]!r}; there are: {', '.join(known)}.", err=True)
        raise typer.Exit(2)
    if not deals and not games:
        typer.echo("Nothing to play: --deals or --games must be more than 0.", err=True)
        raise typer.Exit(2)
    run([game_kind(one).id for one in game or GAMES], deals, games, [known[one] for one in pair] if pair else PAIRS)


def run(
    game_ids: Sequence[str],
    deals: int,
    games: int | None = None,
    pairs: Sequence[Pair] = PAIRS,
    workers: int | None = None,
) -> None:
    """Play and print a line for each game and pair."""
    games = deals // DEALS_FOR_A_GAME if games is None else games
    for game_id in game_ids:
        typer.echo(f"{game_id}: each pack and game played twice with seats swapped, intervals of 95 %")
        spent = SECONDS_UNMEASURED
        for names in pairs:
            tally = play_pair(game_id, names, deals, games, spent, workers)
            # The reference gets what the strong robot takes for a card that it has to think about.
            thought = [one for one in tally.seconds[0] if one > 0.001]
            if names == ("strong", "medium") and thought:
                spent = statistics.mean(thought)
            typer.echo(
                format_line(names, tally) + (f"; plain had {1000 * spent:.1f} ms a card" if "plain" in names else "")
            )
