"""`buongioco` with some words, as a user would call it, but in the tests' own process: starting one takes longer than
most commands do.
"""

import io
import os
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from bot.cli.main import main


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """That of a host with these settings and no others, whose bot has its data there."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("BUONGIOCO", "REDIS"))}
    return {**clean, "BUONGIOCO_DATA": str(folder / "data"), **settings}


def exit_status(end: SystemExit) -> int:
    """That of a process that ends so: a text, which Python writes to stderr, is a failure."""
    if end.code is None:
        return 0
    return end.code if isinstance(end.code, int) else 1


def run_command(folder: Path, *words: str, text: str = "", **settings: str) -> CompletedProcess[str]:
    """Call it in a folder and give it a text to read. What it does not expect is raised."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    umask = os.umask(0o022)
    with (
        chdir(folder),
        patch.dict(os.environ, environment(folder, **settings), clear=True),
        patch.object(sys, "argv", ["buongioco", *words]),
        # What ends a command is not to end the tests so.
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
    return CompletedProcess(["buongioco", *words], code, out.getvalue(), err.getvalue())
