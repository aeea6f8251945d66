"""A backup's file, `buongioco-backup/1`: gzip of lines of JSON.

The first line is the `Header`, the last one counts the lines before it and has their SHA-256. Between them stands one
line for each table, each finished game, and each other key or part of one. A line's meaning is in its first member:

| line | what |
|---|---|
| ``{"table": code, "log": [bytes...], "shown": [[surface, bytes]...], "changed": number, "timer": number}`` | a table |
| ``{"game": id, "number": number, "stored": bytes}`` | a finished game, stored as `bot.finished.archive` does |
| ``{"string": key, "value": bytes}`` | |
| ``{"list": key, "value": [bytes...]}``, ``{"set": key, "value": [bytes...]}`` | |
| ``{"hash": key, "value": [[bytes, bytes]...]}`` | fields and values |
| ``{"zset": key, "value": [[bytes, number]...]}`` | members and scores |

``changed`` and ``timer`` are null where there is none; a key's line has ``expires``, in Unix milliseconds, if it does.
Bytes are a string where they are UTF-8, otherwise ``{"base64": "…"}``. A hash, a set or a sorted set may have several
lines; of two values for one field or member the later holds.
"""

import base64
import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from bot.disk import write_atomically

FORMAT = "buongioco-backup/1"
MAX_LINE_BYTES = 256 * 1024 * 1024
"""Bytes; far above any real one, and a bound on what a bad file can cost."""

LEVEL = 6
"""gzip's; higher ones take several times as long for a few parts in a hundred."""

KINDS = ("table", "game", "string", "list", "set", "hash", "zset")
"""The lines between header and end."""

Line = dict[str, Any]


def ignore_progress(_count: int) -> None:
    """Nobody wants to know how far it has come."""


class BadBackup(Exception):
    """A file that is no backup, or not a whole one; the text says what is wrong with it."""


class Header(NamedTuple):
    """What a backup says of itself: the number of its store's layout, and when it was begun, Unix seconds."""

    schema: int
    begun: int


def encode_bytes(value: bytes) -> str | Line:
    """Bytes as they stand in a line."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def decode_bytes(value: object) -> bytes:
    """What `from_bytes` made a line of; ValueError for anything else."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, dict) and isinstance(value.get("base64"), str):
        return base64.b64decode(value["base64"], validate=True)
    raise ValueError("is neither a string nor base64")


@contextmanager
def open_writer(path: Path, header: Header) -> Iterator[Callable[[Line], None]]:
    """Write a backup's lines; the file has its name once all of it is on disk. OSError where it cannot be written.

    It holds secrets, so that nobody but its owner may read it.
    """
    with write_atomically(path) as raw, gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as file:
        digest, lines = hashlib.sha256(), 0

        def write(line: Line) -> None:
            nonlocal lines
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
            digest.update(text)
            file.write(text)
            lines += 1

        write({"format": FORMAT, **header._asdict()})
        yield write
        write({"end": lines, "sha256": digest.hexdigest()})


def check_backup(path: Path, on_read: Callable[[int], None] = ignore_progress) -> tuple[Header, int]:
    """Read all of a backup; its header, and how many lines it has between header and end. BadBackup if it is not whole.

    ``on_read`` is told of progress, in bytes of the file.
    """
    digest, lines = hashlib.sha256(), 0
    header, end = None, None
    with path.open("rb") as raw:
        for text in _raw_lines(raw, on_read):
            if end:
                raise BadBackup("something stands behind its end")
            line = _parse_line(text, lines + 1)
            if header is None:
                header = _parse_header(line)
            elif "end" in line:
                end = line
                if line != {"end": lines, "sha256": digest.hexdigest()}:
                    raise BadBackup("it has been changed: its checksum is another")
                continue
            elif next(iter(line), "") not in KINDS:
                raise BadBackup(f"line {lines + 1} is not one of a backup")
            digest.update(text)
            lines += 1
    if header is None or end is None:
        raise BadBackup("it is cut short: its end is missing")
    return header, lines - 1


def read_lines(path: Path, on_read: Callable[[int], None] = ignore_progress) -> Iterator[Line]:
    """What stands between header and end, in a file that has been checked."""
    with path.open("rb") as raw:
        for number, text in enumerate(_raw_lines(raw, on_read), 1):
            line = _parse_line(text, number)
            if "format" not in line and "end" not in line:
                yield line


def _raw_lines(raw: IO[bytes], on_read: Callable[[int], None]) -> Iterator[bytes]:
    read = 0
    try:
        with gzip.GzipFile(fileobj=raw) as file:
            while text := file.readline(MAX_LINE_BYTES + 1):
                if len(text) > MAX_LINE_BYTES:
                    raise BadBackup(f"a line of it is longer than {MAX_LINE_BYTES} bytes")
                yield text
                on_read(raw.tell() - read)
                read = raw.tell()
    except EOFError:
        raise BadBackup("it is cut short") from None
    except (gzip.BadGzipFile, zlib.error):
        raise BadBackup("it is no backup, or damaged") from None


def _parse_line(text: bytes, number: int) -> Line:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        line = None
    if not isinstance(line, dict):
        raise BadBackup(f"line {number} is not one of a backup")
    return line


def _parse_header(line: Line) -> Header:
    if line.get("format") != FORMAT:
        raise BadBackup(f"it does not begin as one that this version can read ({FORMAT})")
    schema, begun = line.get("schema"), line.get("begun")
    if not isinstance(schema, int) or not isinstance(begun, int):
        raise BadBackup("its first line is damaged")
    return Header(schema, begun)
