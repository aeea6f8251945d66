"""`buongioco verify`: are records true?"""

from pathlib import Path
from typing import Annotated

import typer

from bot.cli.asking import counted
from bot.cli.files import records
from bot.cli.progress import progress
from engine import Record, verify
from engine.errors import BadRecord, EngineError, FaultyRecord

FAULTS_SHOWN = 5
"""How many faulty games of a file are named, before the count of the others."""

UNREADABLE_BELIEVED = 100
"""A file that begins with so many lines that are no games has none."""


def verify_files(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE...")],
) -> None:
    """Check records: shuffles, moves, lists of legal moves, scores and endings. Exit 1 if anything is wrong."""
    faults = sum(_verify_file(path) for path in files)
    if faults:
        raise typer.Exit(1)


def _verify_file(path: Path) -> int:
    number, faults, unfinished, unreadable = 0, 0, 0, 0
    with progress(path.stat().st_size, path.name) as bar:
        for number, record, size in records(path):
            fault = _fault_of(record)
            if fault:
                faults += 1
                unreadable += isinstance(record, BadRecord)
                if faults <= FAULTS_SHOWN:
                    typer.echo(f"{path}: game {number}, {fault}")
            elif isinstance(record, Record) and record.ending is None:
                unfinished += 1
            bar.update(size)
            if unreadable == number == UNREADABLE_BELIEVED:
                break
    if unreadable == number > 1:
        others = "not one of its first" if number == UNREADABLE_BELIEVED else "none of its"
        typer.echo(f"{path}: {others} {counted(number, 'line')} is a game: give it a file of records, as export writes")
        return faults
    if faults > FAULTS_SHOWN:
        typer.echo(f"{path}: and {counted(faults - FAULTS_SHOWN, 'more faulty game')}")
    if not number:
        faults = 1
        typer.echo(f"{path}: there is no game in it")
    notes = f", {unfinished} unfinished" if unfinished else ""
    typer.echo(f"{path}: {counted(number, 'game')}{notes}, {faults or 'no'} {'fault' if faults == 1 else 'faults'}")
    return faults


def _fault_of(record: Record | BadRecord) -> EngineError | None:
    if isinstance(record, BadRecord):
        return record
    try:
        verify(record)
    except FaultyRecord as fault:
        return fault
    return None
