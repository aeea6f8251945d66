"""`buongioco bench`: what is fast, and how fast."""

from typing import Any, ClassVar

import typer

from benchmarks.limits import BenchFailed
from bot.cli.errors import told
from bot.cli.lazy import LazyGroup
from bot.cli.output import say


class Benches(LazyGroup):
    """A bench that cannot go on says why in a line, and ends with exit code 1."""

    places: ClassVar = {
        "engine": "benchmarks.engine:run",
        "store": "benchmarks.store:run",
        "scale": "benchmarks.scale:run",
        "robots": "benchmarks.robots:command",
        "solver": "benchmarks.solver:run",
        "pictures": "benchmarks.pictures:command",
        "presses": "benchmarks.presses:command",
        "find": "benchmarks.find:run",
        "web": "benchmarks.web:run",
        "daily": "benchmarks.daily:run",
        "start": "benchmarks.start:run",
        "compare": "benchmarks.compare:command",
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
