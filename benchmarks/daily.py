"""`python -m benchmarks daily`: the shares of luck and skill in a daily result.

Par is the result of the strong robot in the player's seat. The benchmark measures par for several days of each game,
and how far simpler players stay below it. Both are in the table's points, with standard deviations.
"""

import statistics
from hashlib import sha256
from random import Random
from typing import Annotated

import typer

from bot.cli.output import progress
from bot.features.daily.results import play_with_robots
from bot.solo_deals.results import SoloResult
from engine import GAMES

SIMPLER = ("medium", "easy")


def run(
    deals: Annotated[int, typer.Option(min=2, help="Days of each game; 52 are a year.")] = 52,
    game: Annotated[list[str] | None, typer.Option(help="Only this game. Can be repeated.")] = None,
) -> None:
    """Let robots play daily deals. Measure the spread of par, and how far simpler players stay below it."""
    games = game or list(GAMES)
    if unknown_games := [name for name in games if name not in GAMES]:
        raise typer.BadParameter(f"{unknown_games[0]} is not a game. Games: {', '.join(GAMES)}", param_hint="--game")
    typer.echo(f"{deals} days of each game; margins in points, mean ± standard deviation")
    head = "".join(f"{name + ' less par':>20}" for name in SIMPLER)
    typer.echo(f"{'':14}{'par':>16}{head}")
    with progress(deals * len(games), "days") as bar:
        for game_id in games:
            pars: list[int] = []
            margins: dict[str, list[int]] = {name: [] for name in SIMPLER}
            for number in range(deals):
                secret = sha256(f"bench daily {game_id} {number}".encode()).digest()
                par = _margin(play_with_robots(game_id, secret))
                pars.append(par)
                for name in SIMPLER:
                    margins[name].append(_margin(play_with_robots(game_id, secret, name, Random(number))) - par)
                bar.update(1)
            columns = "".join(f"{_spread(margins[name]):>20}" for name in SIMPLER)
            typer.echo(f"{game_id:14}{_spread(pars):>16}{columns}")


def _margin(result: SoloResult) -> int:
    assert result.margin is not None
    return result.margin


def _spread(values: list[int]) -> str:
    return f"{statistics.mean(values):+.1f} ± {statistics.stdev(values):.1f}"
