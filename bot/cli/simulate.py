"""`buongioco simulate`: games between robots."""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.arguments import GameId, MoreRules, Rules, options_of, robots_of
from bot.cli.output import line_output, progress
from bot.robots.simulation import simulate as simulate_game
from engine import game_kind
from engine.robots import ROBOTS


def simulate(
    game: GameId,
    number: Annotated[int, typer.Option("--games", min=1, help="How many games.")] = 1,
    seed: Annotated[str, typer.Option(help="The same seed gives the same games.")] = "0",
    rules: Rules = None,
    more: MoreRules = None,
    players: Annotated[str, typer.Option(help=f"{' or '.join(ROBOTS)}; or one per seat, with commas.")] = "random",
    legal: Annotated[bool, typer.Option("--legal", help="Add to each move the list of legal moves.")] = False,
    out: Annotated[Path | None, typer.Option(help="Output file. Default, or -: the screen.")] = None,
) -> None:
    """Let robots play games and write their records, one per line."""
    kind = game_kind(game)
    options, levels = options_of(kind, rules, more), robots_of(kind, players)
    with line_output(out) as write, progress(number, game) as bar:
        for count in range(1, number + 1):
            record = simulate_game(game, options, levels, f"{seed}/{game}/{count}", legal=legal)
            write(record.to_json())
            bar.update(1)
