"""Progress bars."""

import sys
from contextlib import AbstractContextManager
from typing import Protocol

import typer

from bot.cli.output import clean_text


class ProgressBar(Protocol):
    def update(self, n_steps: int, /) -> None: ...


def progress(length: int, label: str) -> AbstractContextManager[ProgressBar]:
    """Return a progress bar on stderr, hidden if stderr is not a terminal."""
    return typer.progressbar(length=length, label=clean_text(label), file=sys.stderr, hidden=not sys.stderr.isatty())
