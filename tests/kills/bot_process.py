"""A bot in its own process, which a test can kill."""

import asyncio
import itertools
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import aiohttp

PORTS = range(11_000, 30_000)
"""Ports below those that systems assign automatically, so no other program gets one of these during a test."""


def _ports_of_this_process() -> Iterator[int]:
    """Yield this test process's share of the ports, in an endless cycle.

    The cycle starts at a random port, because another test run can be active at the same time.
    """
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    share = PORTS[number :: int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))]
    first = Random().randrange(len(share))
    return itertools.cycle([*share[first:], *share[:first]])


_ports = _ports_of_this_process()


def free_port() -> int:
    """Return a port that nothing listens on and no other test gets."""
    while True:
        port = next(_ports)
        with socket.socket() as socket_, suppress(OSError):
            socket_.bind(("127.0.0.1", port))
            return port


class Bot:
    """A bot in its own process, as a host starts it."""

    command: Sequence[str | Path] = (Path(sys.executable).with_name("buongioco"),)
    """The command to run. A test can replace it to change one of the bot's limits."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder, self.port, self.settings = folder, free_port(), settings
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("BUONGIOCO", "REDIS"))},
            "BUONGIOCO_DATA": str(self.folder / "data"),
            "BUONGIOCO_PLAYGROUND_PORT": str(self.port),
            "BUONGIOCO_RATE_LIMITS": "false",
            "BUONGIOCO_ANALYSE_RESULTS": "false",
            **self.settings,
        }
        log = (self.folder / "bot.log").open("ab")
        self.process = await asyncio.create_subprocess_exec(
            *self.command, "run", env=environment, stdout=log, stderr=log, cwd=self.folder
        )
        log.close()

    async def kill(self) -> None:
        if self.process:
            if self.process.returncode is None:
                self.process.kill()
            await self.process.wait()

    async def stop(self) -> float:
        """Send SIGTERM; return the seconds until the process ended."""
        assert self.process
        start = time.perf_counter()
        self.process.terminate()
        await self.process.wait()
        return time.perf_counter() - start

    def kill_store(self) -> None:
        try:
            os.kill(int((self.folder / "data" / "valkey.pid").read_text()), signal.SIGKILL)
        except (OSError, ValueError):
            return

    def log_tail(self) -> str:
        """Return the last 20 lines of the bot's log."""
        return "\n".join((self.folder / "bot.log").read_text().splitlines()[-20:])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def wait_until_healthy(self, session: aiohttp.ClientSession) -> None:
        deadline = time.monotonic() + 90
        while True:
            try:
                async with session.get(f"{self.url}/healthz") as answer:
                    if answer.status == 200:
                        return
            except (aiohttp.ClientError, OSError):
                pass
            if time.monotonic() > deadline:
                raise AssertionError("the bot is not healthy after 90 s")
            await asyncio.sleep(0.05)
