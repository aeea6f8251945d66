"""The bot as a host starts it: a process of its own, that can be killed."""

import asyncio
import os
import signal
import socket
import sys
import time
from pathlib import Path

import aiohttp


def free_port() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


class Bot:
    """The bot as a host starts it."""

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
            Path(sys.executable).with_name("buongioco"), "run", env=environment, stdout=log, stderr=log, cwd=self.folder
        )
        log.close()

    async def kill(self) -> None:
        if self.process:
            if self.process.returncode is None:
                self.process.kill()
            await self.process.wait()

    async def stop(self) -> float:
        """SIGTERM; returns the seconds that it took."""
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

    def end_of_log(self) -> str:
        """The last lines of what it has logged."""
        return "\n".join((self.folder / "bot.log").read_text().splitlines()[-20:])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def until_healthy(self, session: aiohttp.ClientSession) -> None:
        deadline = time.monotonic() + 90
        while True:
            try:
                async with session.get(f"{self.url}/healthz") as answer:
                    if answer.status == 200:
                        return
            except (aiohttp.ClientError, OSError):
                pass
            if time.monotonic() > deadline:
                raise AssertionError("the bot does not come back")
            await asyncio.sleep(0.05)
