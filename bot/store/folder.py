"""The data folder of an embedded store: private, locked by one bot, with the path of its Valkey's socket."""

import fcntl
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO

import structlog

log = structlog.get_logger()

MAX_SOCKET_PATH = 100  # longest path of a socket, in bytes, that every system allows
MARKER_FILES = {"bot.lock", "playground.link"}  # files of a folder that a bot has used

# Files that can be in an unused data folder: a copied store, the image's compiled searches, a disk's own folder.
ALLOWED_FILES = {"appendonlydir", "valkey.log", "valkey.pid", "valkey.sock", "valkey.socket", "compiled", "lost+found"}

USE_ANOTHER = "or set BUONGIOCO_DATA to another folder"


class StoreError(Exception):
    """The store cannot be used. The text tells the host what to do."""


class StoreUnavailable(StoreError):
    """The store cannot be used now and can recover without the host."""


class FolderInUse(StoreUnavailable):
    """A bot is running with the data folder."""


def lock_folder(folder: Path) -> IO[str]:
    """Create the folder if needed, make it private and lock it. Close the result to unlock it.

    Raise FolderInUse if another bot has it, and StoreError as `make_private` does.
    """
    try:
        make_private(folder)
        # Do not follow a link: only the bot's own file is written.
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


def is_lock_of(folder: Path, lock: IO[str]) -> bool:
    """Return whether a held lock still locks the folder. It does not if the folder was deleted and made again."""
    try:
        return os.path.samestat((folder / "bot.lock").stat(), os.fstat(lock.fileno()))
    except OSError:
        return False


def is_locked(folder: Path) -> bool:
    try:
        with (folder / "bot.lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def has_store(folder: Path) -> bool:
    """Return whether an embedded store was ever started in this folder. Raise StoreError if it cannot be read."""
    try:
        return stat.S_ISDIR((folder / "appendonlydir").stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreError(
            f"The data folder {folder} cannot be read ({error.strerror}): run this as the bot's user."
        ) from None


def make_private(folder: Path) -> None:
    """Create the folder if needed and close it to other users.

    Raise StoreError if it belongs to another user, if others can write in it, or if it is not private yet and holds
    other files. Raise OSError if it cannot be created.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if is_readable_by_others(folder):
        folder.chmod(0o700)
        log.warning("data_folder_made_private", folder=str(folder))


def is_readable_by_others(folder: Path) -> bool:
    """Return whether others can read the folder. Raise StoreError as for `make_private`, and OSError."""
    status = folder.stat()
    if folder.is_symlink() and folder.lstat().st_uid not in (0, os.geteuid()):
        raise StoreError(f"The data folder {folder} is a link that another user made: delete it, {USE_ANOTHER}.")
    advice = f"name a folder of its own, such as {folder / ('data' if folder.name == 'buongioco' else 'buongioco')}"
    if (status.st_uid != os.geteuid() or status.st_mode & 0o077) and (foreign_file := _foreign_file(folder)):
        raise StoreError(
            f"The data folder {folder} has other things in it ({foreign_file}): {advice} (BUONGIOCO_DATA)."
        )
    if status.st_mode & 0o022 and status.st_mode & stat.S_ISVTX:
        raise StoreError(f"The data folder {folder} is shared by all users, as /tmp is: {advice} (BUONGIOCO_DATA).")
    if status.st_uid != os.geteuid():
        raise StoreError(
            f"The data folder {folder} belongs to another user (number {status.st_uid}): run the bot as that user, "
            f"give the folder to the bot's user (chown), {USE_ANOTHER}."
        )
    if status.st_mode & 0o022:
        raise StoreError(
            f"Others may write in the data folder {folder}: check that all its files are yours, then close it to them "
            f"(chmod 700 {folder}), {USE_ANOTHER}."
        )
    return bool(status.st_mode & 0o077)


def _foreign_file(folder: Path) -> str:
    """Return the name of a file that no bot writes; "" if there is none or the folder cannot be read."""
    try:
        names = {path.name for path in folder.iterdir()}
    except PermissionError:
        return ""
    return "" if names & MARKER_FILES else min(names - ALLOWED_FILES, default="")


def socket_path(folder: Path) -> Path:
    """Return the path of the folder's socket.

    Socket paths must be short. If the folder's path is too long, its socket is elsewhere and the folder stores the
    path.
    """
    beside = folder / "valkey.sock"
    remembered = None if _is_short(beside) else _read_socket_path(folder)
    return remembered if remembered and _is_private(remembered.parent) else beside


def make_socket_folder(folder: Path) -> None:
    """Create a private folder for the socket if the data folder's path is too long.

    Keep the stored one if it is still private.
    """
    if _is_short(folder / "valkey.sock"):
        return
    if remembered := _read_socket_path(folder):
        # Create a deleted folder again, because clients know its name.
        with suppress(OSError):
            remembered.parent.mkdir(mode=0o700)
        if _is_private(remembered.parent):
            return
    # mkdtemp picks an unguessable name and fails if it exists.
    place = Path(tempfile.mkdtemp(prefix="buongioco-", dir=_socket_root())) / "valkey.sock"
    note = folder / "valkey.socket.new"
    note.write_bytes(os.fsencode(place))
    note.replace(folder / "valkey.socket")


def remove_socket_folder(folder: Path) -> None:
    """Remove the socket's folder after its Valkey has ended."""
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
    """Return a folder with a short path: the user's runtime folder, or one for temporary files."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    roots = [Path(runtime)] if runtime and _is_private(Path(runtime)) else []
    for root in (*roots, Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 - only to make a fresh folder in
        if _is_short(root / "buongioco-12345678" / "valkey.sock"):
            return root
    raise StoreError(f"No folder for temporary files has a short path: set TMPDIR to one, {USE_ANOTHER}.")


def _is_short(path: Path) -> bool:
    return len(os.fsencode(path)) <= MAX_SOCKET_PATH


def _is_private(folder: Path) -> bool:
    """Return whether this is a folder, not a link, that belongs to this user and is closed to others."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o077
