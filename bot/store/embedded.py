"""A Valkey of the bot's own, in its data folder, for hosts who have none.

It listens on a Unix socket only, writes every change to disk before it answers, and belongs to one bot at a time: the
bot holds a lock on the folder. A bot that was killed leaves its Valkey running for a minute: the next bot takes it
over, or its guard ends it (`bot.store.guard`).
"""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

import structlog

from bot.store import guard
from bot.store.folder import (
    FolderInUse,
    StoreError,
    is_locked,
    lock_folder,
    make_socket_folder,
    remove_socket_folder,
    socket_path,
)
from bot.store.rewriting import remove_leftovers
from bot.store.valkey import server_path

log = structlog.get_logger()

CHECK_SECONDS, MAX_PAUSE = 0.5, 8.0
"""How often it is looked whether the Valkey runs; one that dies again and again is started less and less often."""

STEADY_SECONDS = 15.0
"""A Valkey that has run for so long is well again."""

START_SECONDS = 30.0
STOP_SECONDS = 5.0
ORPHAN_SECONDS = 60.0
"""How long a Valkey waits for the next bot after its own was killed."""

LOADING = b"-LOADING"
"""How a Valkey answers that is reading its file."""

CLAIM_SECONDS = 2.0
"""How long a folder is tried for that somebody has: it may be a guard that is just looking at it, on a slow machine."""


DAMAGE = "Bad file format reading the append only file"
"""What Valkey logs of such a file, with the advice to use a tool that its wheel does not bring."""

DAMAGED = (
    "Nothing was changed. Copy {folder} first. Then either restore a backup: move {folder}/appendonlydir away and run "
    "`buongioco restore FILE`. Or cut the file off where it is damaged, and lose what came after: valkey-check-aof, "
    "which does that, comes with Valkey's own packages."
)


