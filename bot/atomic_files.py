"""Atomic writes of files."""

import errno
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import IO

LOCKLESS_SECONDS = 60.0  # a younger file might be in use although it has no lock yet
READER_SECONDS = 5.0  # time a pipe can wait for its reader
STANDARD_OUTPUT = Path("/dev/stdout")
OPEN_FILES = (Path("/dev"), Path("/dev/fd"))  # folders whose entries are open files

KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFIFO: "pipe",
    stat.S_IFBLK: "disk",
    stat.S_IFCHR: "device",
    stat.S_IFSOCK: "socket",
}


def sync_folder(path: Path) -> None:
    """Sync the folder of a file. Otherwise the file's name could be missing after a power cut."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def regular_target(path: Path) -> Path:
    """Return the file that ``path`` names or would create, with links resolved.

    Raises OSError if it cannot be a regular file.
    """
    if (kind := kind_of(path)) not in ("file", "missing"):
        raise OSError(errno.EINVAL, f"is a {kind}, and must be a file")
    return path.resolve()


def kind_of(path: Path) -> str:
    """Return ``file``, ``directory``, ``pipe``, ``disk``, ``device``, ``socket`` or ``missing``. Links are followed."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return "missing"
    return KINDS[stat.S_IFMT(mode)]


@contextmanager
def write_atomically(path: Path) -> Iterator[IO[bytes]]:
    """Write a file with mode 0600, completely or not at all.

    The new file replaces the old one when it is complete on disk. A symbolic link is kept, and its target is replaced.
    Standard output, other open files, pipes and character devices are written directly. Raises OSError for anything
    else, and if writing fails.
    """
    kind = kind_of(path)
    if path == STANDARD_OUTPUT:
        # Opening it again would fail for a socket, and for a pipe or file of another user, as with `sudo -u`.
        with os.fdopen(os.dup(1), "wb") as output:
            yield output
    elif kind == "pipe":
        with os.fdopen(_open_pipe(path), "wb") as pipe:
            yield pipe
    elif kind == "file" and path.absolute().parent in OPEN_FILES:
        # /dev/fd/3, for example, can be a file that the shell has open. It must not be replaced.
        with path.open("ab") as opened:
            yield opened
    elif kind == "device":
        with path.open("wb") as device:
            yield device
    else:
        with _replace(regular_target(path)) as file:
            yield file


def _open_pipe(path: Path) -> int:
    """Open a pipe for writing. Raise OSError if no process opens its other end within a few seconds."""
    deadline = time.monotonic() + READER_SECONDS
    while True:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            if time.monotonic() > deadline:
                raise OSError(errno.ENXIO, "no process reads from this pipe") from None
            time.sleep(0.05)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


@contextmanager
def _replace(path: Path) -> Iterator[IO[bytes]]:
    """Write a temporary file and rename it to ``path``. Delete leftovers of killed processes first."""
    _delete_leftovers(path)
    # mkstemp picks a fresh name and sets mode 0600.
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            # Without support for locks, other processes cannot lock and delete the file either.
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file
            file.flush()
            os.fsync(number)
            os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path)


def _delete_leftovers(path: Path) -> None:
    """Delete unfinished files that no process is writing. They can be as secret as the file."""
    for unfinished in path.parent.glob(f".{escape(path.name)}.????????.part"):
        with suppress(OSError):
            if unfinished.is_file() and time.time() - unfinished.stat().st_mtime > LOCKLESS_SECONDS:
                with unfinished.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    unfinished.unlink()
