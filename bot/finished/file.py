"""Files of finished games that were moved out of the store: one game a line, `buongioco-finished/1`.

A line is a JSON object: ``format``, which stands first, then ``number``, the game's place in the order, and all that
the store has of a `FinishedGame`, its record (docs/records.md) as it is.
"""

import heapq
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bot.disk import write_atomically
from bot.finished.archive import Archive, ArchiveEntry
from bot.finished.encodings import GZIP, encoding_fault
from bot.finished.game import FinishedGame, UnreadableGame
from engine import read
from engine.errors import BadRecord
from engine.records import unique_keys

FORMAT = "buongioco-finished/1"
LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of one game; far above any real one, and a bound on what a bad file can cost."""

NO_LINE = "is not a finished game's line"

_WRITTEN = f'{{"format":"{FORMAT}"'.encode()
"""How a line begins that `to_line` writes."""

_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*"buongioco-finished/1"')


class FileEntry(NamedTuple):
    """A game of a file, by its number and where its line begins, in bytes."""

    number: int
    id: str
    path: Path
    begin: int

    def read(self) -> ArchiveEntry:
        with self.path.open("rb") as file:
            file.seek(self.begin)
            return from_line(file.readline(LONGEST_LINE + 1))


def is_game_line(text: bytes) -> bool:
    """Whether a line is that of a finished game, rather than a bare record."""
    return _BEGINNING.match(text) is not None


def begins_with_game(text: bytes) -> bool:
    """Whether a file's first line is that of a finished game, or was cut short before one could see that."""
    return is_game_line(text) or _WRITTEN.startswith(text)


def to_line(number: int, game: FinishedGame) -> bytes:
    fields = {"format": FORMAT, "number": number} | game.fields
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def from_line(text: bytes) -> ArchiveEntry:
    """Read the game that `to_line` wrote; UnreadableGame for anything else."""
    fields = _parse_fields(text)
    try:
        number, record = fields.pop("number"), read(json.dumps(fields.pop("record")))
        game = FinishedGame(**fields, record=record)
    except BadRecord as fault:
        raise UnreadableGame(f"record.{fault}") from fault
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableGame(f"{NO_LINE} ({type(error).__name__})") from error
    if not isinstance(number, int) or not isinstance(game.id, str):
        raise UnreadableGame(NO_LINE)
    return ArchiveEntry(number, game.id, game)


def _parse_fields(text: bytes) -> dict[str, Any]:
    """Return the fields of a line but its format."""
    try:
        fields = json.loads(text, object_pairs_hook=unique_keys)
    except BadRecord as fault:
        raise UnreadableGame(str(fault)) from None
    except (ValueError, RecursionError) as error:
        raise UnreadableGame(f"{NO_LINE} ({type(error).__name__})") from error
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise UnreadableGame(NO_LINE)
    return fields


def read_entries(path: Path) -> Iterator[FileEntry]:
    """The games of a file, in the order of their lines. UnreadableGame says which line is none; OSError."""
    with path.open("rb") as file:
        start = file.read(4)
        if start.startswith(GZIP):
            raise UnreadableGame(f"{path} is compressed: unpack it first, as with gunzip")
        if problem := encoding_fault(start):
            raise UnreadableGame(f"{path} {problem}")
        line = begin = file.seek(0)
        while text := file.readline(LONGEST_LINE + 1):
            line += 1
            try:
                entry = from_line(text)
            except UnreadableGame as fault:
                raise UnreadableGame(f"{path}: line {line} {fault}") from fault
            yield FileEntry(entry.number, entry.id, path, begin)
            begin = file.tell()


def read_all_entries(paths: Sequence[Path]) -> list[FileEntry]:
    """The games of several files by their numbers, each once."""
    games = heapq.merge(*(sorted(read_entries(path)) for path in paths))
    return list({(one.number, one.id): one for one in games}.values())


async def merge_with_files(archive: Archive, games: Sequence[FileEntry]) -> AsyncIterator[ArchiveEntry]:
    """What `Archive.after` has and what stands in files, in one order; what is in both comes once."""
    place = 0
    async for entry in archive.entries_after(0):
        while place < len(games) and games[place][:2] < entry[:2]:
            yield games[place].read()
            place += 1
        if place < len(games) and games[place][:2] == entry[:2]:
            yield entry if entry.game else games[place].read()
            place += 1
        else:
            yield entry
    for one in games[place:]:
        yield one.read()


def rewrite_file(path: Path, change: Callable[[ArchiveEntry], FinishedGame | None]) -> None:
    """Change the games of a file, or take them out where ``change`` returns None; all or nothing."""
    with write_atomically(path) as file:
        for one in read_entries(path):
            entry = one.read()
            changed = change(entry)
            if changed:
                file.write(to_line(entry.number, changed))
