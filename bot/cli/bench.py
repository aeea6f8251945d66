"""`buongioco bench`: what is fast, and how fast."""

from typing import Any, ClassVar

import typer

from bot.bench.limits import BenchFailed
from bot.cli.errors import told
from bot.cli.lazy import LazyGroup
from bot.cli.output import say


class Benches(LazyGroup):
    """A bench that cannot go on says why in a line, and ends with exit code 1."""

    places: ClassVar = {
        "engine": "bot.bench.engine:run",
        "store": "bot.bench.store:run",
        "scale": "bot.bench.scale:run",
        "robots": "bot.bench.robots:command",
        "solver": "bot.bench.solver:run",
        "pictures": "bot.bench.pictures:command",
        "presses": "bot.bench.presses:command",
        "find": "bot.bench.find:run",
        "web": "bot.bench.web:run",
        "daily": "bot.bench.daily:run",
        "start": "bot.bench.start:run",
        "compare": "bot.bench.compare:command",
    }

    def invoke(self, ctx: Any) -> Any:
        try:
            with told():
                return super().invoke(ctx)
        except BenchFailed as failure:
            say(f"buongioco bench: {failure}", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(cls=Benches, no_args_is_help=True, add_completion=False)


@app.callback()
def _about() -> None:
    """Measure, each figure beside its baseline."""
