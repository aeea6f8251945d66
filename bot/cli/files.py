"""Reading files of records: one game a line, or a single game spread over lines."""

from collections.abc import Iterator
from pathlib import Path

from engine import Record, read
from engine.errors import BadRecord

LONGEST_RECORD = 16 * 1024 * 1024
"""Bytes of one game; far above any real one, and a bound on what a bad file can cost."""


def records(path: Path) -> Iterator[tuple[int, Record | BadRecord]]:
    """The games of a file with their numbers from 1; what is not a record comes as the fault that it has."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LONGEST_RECORD + 1):
            if not line.strip():
                continue
            number += 1
            if line.strip() == b"{":
                line += file.read(LONGEST_RECORD + 1 - len(line))
            yield number, _read(line)


def _read(text: bytes) -> Record | BadRecord:
    if len(text) > LONGEST_RECORD:
        return BadRecord(path="record", fault=f"is longer than {LONGEST_RECORD} bytes")
    try:
        return read(text)
    except BadRecord as fault:
        return fault
