"""`python -m benchmarks`: measure speed and size next to baselines."""

from typing import Any, ClassVar

import typer

from benchmarks.limits import BenchFailed
from bot.cli.main import LazyGroup, main
from bot.cli.output import say
from bot.cli.store_commands import report_errors


class Benchmarks(LazyGroup):
    """All benchmarks. A failed benchmark prints the reason and exits with code 1."""

    targets: ClassVar = {
        "engine": "benchmarks.engine:run",
        "store": "benchmarks.store:run",
        "scale": "benchmarks.scale:run",
        "robots": "benchmarks.robots:command",
        "hints": "benchmarks.hints:run",
        "solver": "benchmarks.solver:run",
        "pictures": "benchmarks.pictures:command",
        "presses": "benchmarks.presses:command",
        "widgets": "benchmarks.widgets:run",
        "find": "benchmarks.find:run",
        "web": "benchmarks.web:run",
        "table": "benchmarks.table:run",
        "daily": "benchmarks.daily:run",
        "branches": "benchmarks.branches:run",
        "start": "benchmarks.start:run",
        "compare": "benchmarks.compare:command",
    }

    def invoke(self, ctx: Any) -> Any:
        try:
            with report_errors():
                return super().invoke(ctx)
        except BenchFailed as failure:
            say(f"benchmarks: {failure}", err=True)
            raise typer.Exit(1) from None


app = typer.Typer(cls=Benchmarks, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def _about() -> None:
    """Measure speed and size next to baselines."""


if __name__ == "__main__":
    main(app)
