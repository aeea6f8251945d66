"""`buongioco simulate`: games of robots among themselves."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.arguments import GameId, MoreRules, Rules, options_of, players_of
from bot.cli.progress import progress
from bot.simulation import simulate as simulate_game
from engine import game_kind
from engine.robots import ROBOTS


def simulate(
    game: GameId,
    number: Annotated[int, typer.Option("--games", min=1, help="How many games.")] = 1,
    seed: Annotated[str, typer.Option(help="The same seed gives the same games.")] = "0",
    rules: Rules = None,
    more: MoreRules = None,
    players: Annotated[str, typer.Option(help=f"{' or '.join(ROBOTS)}; or one for each seat, with commas.")] = "random",
    legal: Annotated[bool, typer.Option("--legal", help="Add to each move the list of legal moves.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write here instead of to the screen.")] = None,
) -> None:
    """Let robots play games and write their records, one a line."""
    kind = game_kind(game)
    options = options_of(kind, rules, more)
    names = players_of(kind, players)
    try:
        opened = out.open("w", encoding="utf-8") if out else nullcontext(sys.stdout)
    except OSError as error:
        raise typer.BadParameter(f"{out}: {error.strerror}", param_hint="--out") from None
    with opened as file, progress(number, game) as bar:
        for count in range(1, number + 1):
            record = simulate_game(game, options, names, f"{seed}/{game}/{count}", legal=legal)
            file.write(record.to_json() + "\n")
            bar.update(1)
