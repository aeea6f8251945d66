"""Run `buongioco` commands in the tests' process, because starting a process takes longer than most commands."""

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from bot.cli.main import main


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Return the environment of a host with only these settings and its data in this folder."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("BUONGIOCO", "REDIS"))}
    return {**clean, "BUONGIOCO_DATA": str(folder / "data"), **settings}


def exit_status(end: SystemExit) -> int:
    """Return the exit status of a process that ends with this exception. A text is a failure."""
    if end.code is None:
        return 0
    return end.code if isinstance(end.code, int) else 1


def run_command(folder: Path, *arguments: str, text: str = "", **settings: str) -> CompletedProcess[str]:
    """Run a command in a folder with a text as its input. Unexpected exceptions are raised."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    umask = os.umask(0o022)
    with (
        chdir(folder),
        patch.dict(os.environ, environment(folder, **settings), clear=True),
        patch.object(sys, "argv", ["buongioco", *arguments]),
        # The handlers of signals that end a command must not end the tests.
        patch("bot.cli.main.treat_signals_as_ctrl_c"),
        patch.object(sys, "stdin", io.StringIO(text)),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = exit_status(end)
        finally:
            os.umask(umask)
    return CompletedProcess(["buongioco", *arguments], code, out.getvalue(), err.getvalue())
