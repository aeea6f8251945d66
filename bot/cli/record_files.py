"""Reading files of records: bare records or finished games, one per line, or a single game over several lines.

Files can be compressed with gzip and can begin with a byte order mark, as Windows editors write it.
"""

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

import typer

from bot.finished.archive_file import BOM, GZIP, encoding_fault, from_line, is_game_line
from bot.finished.game import UnreadableGame
from engine import Record, read
from engine.errors import BadRecord

MAX_RECORD_BYTES = 16 * 1024 * 1024  # limit for one game; far above any real game, and limits the cost of a bad file


class RecordEntry(NamedTuple):
    """A game from a file."""

    number: int  # from 1
    record: Record | BadRecord
    size: int  # bytes of the file read for it


def read_records(path: Path) -> Iterator[RecordEntry]:
    """Yield the games in a file, in order. Raises BadRecord if the file cannot be read to its end."""
    read_bytes = 0
    with path.open("rb") as raw:
        try:
            for number, text in enumerate(_split_games(raw), 1):
                # A pipe has no position.
                position = raw.tell() if raw.seekable() else read_bytes + len(text)
                yield RecordEntry(number, _parse_record(text), position - read_bytes)
                read_bytes = position
        except EOFError:
            raise BadRecord(path="file", problem="ends in the middle of its gzip data") from None
        except (gzip.BadGzipFile, zlib.error):
            raise BadRecord(path="file", problem="has damaged gzip data") from None


def load_record(path: Path, number: int) -> Record:
    """Return one game from a file. Raises BadParameter if the game is missing, BadRecord if it cannot be read."""
    record = next((entry.record for entry in read_records(path) if entry.number == number), None)
    if record is None:
        raise typer.BadParameter(f"{path} has no game {number}", param_hint="--game")
    if isinstance(record, BadRecord):
        raise record
    return record


def _split_games(raw: BufferedReader) -> Iterator[bytes]:
    """Yield the text of each game: a line, or the rest of the file from a line with only a brace.

    Texts of more than `MAX_RECORD_BYTES` are cut. Raises BadRecord for UTF-16 and UTF-32.
    """
    file = gzip.GzipFile(fileobj=raw) if raw.peek(2).startswith(GZIP) else raw
    start = file.peek(4)[:4]
    if encoding_problem := encoding_fault(start):
        raise BadRecord(path="file", problem=encoding_problem)
    if start.startswith(BOM):
        file.read(len(BOM))
    while line := file.readline(MAX_RECORD_BYTES + 1):
        if not line.strip():
            continue
        if line.strip() == b"{":
            line += file.read(MAX_RECORD_BYTES + 1 - len(line))
        elif len(line) > MAX_RECORD_BYTES:
            chunk = line
            while chunk and not chunk.endswith(b"\n"):
                chunk = file.readline(MAX_RECORD_BYTES)
        yield line


def _parse_record(text: bytes) -> Record | BadRecord:
    if len(text) > MAX_RECORD_BYTES:
        return BadRecord(path="record", problem=f"is longer than {MAX_RECORD_BYTES} bytes")
    try:
        if is_game_line(text):
            game = from_line(text).game
            assert game
            return game.record
        return read(text)
    except UnreadableGame as error:
        return BadRecord(path="finished game", problem=str(error))
    except BadRecord as error:
        return error
