"""The command `buongioco`."""

import os
import signal
import sys
from importlib.metadata import version
from typing import Annotated, ClassVar

import typer

from bot.cli.lazy import LazyGroup
from engine.errors import EngineError


class Commands(LazyGroup):
    places: ClassVar = {
        "games": "bot.cli.games:games",
        "simulate": "bot.cli.simulate:simulate",
        "verify": "bot.cli.verify:verify_files",
        "replay": "bot.cli.replay:replay",
        "analyse": "bot.cli.analysis:analyse",
        "play": "bot.cli.play:play",
        "run": "bot.cli.run:run",
        "doctor": "bot.cli.doctor:doctor",
        "export": "bot.cli.archive:export",
        "rebuild": "bot.cli.archive:rebuild",
        "archive": "bot.cli.archive:archive",
        "backup": "bot.cli.backup:backup",
        "restore": "bot.cli.backup:restore",
        "forget": "bot.cli.forget:forget",
        "bench": "bot.cli.bench:app",
        "link": "bot.cli.link:link",
        "reports": "bot.cli.reports:reports_app",
        "daily": "bot.cli.daily:daily",
        "token": "bot.cli.token:token_app",
        "puzzles": "bot.cli.puzzles:puzzles_app",
        "tables": "bot.cli.tables:tables_app",
    }


# No pretty exceptions: they show local variables, and those hold hands and tokens.
app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"buongioco {version('buongioco')}")
        raise typer.Exit


@app.callback()
def _about(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Italian trick-taking cards."""


def end_as_by_ctrl_c() -> None:
    """Have signals end a command as Ctrl-C does: what it has begun is cleared away. `run` has a way of its own."""
    for name in ("SIGTERM", "SIGHUP"):
        # Windows has no SIGHUP, and `nohup` has it ignored.
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def main() -> None:
    """Run the command; a fault of the user's is one line on stderr. What it writes is for its user alone."""
    os.umask(0o077)
    end_as_by_ctrl_c()
    try:
        app()
    except EngineError as error:
        typer.echo(f"buongioco: {error}", err=True)
        sys.exit(2)
