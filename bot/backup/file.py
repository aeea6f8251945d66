"""The backup file format `buongioco-backup/1`: lines of JSON, compressed with gzip.

The first line is the `Header`. The last line has the number of lines before it and their SHA-256. Between them is one
line for each table, each finished game, and each other key or part of a key. The first member says what a line
contains:

| line | holds |
|---|---|
| ``{"table": code, "log": [bytes...], "shown": [[surface, bytes]...], "changed": number, "timer": number}`` | a table |
| ``{"game": id, "number": number, "stored": bytes}`` | a finished game, stored as `bot.finished.archive` does |
| ``{"string": key, "value": bytes}`` | |
| ``{"list": key, "value": [bytes...]}``, ``{"set": key, "value": [bytes...]}`` | |
| ``{"hash": key, "value": [[bytes, bytes]...]}`` | fields and values |
| ``{"zset": key, "value": [[bytes, number]...]}`` | members and scores |

``changed`` and ``timer`` can be null. A key that expires has ``expires``, in Unix milliseconds. Bytes are a string if
they are UTF-8, otherwise ``{"base64": "…"}``. A hash, a set or a sorted set can have several lines. If a field or
member has two values, the later one counts.
"""

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bot.atomic_files import write_atomically

FORMAT = "buongioco-backup/1"
MAX_LINE_BYTES = 256 * 1024 * 1024  # far above any real line; limits the cost of a bad file
GZIP_LEVEL = 6  # higher levels take several times as long and save a few per cent
KINDS = ("table", "game", "string", "list", "set", "hash", "zset")  # kinds of the lines between header and end

Line = dict[str, Any]


def ignore_progress(_count: int) -> None:
    """Do nothing: the default progress callback."""


class BadBackup(Exception):
    """A file is not a backup, is damaged or is incomplete. The text gives the reason."""


class Header(NamedTuple):
    """The first line of a backup."""

    schema: int  # number of the store's layout
    begun: int  # start of the backup, Unix seconds

    @classmethod
    def parse(cls, line: Line) -> "Header":
        if line.get("format") != FORMAT:
            raise BadBackup(f"it is not in the format that this version reads ({FORMAT})")
        header = cls(line.get("schema", ""), line.get("begun", ""))
        if not all(isinstance(value, int) for value in header):
            raise BadBackup("its first line is damaged")
        return header


def encode_bytes(value: bytes) -> str | Line:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def decode_bytes(value: object) -> bytes:
    """Reverse `encode_bytes`. Raise ValueError for any other value."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return base64.b64decode(value["base64"], validate=True)
    raise ValueError("is neither a string nor base64")


@contextmanager
def open_writer(path: Path, header: Header) -> Iterator[Callable[[Line], None]]:
    """Yield the function that writes a backup's lines. Raise OSError if the file cannot be written.

    The file gets its name when all of it is on disk. It holds secrets, so only its owner can read it.
    """
    with write_atomically(path) as raw, gzip.GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0) as file:
        digest, line_count = hashlib.sha256(), 0

        def write(line: Line) -> None:
            nonlocal line_count
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            digest.update(text)
            file.write(text)
            line_count += 1

        write({"format": FORMAT, **header._asdict()})
        yield write
        write({"end": line_count, "sha256": digest.hexdigest()})


def check_backup(path: Path, on_read: Callable[[int], None] = ignore_progress) -> tuple[Header, int]:
    """Read a backup to its end. Return its header and the number of lines between header and end.

    ``on_read`` gets the bytes of the file read since its last call. Raise BadBackup if the file is not a whole backup.
    """
    digest, line_count = hashlib.sha256(), 0
    header, end_line = None, None
    for text, line in _parse_lines(path, on_read):
        if end_line:
            raise BadBackup("there is data after its end")
        if header is None:
            header = Header.parse(line)
        elif "end" in line:
            end_line = line
            if line != {"end": line_count, "sha256": digest.hexdigest()}:
                raise BadBackup("it was changed: its checksum does not match")
            continue
        elif next(iter(line), "") not in KINDS:
            raise BadBackup(f"line {line_count + 1} is not a line of a backup")
        digest.update(text)
        line_count += 1
    if header is None or end_line is None:
        raise BadBackup("it is cut short: its end is missing")
    return header, line_count - 1


def read_lines(path: Path, on_read: Callable[[int], None] = ignore_progress) -> Iterator[Line]:
    """Yield the lines between header and end of a file that `check_backup` accepted."""
    for _, line in _parse_lines(path, on_read):
        if "format" not in line and "end" not in line:
            yield line


def _parse_lines(path: Path, on_read: Callable[[int], None]) -> Iterator[tuple[bytes, Line]]:
    """Yield the bytes and the contents of each line of a file. Raise BadBackup for a damaged file."""
    read = number = 0
    try:
        with path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as file:
            while text := file.readline(MAX_LINE_BYTES + 1):
                if len(text) > MAX_LINE_BYTES:
                    raise BadBackup(f"it has a line longer than {MAX_LINE_BYTES} bytes")
                number += 1
                try:
                    line = json.loads(text)
                except (ValueError, RecursionError):
                    line = None
                if not isinstance(line, dict):
                    raise BadBackup(f"line {number} is not a line of a backup")
                yield text, line
                on_read(raw.tell() - read)
                read = raw.tell()
    except EOFError:
        raise BadBackup("it is cut short") from None
    except (gzip.BadGzipFile, zlib.error):
        raise BadBackup("it is not a backup, or it is damaged") from None
