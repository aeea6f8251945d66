"""Output of commands: text, questions and progress bars for people, lines of JSON, and files.

Names come from strangers and can contain escape sequences, which a terminal obeys. So text goes through `say`, JSON
through `json_line`. Ruff bans `typer.echo` and `print` elsewhere in this package.
"""

import errno
import io
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

import typer

from bot.identity.names import JOINERS


class OutputError(Exception):
    """Standard output cannot be written. The text says why."""


def clean_text(text: str) -> str:
    """Replace characters that a terminal can obey, such as ESC or a direction mark. Line breaks stay."""
    return "".join(
        char if char.isprintable() or char == "\n" or char in JOINERS else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def json_line(text: str, encoding: str = "utf-8") -> str:
    """Return the same JSON value in one line that is safe to print.

    Characters that a terminal can obey or that ``encoding`` lacks become ``\\uXXXX``. They occur in strings only.
    """
    is_unicode = encoding.lower().startswith("utf")

    def escape(char: str) -> str:
        is_safe = char.isprintable() and (is_unicode or char.isascii())
        return char if is_safe else json.dumps(char)[1:-1]

    return "".join(map(escape, text)) + "\n"


def say(text: object = "", *, err: bool = False, **style: Any) -> None:
    """Print lines for people. ``style`` goes to `typer.style`. Raises OutputError if printing fails."""
    cleaned = clean_text(str(text))
    with _standard_output():
        typer.echo(typer.style(cleaned, **style) if style else cleaned, err=err)


@contextmanager
def line_output(out: Path | None) -> Iterator[Callable[[str], None]]:
    """Open ``out`` and yield the function that writes a line of JSON. None and ``-`` mean standard output.

    Raises BadParameter if the file cannot be written, OutputError if standard output cannot.
    """
    if out in (None, Path("-")):

        def print_line(text: str) -> None:
            with _standard_output():
                sys.stdout.write(json_line(text, sys.stdout.encoding or "utf-8"))

        yield print_line
        flush()
        return

    @contextmanager
    def attempt() -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise typer.BadParameter(f"{out}: {error.strerror or error}", param_hint="--out") from None

    def write(text: str) -> None:
        with attempt():
            file.write(json_line(text))

    with attempt():
        file = out.open("w", encoding="utf-8")
    try:
        yield write
    finally:
        with attempt():
            file.close()


def format_count(count: int, noun: str) -> str:
    """Return a count with its noun: "1 game", "3 games"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def format_time(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def confirm(question: str) -> None:
    """Ask before something that cannot be undone. Exit with 1 if the answer is no or there is no terminal."""
    try:
        if not typer.confirm(clean_text(f"{question} (--yes skips this question)")):
            raise typer.Exit(1)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        say("\nbuongioco: There is no terminal to ask. Add --yes to skip the question.", err=True)
        raise typer.Exit(1) from None


class ProgressBar(Protocol):
    def update(self, n_steps: int, /) -> None: ...


def progress(length: int, label: str) -> AbstractContextManager[ProgressBar]:
    """Return a progress bar on stderr, hidden if stderr is not a terminal."""
    return typer.progressbar(length=length, label=clean_text(label), file=sys.stderr, hidden=not sys.stderr.isatty())


def prepare_streams() -> None:
    """Keep standard input and output from failing on characters that their encoding lacks.

    Standard error never fails on them.
    """
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def flush() -> None:
    """Flush standard output. Raises OutputError if that fails."""
    with _standard_output():
        if sys.stdout:
            sys.stdout.flush()


def abandon_streams() -> None:
    """Drop unwritable output, so that Python does not fail on it at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream:
                stream.flush()
        except OSError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _standard_output() -> Iterator[None]:
    """Raise OutputError if standard output cannot be written, as on a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:
            # The program that reads the output closed the pipe, as `| head` does. Typer ends the command.
            raise
        raise OutputError(error.strerror or str(error)) from None
