"""`buongioco verify`: check records of games."""

import re
from pathlib import Path
from typing import Annotated

import typer

from bot.cli.output import format_count, progress, say
from bot.cli.record_files import read_records
from bot.features.daily.secret_chain import days_to_end
from engine import Record, verify
from engine.errors import BadRecord, EngineError, FaultyRecord

ERRORS_SHOWN = 5  # faulty games, and notes, printed per file
UNREADABLE_LIMIT = 100  # unreadable lines at the start of a file after which the check stops


def verify_files(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, readable=True, metavar="FILE...")],
    chain: Annotated[
        str, typer.Option(metavar="END", help="All are daily deals of the chain with this end (64 hex digits).")
    ] = "",
) -> None:
    """Check records: shuffles, moves, lists of legal moves, scores and endings. Exit 1 if anything is wrong."""
    if chain and not re.fullmatch("[0-9a-f]{64}", chain):
        raise typer.BadParameter("A chain's end has 64 hexadecimal digits.", param_hint="--chain")
    # Check every file, also after one with errors.
    if sum(_verify_file(path, chain) for path in files):
        raise typer.Exit(1)


def _verify_file(path: Path, chain: str) -> int:
    """Print the faults of a file's games, and return their number."""
    number, errors, noted_count, unfinished, unreadable = 0, 0, 0, 0, 0
    file_error: BadRecord | None = None
    with progress(path.stat().st_size, path.name) as bar:
        try:
            for number, record, size in read_records(path):
                error, note = _check_record(record, chain)
                if note:
                    noted_count += 1
                    if noted_count <= ERRORS_SHOWN:
                        say(f"{path}: game {number}, note: {note}")
                if error:
                    errors += 1
                    unreadable += isinstance(record, BadRecord)
                    if errors <= ERRORS_SHOWN:
                        say(f"{path}: game {number}, {error}")
                elif isinstance(record, Record) and record.ending is None:
                    unfinished += 1
                bar.update(size)
                if unreadable == number == UNREADABLE_LIMIT:
                    break
        except BadRecord as error:
            file_error = error
    if unreadable == number > 1:
        rest_text = "not one of its first" if number == UNREADABLE_LIMIT else "none of its"
        say(f"{path}: {rest_text} {format_count(number, 'line')} is a game: give a file of records, as export writes")
        return errors
    if errors > ERRORS_SHOWN:
        say(f"{path}: and {format_count(errors - ERRORS_SHOWN, 'more faulty game')}")
    if noted_count > ERRORS_SHOWN:
        say(f"{path}: and {format_count(noted_count - ERRORS_SHOWN, 'more note')}")
    if file_error:
        errors += 1
        say(f"{path}: {file_error}")
    elif not number:
        errors = 1
        say(f"{path}: there is no game in it")
    notes = f", {unfinished} unfinished" if unfinished else ""
    say(f"{path}: {format_count(number, 'game')}{notes}, {errors or 'no'} {'fault' if errors == 1 else 'faults'}")
    return errors


def _check_record(record: Record | BadRecord, chain: str) -> tuple[EngineError | None, str]:
    """Return the error of a record, and a note if it is valid only by an earlier release of the rules."""
    if isinstance(record, BadRecord):
        return record, ""
    try:
        note = verify(record)
    except FaultyRecord as error:
        return error, ""
    if chain:
        proofs = [deal.proof for deal in record.deals]
        if len(proofs) != 1 or proofs[0] is None or days_to_end(proofs[0].commitment, chain) is None:
            return FaultyRecord("it is not a daily deal of this chain"), ""
    return None, note
