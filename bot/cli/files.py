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

from bot.finished.encodings import BOM, GZIP, encoding_fault
from bot.finished.file import from_line, is_game_line
from bot.finished.game import UnreadableGame
from engine import Record, read
from engine.errors import BadRecord

MAX_RECORD_BYTES = 16 * 1024 * 1024  # of one game; far above any real game, and limits the cost of a bad file


class Entry(NamedTuple):
    """A game of a file."""

    number: int  # from 1
    record: Record | BadRecord
    size: int  # bytes of the file read for it


def read_records(path: Path) -> Iterator[Entry]:
    """Yield the games of a file in order. BadRecord if the file cannot be read to its end."""
    number = 0
    with path.open("rb") as raw:
        for text, size in _with_sizes(raw, _split_games(raw)):
            number += 1
            yield Entry(number, _parse_record(text), size)


def load_record(path: Path, number: int) -> Record:
    """Return one game of a file. BadParameter if the game is missing, BadRecord if it cannot be read."""
    record = next((entry.record for entry in read_records(path) if entry.number == number), None)
    if record is None:
        raise typer.BadParameter(f"{path} has no game {number}", param_hint="--game")
    if isinstance(record, BadRecord):
        raise record
    return record


def _with_sizes(raw: BufferedReader, texts: Iterator[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield each text with the bytes of the file read for it. BadRecord for damaged gzip data."""
    done = 0
    try:
        for text in texts:
            # A pipe has no position.
            now = raw.tell() if raw.seekable() else done + len(text)
            yield text, now - done
            done = now
    except EOFError:
        raise BadRecord(path="file", problem="ends in the middle of its gzip data") from None
    except (gzip.BadGzipFile, zlib.error):
        raise BadRecord(path="file", problem="has damaged gzip data") from None


def _split_games(raw: BufferedReader) -> Iterator[bytes]:
    """Yield the text of each game: a line, or the rest of the file after a lone brace. Longer texts are cut.

    BadRecord for UTF-16 and UTF-32.
    """
    file = gzip.GzipFile(fileobj=raw) if raw.peek(2).startswith(GZIP) else raw
    start = file.peek(4)[:4]
    if fault := encoding_fault(start):
        raise BadRecord(path="file", problem=fault)
    if start.startswith(BOM):
        file.read(len(BOM))
    while line := file.readline(MAX_RECORD_BYTES + 1):
        if not line.strip():
            continue
        if line.strip() == b"{":
            line += file.read(MAX_RECORD_BYTES + 1 - len(line))
        elif len(line) > MAX_RECORD_BYTES:
            _skip_line(file, line)
        yield line


def _skip_line(file: BufferedReader | gzip.GzipFile, start: bytes) -> None:
    """Read to the end of the line that begins with ``start``."""
    while start and not start.endswith(b"\n"):
        start = file.readline(MAX_RECORD_BYTES)


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
