"""`python -m benchmarks daily`: how much of a day's result is cards, and how much is play.

For a row of days of each game: par (the strong robot in the seat), and what simpler players make of the same cards
against the same robot, less par. Both in points as the table counts them, with their standard deviations.
"""

import statistics
from hashlib import sha256
from random import Random
from typing import Annotated

import typer

from bot.cli.progress import progress
from bot.features.daily.deal import DayResult, play_with_robots
from engine import GAMES

SIMPLER = ("medium", "easy")


def run(
    deals: Annotated[int, typer.Option(min=2, help="Days of each game; 52 are a year.")] = 52,
    game: Annotated[list[str] | None, typer.Option(help="Only this game; may be repeated.")] = None,
) -> None:
    """Play days of each game by robots alone: par's spread, and how far simpler players stay behind it."""
    games = game or list(GAMES)
    if unknown := [one for one in games if one not in GAMES]:
        raise typer.BadParameter(f"{unknown[0]} is no game: {', '.join(GAMES)}", param_hint="--game")
    typer.echo(f"{deals} days of each game; margins in points, mean ± standard deviation")
    head = "".join(f"{name + ' less par':>20}" for name in SIMPLER)
    typer.echo(f"{'':14}{'par':>16}{head}")
    with progress(deals * len(games), "days") as bar:
        for one in games:
            pars: list[int] = []
            behind: dict[str, list[int]] = {name: [] for name in SIMPLER}
            for number in range(deals):
                secret = sha256(f"bench daily {one} {number}".encode()).digest()
                par = _margin(play_with_robots(one, secret))
                pars.append(par)
                for name in SIMPLER:
                    behind[name].append(_margin(play_with_robots(one, secret, name, Random(number))) - par)
                bar.update(1)
            columns = "".join(f"{_spread(behind[name]):>20}" for name in SIMPLER)
            typer.echo(f"{one:14}{_spread(pars):>16}{columns}")


def _margin(result: DayResult) -> int:
    assert result.margin is not None
    return result.margin


def _spread(values: list[int]) -> str:
    return f"{statistics.mean(values):+.1f} ± {statistics.stdev(values):.1f}"
