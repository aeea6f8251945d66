"""What benches of platforms share: a platform with its people in another process, and the whole bot in this one.

The server is a module that prints its port, serves until its standard input ends, and takes what the bench wishes at
``/control``: ``open`` so many tables, ``ready`` (how many people have something to press), ``samples`` of what was
sent, ``bare`` (people for the bare library), and ``play``.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import typer

from bot.handlers import Dispatcher
from bot.platform import Adapter, CardRoom
from bot.settings import Settings
from bot.store import EmbeddedStore, opened
from bot.supervisor import Supervisor
from bot.worker import Worker

TABLES, IDLE_TABLES = 200, 5000
AT_ONCE = 256


class Server:
    """The other process."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    async def ask(self, **action: Any) -> Any:
        timeout = aiohttp.ClientTimeout(total=600)
        async with self._session.post(f"{self.url}/control", json=action, timeout=timeout) as answer:
            return (await answer.json(content_type=None))["result"]

    async def until_ready(self, people: int) -> None:
        """Until so many people have something to press."""
        while await self.ask(do="ready") < people:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def server(module: str) -> AsyncIterator[Server]:
    """A platform's server."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    assert process.stdin
    port = int(await process.stdout.readline())
    async with aiohttp.ClientSession() as session:
        yield Server(f"http://127.0.0.1:{port}", session)
    process.stdin.close()
    await process.wait()


@asynccontextmanager
async def whole_bot(settings: Settings, make: Callable[[CardRoom], Adapter]) -> AsyncIterator[None]:
    """The bot, in this process, with one adapter and a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        embedded = EmbeddedStore(Path(folder))
        await embedded.start()
        try:
            async with opened(embedded.url) as store:
                worker = Worker(store, settings)
                worker.add(make(Dispatcher(worker)))
                serving = asyncio.create_task(Supervisor(worker).run())
                await worker.start()
                try:
                    yield
                finally:
                    serving.cancel()
                    await asyncio.wait([serving])
                    await worker.stop()
        finally:
            await embedded.stop()


async def measured(there: Server, name: str, presses: int, rate: float = 0) -> dict[str, Any]:
    """So many presses, ``rate`` a second or as fast as it goes, with their figures printed."""
    cpu = time.process_time()
    result: dict[str, Any] = await there.ask(do="play", presses=presses, rate=rate, at_once=AT_ONCE)
    spent = (time.process_time() - cpu) / presses
    result["speed"], result["calls_a_press"] = presses / result["seconds"], result["calls"] / presses
    rate_limit = f"{rate:g} presses/s asked for" if rate else f"{result['speed']:,.0f} presses/s"
    typer.echo(
        f"{name}: {rate_limit}, {1000 * spent:.2f} ms of CPU a press, {result['calls_a_press']:.2f} API calls a press, "
        f"press to panel {_spread(result['times'])}"
        + (f", to acknowledgement {_spread(result['acknowledged'])}" if result.get("acknowledged") else "")
    )
    return result


def _spread(seconds: list[float]) -> str:
    parts = statistics.quantiles(seconds, n=100)
    return f"p50 {1000 * parts[49]:.1f}, p99 {1000 * parts[98]:.1f} ms"


async def hold(there: Server, tables: int, before: int) -> None:
    """So many tables, and nobody plays: what that takes in memory. ``before`` is bytes without any table."""
    await there.ask(do="open", **{"from": TABLES + 1, "to": tables + 1})
    await there.until_ready(tables - TABLES // 10)
    await asyncio.sleep(5.0)
    typer.echo(
        f"whole bot: {tables:,} live tables in {resident() / 1e6:.0f} MB of memory ({before / 1e6:.0f} before any)"
    )


def resident() -> int:
    """Bytes of memory that this process holds (Linux); 0 where that cannot be asked."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0