class EmbeddedStore:
    """The Valkey of one data folder.

    `start` locks the folder and starts a Valkey or takes over the one that is there; `url` is then where it listens.
    ``patience`` is how many seconds it may say nothing: one that says that it is loading its file is waited for. After
    a kill of the bot the Valkey runs for ``left_alone`` seconds more.
    """

    def __init__(self, folder: Path, left_alone: float = ORPHAN_SECONDS) -> None:
        self._given_folder, self.folder = folder, folder.resolve()
        self.patience = START_SECONDS
        self._orphan_seconds = left_alone
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
        """Lock the folder and have a Valkey answer; FolderTaken where another bot has it, StoreError if none starts."""
        self._lock = await self._lock_folder()
        try:
            if not await self._wait_for_answer(self.patience):
                self._spawn()
            self._start_guard()
            await self._require_answer()
        except BaseException:
            self._release_folder()
            await self._stop_guard()
            raise

    async def keep_running(self) -> None:
        """Start the Valkey again whenever it has died, until cancelled; clients connect anew by themselves.

        One that dies again and again, as on a full disk, is started less and less often, and said once.
        """
        loop = asyncio.get_running_loop()
        pause, started, said = CHECK_SECONDS, 0.0, False
        while True:
            await asyncio.sleep(pause)
            if await self._is_running():
                if loop.time() - started >= STEADY_SECONDS:
                    pause, said = CHECK_SECONDS, False
                continue
            if pause == CHECK_SECONDS:
                log.error("store_died", folder=str(self.folder), free_bytes=self._free_bytes(), log=self._log_tail())
            pause, started = min(2 * pause, MAX_PAUSE), loop.time()
            try:
                self._spawn()
                await self._require_answer()
            except (StoreError, OSError) as error:
                if not said:
                    log.error("store_start_failed", why=str(error))  # noqa: TRY400 - the text says it all
                said = True

    async def stop(self) -> None:
        """Have the Valkey end, everything written, and give the folder back."""
        if await self._is_running():
            await asyncio.to_thread(_send_command, self.socket_path, b"SHUTDOWN")
            deadline = asyncio.get_running_loop().time() + STOP_SECONDS
            while await self._is_running() and asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(0.02)
        if self._running_pid() is None:
            remove_socket_folder(self.folder)
        self._release_folder()
        await self._stop_guard()

    @property
    def is_in_use(self) -> bool:
        """Whether a bot is running with this folder."""
        return is_locked(self.folder)

    def _release_folder(self) -> None:
        if self._lock:
            self._lock.close()
            self._lock = None

    async def _lock_folder(self) -> IO[str]:
        deadline = asyncio.get_running_loop().time() + CLAIM_SECONDS
        while True:
            try:
                return lock_folder(self._given_folder)
            except FolderInUse:
                if asyncio.get_running_loop().time() >= deadline:
                    raise
            await asyncio.sleep(0.05)

    async def _is_running(self) -> bool:
        """Whether a Valkey runs in this folder; where its number could not be written, as on a full disk, by asking."""
        return self._running_pid() is not None or await self._wait_for_answer(0.0)

    def _running_pid(self) -> int | None:
        """The process of a Valkey that still runs in this folder."""
        if self._valkey and self._valkey.poll() is None:
            return self._valkey.pid
        try:
            process = int((self.folder / "valkey.pid").read_text())
        except (OSError, ValueError):
            return None
        return process if _is_valkey_of(self.folder, process) else None

    async def _wait_for_answer(self, patience: float) -> bool:
        """Whether a Valkey answers; one that runs gets this many seconds, and as many as it takes to load its file."""
        deadline, is_said = asyncio.get_running_loop().time() + patience, False
        while True:
            answer = await asyncio.to_thread(_send_command, self.socket_path, b"PING")
            if answer.startswith(b"+PONG"):
                return True
            if patience and answer.startswith(LOADING):
                deadline = asyncio.get_running_loop().time() + patience
                if not is_said:
                    log.info("store_loading", folder=str(self.folder))
                is_said = True
            # It may have been killed together with its bot, and be about to end.
            if asyncio.get_running_loop().time() >= deadline or self._running_pid() is None:
                return False
            await asyncio.sleep(0.02)

    def _spawn(self) -> None:
        if process := self._running_pid():
            raise StoreError(
                f"A Valkey (process {process}) runs in {self.folder} and does not answer; "
                f"see {self.log_path}, and end it by hand if it hangs."
            )
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
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        self._valkey = _start_process([str(server_path()), *words], self.folder)
        self._send_pid_to_guard()

    async def _require_answer(self) -> None:
        if not await self._wait_for_answer(self.patience):
            said = self._log_tail()
            more = f"\n{DAMAGED.format(folder=self.folder)}" if DAMAGE in said else ""
            raise StoreError(f"The embedded Valkey did not start; {self.log_path} says why:\n{said}{more}")

    def _start_guard(self) -> None:
        """Have a guard beside the Valkey, for the case that this process is killed."""
        words = [sys.executable, "-I", "-S", str(guard.__file__), str(self.folder), str(self.socket_path)]
        self._guard = _start_process([*words, str(self._orphan_seconds)], Path("/"), stdin=subprocess.PIPE)
        self._send_pid_to_guard()

    def _send_pid_to_guard(self) -> None:
        """Which Valkey is to be ended; where its number could not be written, the guard asks it by its socket."""
        process = self._running_pid()
        if process and self._guard and self._guard.stdin:
            # A guard that somebody has ended is no reason to end the bot.
            with suppress(BrokenPipeError):
                os.write(self._guard.stdin.fileno(), b"%d\n" % process)

    async def _stop_guard(self) -> None:
        if self._guard and self._guard.stdin:
            self._guard.stdin.close()
            # It ends with the Valkey, at once but where that hangs.
            await asyncio.to_thread(_wait_for_exit, self._guard)
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


def _is_valkey_of(folder: Path, process: int) -> bool:
    """Whether this process is a folder's Valkey and alive.

    A number in an old file may since have gone to another program, and where nobody reaps orphans, as in a container,
    a dead Valkey keeps its number; neither has its command line. Another Valkey has, but works in another folder, which
    tells more surely than its name for the socket: of a command line only the beginning may be left.
    """
    about = Path(f"/proc/{process}")
    if Path("/proc/self").exists():
        try:
            return b"valkey-server" in (about / "cmdline").read_bytes() and (about / "cwd").samefile(folder)
        except OSError:
            return False
    listed = subprocess.run(["ps", "-p", str(process), "-o", "command="], check=False, capture_output=True)
    return b"valkey-server" in listed.stdout


def _start_process(words: list[str], folder: Path, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
    """A process that a Ctrl-C in the bot's terminal does not reach, and whose files are its user's alone."""
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(
        words, cwd=folder, umask=0o077, start_new_session=True, stdin=stdin, stdout=nowhere, stderr=nowhere
    )


def _wait_for_exit(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        log.warning("store_guard_not_stopped", process=process.pid)


def _send_command(path: Path, command: bytes) -> bytes:
    """A Valkey's first answer to a command; nothing if none listens."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(2.0)
            line.connect(str(path))
            line.sendall(command + b"\r\n")
            return line.recv(64)
    except OSError:
        return b""
