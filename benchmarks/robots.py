"""`python -m benchmarks robots`: let levels play each other with the same packs, with seats swapped."""

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
from engine.robots.strong import DEFAULT_SEARCH, SearchSettings, StrongRobot

Pair = tuple[str, str]

# Pairs of players: each level against the one below it, and the strong one against two references.
PAIRS: tuple[Pair, ...] = (
    ("easy", "random"),
    ("medium", "easy"),
    ("strong", "medium"),
    ("strong", "plain"),
    ("strong", "flat"),
)

DEALS_FOR_A_GAME = 10  # by default, packs for each whole game
SECONDS_UNMEASURED = 0.02  # CPU a card for the reference if the strong robot's is unknown
CONFIDENCE = 1.96  # standard errors of a 95 % interval

EXPLORE_EVENLY = 10_000.0  # an exploration bonus so large that all cards are tried equally often
FLAT_SEARCH = SearchSettings(
    *(family._replace(pool=0, leeway=0.0, explore=EXPLORE_EVENLY, deepest=1) for family in DEFAULT_SEARCH)
)
"""Plain determinized Monte Carlo with the same work: no tree, and equal weights for all deals of the unseen cards."""


@dataclass
class Tally:
    """The first player's results in a pair. ``seconds`` are CPU times of moves, by player."""

    margins: list[float] = field(default_factory=list)
    games: int = 0
    won: int = 0
    seconds: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))


def make_player(name: str, seed: str, seconds: float) -> Robot:
    """Return a robot by name.

    "plain" is the reference with ``seconds`` of CPU a card. "flat" is the strong robot with `FLAT_SEARCH`.
    """
    if name == "plain":
        return ReferenceRobot(Random(seed), seconds)
    if name == "flat":
        return StrongRobot(Random(seed), search=FLAT_SEARCH)
    return make_robot(name, Random(seed))


def play_deal(game: Game, robots: Sequence[Robot], seconds: tuple[list[float], list[float]], first: int) -> None:
    """Play a deal to its end. ``first`` is the side of the pair's first player."""
    while not game.needs_deal and not game.is_over:
        turn = game.turn
        assert turn is not None
        start = time.process_time()
        act(game, turn, robots[turn])
        seconds[(turn ^ first) & 1].append(time.process_time() - start)


def play_pack(number: int, game_id: str, names: Pair, seconds: float) -> Tally:
    """Play one pack twice, with seats swapped."""
    tally, margin = Tally(), 0.0
    secret = Random(f"{game_id} {number}").randbytes(32)
    for first in (0, 1):
        # The highest target, so that no claim of the whole game ends the deal.
        game = Game(game_id, {"target": max(GAMES[game_id].rules.choices()["target"])}, dealer=number % 2)
        game.deal(secret)
        play_deal(game, _make_robots(game_id, names, f"{number} {first}", seconds, first), tally.seconds, first)
        margin += (1 - 2 * first) * (game.totals[0] - game.totals[1]) / 2
    tally.margins.append(margin)
    return tally


def play_game(number: int, game_id: str, names: Pair, seconds: float) -> Tally:
    """Play a game to its usual target. Numbers 2n and 2n + 1 have the same packs, with seats swapped."""
    packs, first = divmod(number, 2)
    random = Random(f"game {game_id} {packs}")
    game = Game(game_id)
    robots = _make_robots(game_id, names, f"game {number}", seconds, first)
    while not game.is_over:
        game.deal(random.randbytes(32))
        play_deal(game, robots, ([], []), first)
    return Tally(games=1, won=int(game.winner[0] & 1 == first) if game.winner else 0)


def _make_robots(game_id: str, names: Pair, seed: str, seconds: float, first: int) -> list[Robot]:
    return [make_player(names[(seat ^ first) & 1], f"{seed} {seat}", seconds) for seat in range(GAMES[game_id].seats)]


def play_pair(game_id: str, names: Pair, deals: int, games: int, seconds: float, workers: int | None) -> Tally:
    """Play all packs and games of a pair, on all cores."""
    whole = Tally()
    pack = partial(play_pack, game_id=game_id, names=names, seconds=seconds)
    game = partial(play_game, game_id=game_id, names=names, seconds=seconds)
    label = f"{game_id} {names[0]} : {names[1]}"
    with (
        ProcessPoolExecutor(workers) as pool,
        typer.progressbar(length=deals + games, label=label, file=sys.stderr, hidden=not sys.stderr.isatty()) as bar,
    ):
        # Start both before waiting for either.
        results = pool.map(pack, range(deals), chunksize=2), pool.map(game, range(games))
        for part in chain(*results):
            whole.margins += part.margins
            whole.games += part.games
            whole.won += part.won
            for side in (0, 1):
                whole.seconds[side].extend(part.seconds[side])
            bar.update(1)
    return whole


def format_line(names: Pair, tally: Tally) -> str:
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
        times = [sorted(1000 * seconds for seconds in spent) for spent in tally.seconds]
        medians = " : ".join(f"{each[len(each) // 2]:.1f}" for each in times)
        worst = " : ".join(f"{each[len(each) * 99 // 100]:.1f}" for each in times)
        parts.append(f"CPU a move {medians} ms, p99 {worst}")
    return f"  {names[0]:>6} : {names[1]:6} {', '.join(parts)}"


def win_interval(won: int, games: int) -> tuple[float, float]:
    """Return the 95 % interval of the share of games won. Wilson's formula is valid for few games and for all won."""
    part, z = won / games, CONFIDENCE**2 / games
    middle, half = part + z / 2, CONFIDENCE * (part * (1 - part) / games + z / (4 * games)) ** 0.5
    return max(0.0, (middle - half) / (1 + z)), min(1.0, (middle + half) / (1 + z))


def command(
    game: Annotated[list[str] | None, typer.Option(help="Only this game. Can be repeated.")] = None,
    deals: Annotated[int, typer.Option(min=0, help="Number of packs, each played twice with seats swapped.")] = 100,
    games: Annotated[
        int | None, typer.Option(min=0, help="Number of games to the usual target. Default: one for ten packs.")
    ] = None,
    pair: Annotated[
        list[str] | None, typer.Option(help="Only this pair, such as strong:medium. Can be repeated.")
    ] = None,
) -> None:
    """Let robots play each other and two references. Print points per deal, games won, CPU per move."""
    known_pairs = {":".join(names): names for names in PAIRS}
    if unknown_pairs := [name for name in pair or () if name not in known_pairs]:
        typer.echo(f"There is no pair {unknown_pairs[0]!r}; there are: {', '.join(known_pairs)}.", err=True)
        raise typer.Exit(2)
    if not deals and not games:
        typer.echo("Nothing to play: --deals or --games must be more than 0.", err=True)
        raise typer.Exit(2)
    run(
        [game_kind(name).id for name in game or GAMES],
        deals,
        games,
        [known_pairs[name] for name in pair] if pair else PAIRS,
    )


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
            # The reference gets the strong robot's mean time for a card that needs thought.
            thinking_times = [seconds for seconds in tally.seconds[0] if seconds > 0.001]
            if names == ("strong", "medium") and thinking_times:
                spent = statistics.mean(thinking_times)
            typer.echo(
                format_line(names, tally) + (f"; plain had {1000 * spent:.1f} ms a card" if "plain" in names else "")
            )
