"""Files of finished games that were moved out of the store, in the format `buongioco-finished/1`.

Each line is a JSON object: ``format`` first, then the archive's ``number``, then all fields of the `FinishedGame`,
including its record (docs/records.md).
"""

import heapq
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bot.atomic_files import write_atomically
from bot.finished.archive import Archive, ArchiveEntry
from bot.finished.game import FinishedGame, UnreadableGame
from engine import read
from engine.errors import BadRecord
from engine.records import unique_keys

FORMAT = "buongioco-finished/1"
LONGEST_LINE = 16 * 1024 * 1024  # bytes; far above any real game, and limits the memory for a bad file
BOM = b"\xef\xbb\xbf"  # byte order mark that Windows editors write before UTF-8
GZIP = b"\x1f\x8b"
WIDE = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff", b"{\0", b"\0{", b"\0\0\0{")  # starts of JSON in UTF-16 and UTF-32
NO_LINE = "is not a finished game's line"
_WRITTEN = f'{{"format":"{FORMAT}"'.encode()  # start of the lines of `to_line`
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"format"\s*:\s*"buongioco-finished/1"')


class FileEntry(NamedTuple):
    """The place of a game in a file."""

    number: int
    id: str
    path: Path
    begin: int  # offset of its line in bytes

    def read(self) -> ArchiveEntry:
        with self.path.open("rb") as file:
            file.seek(self.begin)
            return from_line(file.readline(LONGEST_LINE + 1))


def is_game_line(text: bytes) -> bool:
    """Return whether a line is a finished game rather than a bare record."""
    return _BEGINNING.match(text) is not None


def begins_with_game(text: bytes) -> bool:
    """Return whether a file's first line is a finished game or the beginning of one."""
    return is_game_line(text) or _WRITTEN.startswith(text)


def to_line(number: int, game: FinishedGame) -> bytes:
    fields = {"format": FORMAT, "number": number} | game.fields
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def from_line(text: bytes) -> ArchiveEntry:
    """Parse the output of `to_line`, or raise UnreadableGame."""
    try:
        fields = json.loads(text, object_pairs_hook=unique_keys)
    except BadRecord as error:
        raise UnreadableGame(str(error)) from None
    except (ValueError, RecursionError) as error:
        raise UnreadableGame(f"{NO_LINE} ({type(error).__name__})") from error
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise UnreadableGame(NO_LINE)
    try:
        number, record = fields.pop("number"), read(json.dumps(fields.pop("record")))
        game = FinishedGame(**fields, record=record)
    except BadRecord as error:
        raise UnreadableGame(f"record.{error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableGame(f"{NO_LINE} ({type(error).__name__})") from error
    if not isinstance(number, int) or not isinstance(game.id, str):
        raise UnreadableGame(NO_LINE)
    return ArchiveEntry(number, game.id, game)


def encoding_fault(start: bytes) -> str:
    """Return why a text with these first four bytes is not UTF-8, or "" if it could be."""
    if start.startswith(WIDE):
        return "is UTF-16 or UTF-32 text, as PowerShell's > writes it: save it as UTF-8"
    return ""


def read_entries(path: Path) -> Iterator[FileEntry]:
    """Yield the games of a file in its order.

    Raise UnreadableGame if the file is compressed or not UTF-8, or with the number of a bad line. Raise OSError if it
    cannot be opened.
    """
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
            except UnreadableGame as error:
                raise UnreadableGame(f"{path}: line {line} {error}") from error
            yield FileEntry(entry.number, entry.id, path, begin)
            begin = file.tell()


def read_all_entries(paths: Sequence[Path]) -> list[FileEntry]:
    """Return the games of several files in the order of their numbers, each once."""
    games = heapq.merge(*(sorted(read_entries(path)) for path in paths))
    return list({(entry.number, entry.id): entry for entry in games}.values())


async def merge_with_files(archive: Archive, games: Sequence[FileEntry]) -> AsyncIterator[ArchiveEntry]:
    """Yield the entries of the archive and of files, each once, by rising number."""
    index = 0
    async for entry in archive.entries_after(0):
        while index < len(games) and games[index][:2] < entry[:2]:
            yield games[index].read()
            index += 1
        if index < len(games) and games[index][:2] == entry[:2]:
            yield entry if entry.game else games[index].read()
            index += 1
        else:
            yield entry
    for file_entry in games[index:]:
        yield file_entry.read()


def rewrite_file(path: Path, change: Callable[[ArchiveEntry], FinishedGame | None]) -> None:
    """Replace each game of a file by the result of ``change``. Remove it if the result is None. The write is atomic."""
    with write_atomically(path) as file:
        for file_entry in read_entries(path):
            entry = file_entry.read()
            if new_game := change(entry):
                file.write(to_line(entry.number, new_game))
