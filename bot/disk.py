"""What has to be on disk before something else is done."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

JUST_BEGUN_SECONDS = 60.0
"""A file that is younger may have no lock yet, though somebody writes to it."""


def sync_name(path: Path) -> None:
    """Have a file's name on disk, which stands in its folder: after a power cut there might be no such file."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file for its owner alone, under another name: it takes the place of what was there once all of it is on disk.

    Where it does not come so far nothing is left; what others left who were killed goes first. OSError.
    """
    _clear(path)
    # A fresh name, and mode 0600.
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            # Where there are no locks, nobody else gets one to take the file away by.
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file
            file.flush()
            os.fsync(number)
            os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_name(path)


def _clear(path: Path) -> None:
    """Take away what was begun for a file, and is written by nobody any more: it may be as secret as the file."""
    for part in path.parent.glob(f".{escape(path.name)}.????????.part"):
        with suppress(OSError):
            if part.is_file() and time.time() - part.stat().st_mtime > JUST_BEGUN_SECONDS:
                with part.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    part.unlink()
