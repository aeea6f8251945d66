"""The data folder of an embedded store: its owner's alone, one bot's at a time; and where its Valkey's socket is."""

import fcntl
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import structlog

log = structlog.get_logger()

MAX_SOCKET_PATH = 100
"""Bytes; systems allow a few more, none less."""

MARKER_FILES = {"bot.lock", "playground.link"}
"""What lies in a folder that a bot has used."""

ALLOWED_FILES = {"appendonlydir", "valkey.log", "valkey.pid", "valkey.sock", "valkey.socket", "compiled", "lost+found"}
"""What may lie in one that is only meant for it: a copied store, the image's compiled searches, a disk's own folder."""

USE_ANOTHER = "or set BUONGIOCO_DATA to another folder"


class StoreError(Exception):
    """The store cannot be used; the text tells the host what to do."""


class StoreUnavailable(StoreError):
    """The store cannot be used just now, and may be there a little later without anybody's doing."""


class FolderInUse(StoreUnavailable):
    """A bot is running with the data folder."""


def lock_folder(folder: Path) -> IO[str]:
    """Make the folder if it is not there, see that it is private, and lock it; closing the result gives it back.

    FolderTaken where another bot has it, StoreError where it is another user's, where others may write in it, or where
    it has other things in it. One of the bot's own that others may only read is closed to them.
    """
    try:
        make_private(folder)
        # Not through a link: what is written here is ours.
        lock = os.fdopen(os.open(folder / "bot.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "r+")
    except OSError as error:
        raise StoreError(f"The data folder {folder} cannot be used: {error.strerror}.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise FolderInUse(
            f"Another bot is running with the data folder {folder}. Stop it first, {USE_ANOTHER}, or REDIS_URL to a "
            "store that several bots may share."
        ) from None
    return lock


def is_locked(folder: Path) -> bool:
    """Whether a bot is running with this folder."""
    try:
        with (folder / "bot.lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def has_store(folder: Path) -> bool:
    """Whether an embedded store was ever started in this folder; StoreError where that cannot be seen."""
    try:
        return stat.S_ISDIR((folder / "appendonlydir").stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreError(
            f"The data folder {folder} cannot be read ({error.strerror}): run this as the bot's user."
        ) from None


def make_private(folder: Path) -> None:
    """Make the folder if it is not there, and close it to others.

    StoreError where it is another user's, where others may write in it, or where it is not the bot's own; OSError where
    it cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if is_readable_by_others(folder):
        folder.chmod(0o700)
        log.warning("data_folder_made_private", folder=str(folder))


def is_readable_by_others(folder: Path) -> bool:
    """Whether others may read in a folder that can be closed to them; StoreError as for `make_private`, and OSError."""
    about = folder.stat()
    if folder.is_symlink() and folder.lstat().st_uid not in (0, os.geteuid()):
        raise StoreError(f"The data folder {folder} is a link that another user made: take it away, {USE_ANOTHER}.")
    own = f"name a folder of its own, such as {folder / ('data' if folder.name == 'buongioco' else 'buongioco')}"
    if (about.st_uid != os.geteuid() or about.st_mode & 0o077) and (thing := _foreign_file(folder)):
        raise StoreError(f"The data folder {folder} has other things in it ({thing}): {own} (BUONGIOCO_DATA).")
    if about.st_mode & 0o022 and about.st_mode & stat.S_ISVTX:
        raise StoreError(f"Others may write in the data folder {folder}, which is meant so: {own} (BUONGIOCO_DATA).")
    if about.st_uid != os.geteuid():
        raise StoreError(
            f"The data folder {folder} belongs to another user (number {about.st_uid}): run the bot as that user, "
            f"give the folder to the bot's user (chown), {USE_ANOTHER}."
        )
    if about.st_mode & 0o022:
        raise StoreError(
            f"Others may write in the data folder {folder}: look that all in it is yours, close it to them "
            f"(chmod 700 {folder}), {USE_ANOTHER}."
        )
    return bool(about.st_mode & 0o077)


def _foreign_file(folder: Path) -> str:
    """Something in a folder in which no bot has ever been; empty where there is nothing else, or it cannot be seen."""
    try:
        names = {one.name for one in folder.iterdir()}
    except PermissionError:
        return ""
    return "" if names & MARKER_FILES else min(names - ALLOWED_FILES, default="")


def socket_path(folder: Path) -> Path:
    """Where the folder's Valkey listens, or will.

    Sockets have short names only. For a folder deep down the socket lies elsewhere, and the folder remembers where.
    """
    beside = folder / "valkey.sock"
    remembered = None if _is_short(beside) else _read_socket_path(folder)
    return remembered if remembered and _is_private(remembered.parent) else beside


def make_socket_folder(folder: Path) -> None:
    """Have a private place for the socket: the one remembered if it is still ours, otherwise a fresh one."""
    if _is_short(folder / "valkey.sock"):
        return
    if remembered := _read_socket_path(folder):
        # One that was cleaned away is made again, for clients know it by its name.
        with suppress(OSError):
            remembered.parent.mkdir(mode=0o700)
        if _is_private(remembered.parent):
            return
    # A name that nobody can guess, made by us or not at all.
    place = Path(tempfile.mkdtemp(prefix="buongioco-", dir=_socket_root())) / "valkey.sock"
    note = folder / "valkey.socket.new"
    note.write_bytes(os.fsencode(place))
    note.replace(folder / "valkey.socket")


def remove_socket_folder(folder: Path) -> None:
    """Forget the place of the socket, after its Valkey has ended."""
    if remembered := _read_socket_path(folder):
        if _is_private(remembered.parent):
            remembered.unlink(missing_ok=True)
            with suppress(OSError):
                remembered.parent.rmdir()
        (folder / "valkey.socket").unlink()


def _read_socket_path(folder: Path) -> Path | None:
    try:
        return Path(os.fsdecode((folder / "valkey.socket").read_bytes()))
    except OSError:
        return None


def _socket_root() -> Path:
    """Where there may be a socket: the user's own runtime folder, or the one for temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    roots = [Path(runtime)] if runtime and _is_private(Path(runtime)) else []
    for root in (*roots, Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 - only to make a fresh folder in
        if _is_short(root / "buongioco-12345678" / "valkey.sock"):
            return root
    raise StoreError(f"There is no folder for temporary files with a short name: set TMPDIR to one, {USE_ANOTHER}.")


def _is_short(path: Path) -> bool:
    return len(os.fsencode(path)) <= MAX_SOCKET_PATH


def _is_private(folder: Path) -> bool:
    """Whether a folder, and no link to one, is ours and closed to others."""
    try:
        about = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o077
