"""Reading files of records, bare ones or those of finished games: one a line, or a single one spread over lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import typer

from bot.finished.archive import UnreadableGame
from bot.finished.file import from_line, is_line
from engine import Record, read
from engine.errors import BadRecord

LONGEST_RECORD = 16 * 1024 * 1024
"""Bytes of one game; far above any real one, and a bound on what a bad file can cost."""


class Entry(NamedTuple):
    """A game of a file: its number from 1, the record or the fault that it has instead, and its size in bytes."""

    number: int
    record: Record | BadRecord
    size: int


def records(path: Path) -> Iterator[Entry]:
    """The games of a file, one after the other."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_RECORD + 1):
            if not line.strip():
                continue
            number += 1
            if line.strip() == b"{":
                line += file.read(LONGEST_RECORD + 1 - len(line))
            yield Entry(number, _read(line), len(line))


def game_of(path: Path, number: int) -> Record:
    """One game of a file; BadParameter if it has no such game, BadRecord if that cannot be read."""
    record = next((entry.record for entry in records(path) if entry.number == number), None)
    if record is None:
        raise typer.BadParameter(f"{path} has no game {number}", param_hint="--game")
    if isinstance(record, BadRecord):
        raise record
    return record


def _read(text: bytes) -> Record | BadRecord:
    if len(text) > LONGEST_RECORD:
        return BadRecord(path="record", problem=f"is longer than {LONGEST_RECORD} bytes")
    try:
        if is_line(text):
            game = from_line(text).game
            assert game
            return game.record
        return read(text)
    except UnreadableGame as error:
        return BadRecord(path="finished game", problem=str(error))
    except BadRecord as error:
        return error
