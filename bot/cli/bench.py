"""`buongioco bench`: what is fast, and how fast."""

from typing import ClassVar

import typer

from bot.cli.lazy import LazyGroup


class Benches(LazyGroup):
    places: ClassVar = {
        "engine": "bot.bench.engine:run",
        "store": "bot.bench.store:run",
        "scale": "bot.bench.scale:run",
        "robots": "bot.bench.robots:command",
        "solver": "bot.bench.solver:run",
        "presses": "bot.bench.presses:command",
        "start": "bot.bench.start:run",
    }


app = typer.Typer(cls=Benches, no_args_is_help=True, add_completion=False)


@app.callback()
def _about() -> None:
    """Measure, each figure beside its baseline."""
