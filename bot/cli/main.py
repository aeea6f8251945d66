"""The command `buongioco`."""

import errno
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from bot.cli.output import OutputError, abandon_streams, clean_text, flush, prepare_streams, say
from bot.version import VERSION
from engine.errors import EngineError


class LazyGroup(TyperGroup):
    """A command group. ``targets`` maps each name to the ``module:name`` of a function or a `typer.Typer`."""

    targets: ClassVar[Mapping[str, str]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Click reads these names to list the commands and to correct a misspelt one.
        self.commands = {name: TyperCommand(name) for name in self.targets}

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import and return a command; None if the name is unknown."""
        if cmd_name not in self.targets:
            return None
        module, _, name = self.targets[cmd_name].partition(":")
        target = getattr(import_module(module), name)
        if not isinstance(target, typer.Typer):
            function, target = target, typer.Typer(add_completion=False)
            target.command()(function)
        command = typer.main.get_command(target)
        command.name = cmd_name
        return command


class Commands(LazyGroup):
    """All commands. Error messages are cleaned like other output, because they can quote strangers' names."""

    targets: ClassVar = {
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
        "link": "bot.cli.link:link",
        "reports": "bot.cli.reports:reports_app",
        "daily": "bot.cli.daily:daily",
        "token": "bot.cli.token:token_app",
        "puzzles": "bot.cli.puzzles:puzzles_app",
        "tables": "bot.cli.tables:tables_app",
        "ban": "bot.cli.levers:ban",
        "unban": "bot.cli.levers:unban",
        "bans": "bot.cli.levers:bans",
        "announce": "bot.cli.levers:announce",
        "maintenance": "bot.cli.levers:maintenance",
        "levers": "bot.cli.levers:log",
    }

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = clean_text(error.message)
            raise


# Turn off pretty exceptions, because they show local variables, which hold hands and tokens.
app = typer.Typer(cls=Commands, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _show_version(value: bool) -> None:
    if value:
        say(f"buongioco {VERSION}")
        raise typer.Exit


@app.callback()
def _about(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Italian trick-taking cards."""


def treat_signals_as_ctrl_c() -> None:
    """Make signals end a command as Ctrl-C does, so that it cleans up. `run` has its own handlers."""
    for name in ("SIGTERM", "SIGHUP"):
        # Windows has no SIGHUP, and under `nohup` it is ignored.
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)


def main(app: typer.Typer = app) -> None:
    """Run a command line. Report a user's mistake in one line. Only the owner can read files that commands write."""
    os.umask(0o077)
    treat_signals_as_ctrl_c()
    prepare_streams()
    try:
        try:
            app()
        except EngineError as error:
            say(f"buongioco: {error}", err=True)
            sys.exit(2)
        finally:
            flush()
    except BrokenPipeError:
        # The program that reads the output closed the pipe, as `| head` does.
        abandon_streams()
        sys.exit(1)
    except (OutputError, OSError) as error:
        # Rich does not print help texts through `say`, so a failure is a plain OSError.
        if isinstance(error, OSError) and error.errno != errno.ENOSPC:
            raise
        with suppress(OutputError):
            say(f"buongioco: Standard output cannot be written: {getattr(error, 'strerror', error)}", err=True)
        abandon_streams()
        sys.exit(1)
