"""`python -m benchmarks engine`: playouts and moves a second, compared with OpenSpiel's spades in the same process."""

import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import typer

from bot.robots.simulation import simulate
from engine import GAMES, Game, load, read
from engine.position import SearchPosition, search_position

ROUNDS = 5
SECONDS = 0.4  # time for each measurement; a round makes all measurements, so a machine that slows down affects all
GAMES_WEIGHED = 21

Playout = Callable[[], int]  # plays once to the end and returns the number of moves


def public_playout(game_id: str, rng: random.Random) -> Playout:
    """Return a playout of one deal through `legal_moves` and `play`, with shuffle and scoring."""

    def playout() -> int:
        game = Game(game_id, dealer=0)
        game.deal(rng.randbytes(32))
        ways_to_end = 2 if game.rules.allows_claims else 1
        chance, moves = rng.random, 0
        while (seat := game.turn) is not None:
            legal = game.legal_moves(seat)
            game.play(seat, legal[int(chance() * (len(legal) - ways_to_end))])
            moves += 1
        return moves

    return playout


def opening_position(game_id: str, rng: random.Random) -> SearchPosition:
    """Return the search position of a random deal at its first card."""
    game = Game(game_id, dealer=0)
    game.deal(rng.randbytes(32))
    while game.current and game.current.phase != "play" and game.turn is not None:
        game.play(game.turn, rng.choice(game.current.legal_moves(game.turn)))
    assert game.current
    return search_position(game.current)


def position_playout(start: SearchPosition) -> Playout:
    """Return a playout of a position that plays the highest legal card each time."""

    def playout() -> int:
        position = start.copy()
        while position.cards_left:
            position.play(position.legal_cards().bit_length() - 1)
        return start.cards_left

    return playout


def openspiel_playout(rng: random.Random) -> Playout | None:
    """Return a playout of OpenSpiel's spades, driven from Python; None if it is not installed."""
    try:
        import pyspiel  # noqa: PLC0415 - it can be missing
    except ImportError:
        return None
    spades: Any = pyspiel.load_game("spades")

    def playout() -> int:
        state, steps = spades.new_initial_state(), 0
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
            steps += 1
        return steps

    return playout


def measure(playout: Playout) -> tuple[float, float]:
    """Return moves a second and playouts a second."""
    moves = playouts = 0
    start = time.perf_counter()
    while (spent := time.perf_counter() - start) < SECONDS:
        moves += playout()
        playouts += 1
    return moves / spent, playouts / spent


def microseconds(action: Callable[[], object], times: int = 300) -> float:
    """Return the median over rounds of an action's mean time."""
    means = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(times):
            action()
        means.append((time.perf_counter() - start) / times * 1e6)
    return statistics.median(means)


def run() -> None:
    """Measure playouts and moves a second, copying, loading and record sizes."""
    rng = random.Random(1)
    baseline = openspiel_playout(rng)
    rows: dict[str, list[Playout]] = {}
    for game_id in GAMES:
        start = opening_position(game_id, rng)
        rows[game_id] = [public_playout(game_id, rng), position_playout(start)]
    figures: dict[str, list[list[tuple[float, float, float]]]] = {name: [[], []] for name in rows}
    baselines = []
    for _ in range(ROUNDS):
        for name, playouts in rows.items():
            for path, playout in enumerate(playouts):
                base = measure(baseline)[0] if baseline else float("nan")
                baselines.append(base)
                moves, each = measure(playout)
                figures[name][path].append((moves, each, moves / base))
    _print_playouts(figures, baselines)
    _print_costs(rng)


def _print_playouts(figures: dict[str, list[list[tuple[float, float, float]]]], baselines: list[float]) -> None:
    if baselines[0] != baselines[0]:
        typer.echo("OpenSpiel is not installed, so there are no ratios: run uv pip install --group benchmarks.")
    else:
        typer.echo(
            f"OpenSpiel spades, from Python: {statistics.median(baselines):,.0f} steps/s (median); × is relative to it"
        )
    paths = ("public API: legal_moves + play", "light: copy + legal + play, card by card")
    for path, title in enumerate(paths):
        typer.echo(f"\n{title}\n{'':12}{'moves/s':>12}{'playouts/s':>12}{'×':>8}")
        for name, measured in figures.items():
            moves, seconds_each, ratio = (statistics.median(column) for column in zip(*measured[path], strict=True))
            typer.echo(f"{name:12}{moves:12,.0f}{seconds_each:12,.0f}{ratio:8.2f}")


def _load(live: str) -> Game:
    return load(read(live))


def _print_costs(rng: random.Random) -> None:
    typer.echo(f"\n{'':12}{'copy deal':>12}{'copy light':>12}{'load live':>12}{'moves':>8}{'record':>10}")
    for game_id, kind in GAMES.items():
        game = Game(game_id, dealer=0)
        game.deal(rng.randbytes(32))
        while game.turn is not None:
            before = game.record().to_json(), len(game.moves)
            game.play(game.turn, rng.choice(game.legal_moves(game.turn)[: -2 if game.rules.allows_claims else -1]))
        live, moves = before
        deal, start = load(read(live)).current, opening_position(game_id, rng)
        assert deal
        sizes = [len(simulate(game_id, {}, ["greedy"] * kind.seats, str(n)).to_json()) for n in range(GAMES_WEIGHED)]
        loading = microseconds(partial(_load, live), 50)
        copying, light_copying = microseconds(deal.copy), microseconds(start.copy)
        typer.echo(
            f"{game_id:12}{copying:9.2f} µs{light_copying:9.2f} µs{loading:9.0f} µs{moves:8}"
            f"{statistics.median(sizes) / 1000:7.1f} kB"
        )
    typer.echo("copy: a deal; load: a live game from its record as JSON, a move before the deal's end;")
    typer.echo(f"record: a finished game at default rules between greedy players, as JSON, median of {GAMES_WEIGHED}.")
