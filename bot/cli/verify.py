"""`buongioco verify`: are records true?"""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.asking import counted
from bot.cli.files import records
from bot.cli.progress import progress
from engine import Record, verify
from engine.errors import BadRecord, EngineError, FaultyRecord

ERRORS_SHOWN = 5
"""How many faulty games of a file are named, before the count of the others."""

UNREADABLE_BELIEVED = 100
"""A file that begins with so many lines that are no games has none."""


def verify_files(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE...")],
) -> None:
    """Check records: shuffles, moves, lists of legal moves, scores and endings. Exit 1 if anything is wrong."""
    errors = sum(_verify_file(path) for path in files)
    if errors:
        raise typer.Exit(1)


def _verify_file(path: Path) -> int:
    number, errors, unfinished, unreadable = 0, 0, 0, 0
    with progress(path.stat().st_size, path.name) as bar:
        for number, record, size in records(path):
            error = _error_of(record)
            if error:
                errors += 1
                unreadable += isinstance(record, BadRecord)
                if errors <= ERRORS_SHOWN:
                    typer.echo(f"{path}: game {number}, {error}")
            elif isinstance(record, Record) and record.ending is None:
                unfinished += 1
            bar.update(size)
            if unreadable == number == UNREADABLE_BELIEVED:
                break
    if unreadable == number > 1:
        others = "not one of its first" if number == UNREADABLE_BELIEVED else "none of its"
        typer.echo(f"{path}: {others} {counted(number, 'line')} is a game: give it a file of records, as export writes")
        return errors
    if errors > ERRORS_SHOWN:
        typer.echo(f"{path}: and {counted(errors - ERRORS_SHOWN, 'more faulty game')}")
    if not number:
        errors = 1
        typer.echo(f"{path}: there is no game in it")
    notes = f", {unfinished} unfinished" if unfinished else ""
    typer.echo(f"{path}: {counted(number, 'game')}{notes}, {errors or 'no'} {'fault' if errors == 1 else 'faults'}")
    return errors


def _error_of(record: Record | BadRecord) -> EngineError | None:
    if isinstance(record, BadRecord):
        return record
    try:
        verify(record)
    except FaultyRecord as error:
        return error
    return None
