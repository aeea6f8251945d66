"""What benches of platforms share: a platform with its people in another process (`benchmarks.platform_server`), the
whole bot in this one, and what it is measured beside in a third.
"""

import asyncio
import itertools
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import aiohttp
import typer

from benchmarks.limits import PATIENCE, START_LIMIT, BenchFailed, within
from bot import logs
from bot.card_room import CardRoom
from bot.handlers import Dispatcher
from bot.platform import Adapter
from bot.running import tune_garbage_collector
from bot.settings import Settings
from bot.store import EmbeddedStore, open_store
from bot.supervisor import Supervisor
from bot.worker import Worker

TABLES, IDLE_TABLES = 1000, 5000
"""So many that no chat's rate limit is what holds up a machine that is quick."""

AT_ONCE = 256
OPENED_A_SECOND = SLOWEST = 5
"""Tables that any machine opens, and presses that any bot answers, a second; for the limits."""

QUIET = 4.0
"""Seconds without a call after which a bot has nothing more to show: boards wait for their rate limit up to 3.5 s."""

ENOUGH_PICTURES = 0.95
"""How many of the bare library's pictures the whole bot has to send for the two to be compared."""

NO_TIMEOUT = aiohttp.ClientTimeout(total=None)


class Server:
    """The other process."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    async def ask(self, seconds: float = PATIENCE, **action: Any) -> Any:
        """What comes of an action; BenchFailed where that takes longer than so many seconds, or cannot be."""
        try:
            async with (
                within(seconds, f"the platform's server to do: {action['do']}"),
                self._session.post(f"{self.url}/control", json=action, timeout=NO_TIMEOUT) as answer,
            ):
                said = await answer.json(content_type=None)
        except (aiohttp.ClientError, ValueError) as error:
            raise BenchFailed(f"the platform's server failed to do: {action['do']} ({type(error).__name__})") from None
        if "failed" in said:
            raise BenchFailed(said["failed"])
        return said["result"]

    async def open_tables(self, begin: int, end: int, *, together: int = 1) -> None:
        """Have the tables from ``begin`` to before ``end`` opened, so many of them by the same two people."""
        seconds = PATIENCE + (end - begin) / OPENED_A_SECOND
        await self.ask(seconds, do="open", together=together, **{"from": begin, "to": end})

    async def wait_until_settled(self) -> None:
        """Until the bot has nothing more to show."""
        await self.ask(do="settle", quiet=QUIET)

    async def wait_until_ready(self, panels: int) -> None:
        """Until so many panels have something to press."""
        ready, deadline = 0, time.monotonic() + PATIENCE
        while (ready := await self.ask(do="ready")) < panels:
            if time.monotonic() > deadline:
                raise BenchFailed(f"waited {PATIENCE:g} s for {panels} panels with something to press; {ready} have")
            await asyncio.sleep(0.1)


@asynccontextmanager
async def connect_to(url: str) -> AsyncIterator[Server]:
    """A platform's server that runs already."""
    async with aiohttp.ClientSession() as session:
        yield Server(url, session)


@asynccontextmanager
async def start_server(module: str) -> AsyncIterator[Server]:
    """A platform's server."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    assert process.stdin
    try:
        async with within(START_LIMIT, f"{module} to say its port"):
            said = await process.stdout.readline()
        if not said:
            raise BenchFailed(f"{module} ended before it said its port")
        async with connect_to(f"http://127.0.0.1:{int(said)}") as there:
            yield there
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(PATIENCE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


@asynccontextmanager
async def start_bot(settings: Settings, make: Callable[[CardRoom], Adapter]) -> AsyncIterator[None]:
    """The bot, in this process, with one adapter and a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        embedded = EmbeddedStore(Path(folder))
        await embedded.start()
        try:
            async with open_store(embedded.url) as store:
                worker = Worker(store, settings)
                worker.add_adapter(make(Dispatcher(worker)))
                serving = asyncio.create_task(Supervisor(worker).run())
                async with within(START_LIMIT, "the bot to start"):
                    await worker.start()
                try:
                    yield
                except BenchFailed as failure:
                    down = "".join(f"; {platform} is down: {why}" for platform, why in worker.errors.items())
                    raise BenchFailed(f"{failure}{down}") from None
                finally:
                    serving.cancel()
                    await asyncio.wait([serving])
                    await worker.stop()
        finally:
            await embedded.stop()


async def measure_presses(
    there: Server, name: str, presses: int, rate: float = 0, at_once: int = AT_ONCE
) -> dict[str, Any]:
    """So many presses, ``rate`` a second or as fast as it goes, with their figures printed."""
    result = await play_presses(there, presses, rate, at_once)
    print_result(name, result)
    return result


async def play_presses(there: Server, presses: int, rate: float, at_once: int) -> dict[str, Any]:
    """So many presses that are answered by this process, and what they took."""
    cpu = time.process_time()
    seconds = PATIENCE + presses / SLOWEST
    result: dict[str, Any] = await there.ask(seconds, do="play", presses=presses, rate=rate, at_once=at_once)
    result["cpu"], result["rate"] = (time.process_time() - cpu) / presses, rate
    result["speed"], result["calls_a_press"] = presses / result["seconds"], result["calls"] / presses
    result["uploads_a_press"] = result["uploads"] / presses
    return result


def print_result(name: str, result: dict[str, Any]) -> None:
    """Print the figures of what was played."""
    rate_limit = f"{result['rate']:g} presses/s asked for" if result["rate"] else f"{result['speed']:,.0f} presses/s"
    typer.echo(
        f"{name}: {rate_limit}, {1000 * result['cpu']:.2f} ms of CPU a press, "
        f"{result['calls_a_press']:.2f} API calls a press, "
        + (f"{result['uploads_a_press']:.2f} pictures a press, " if result["uploads"] else "")
        + f"press to panel {format_percentiles(result['times'])}"
        + (f", to acknowledgement {format_percentiles(result['acknowledged'])}" if result.get("acknowledged") else "")
    )


async def run_in_process(measure: Callable[..., Awaitable[dict[str, Any]]], *about: Any) -> dict[str, Any]:
    """What a baseline comes to in a process of its own: what it leaves in memory slows nothing else down."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return await asyncio.get_running_loop().run_in_executor(process, _run_measure, measure, *about)


def _run_measure(measure: Callable[..., Awaitable[dict[str, Any]]], *about: Any) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        return await measure(*about)

    logs.set_up("error")
    tune_garbage_collector()
    return asyncio.run(run())


def format_percentiles(seconds: list[float]) -> str:
    """The median and the 99th percentile of so many times."""
    parts = statistics.quantiles(seconds, n=100)
    return f"p50 {1000 * parts[49]:.1f}, p99 {1000 * parts[98]:.1f} ms"


def print_ratios(wholes: list[dict[str, Any]], bares: list[dict[str, Any]], over: str = "") -> None:
    """The whole bot beside the bare library, round by round, in presses a second and in CPU a press.

    At a rate that is asked for both do as many presses a second. A round in which the whole bot left out pictures that
    the bare library sent is marked and in no median, for it looks quicker than the bot is.
    """
    rounds = list(zip(wholes, bares, strict=True))
    full = [whole["uploads_a_press"] >= ENOUGH_PICTURES * bare["uploads_a_press"] for whole, bare in rounds]
    marks = ["" if is_full else "*" for is_full in full]
    speeds = [whole["speed"] / bare["speed"] for whole, bare in rounds]
    cpus = [bare["cpu"] / whole["cpu"] for whole, bare in rounds]
    for what, ratios in (("presses/s", speeds), ("presses by CPU", cpus)):
        if what == "presses by CPU" or not wholes[0]["rate"]:
            counted = list(itertools.compress(ratios, full))
            each = ", ".join(f"{ratio:.2f}{mark}" for ratio, mark in zip(ratios, marks, strict=True))
            median = f"{statistics.median(counted):.2f} x, median of {len(counted)}" if counted else "not told, 0"
            typer.echo(f"{what}, whole bot to bare library{over}: {median} rounds in turn ({each})")
    if any(bare["uploads"] for bare in bares):
        each = ", ".join(f"{whole['uploads_a_press']:.2f} to {bare['uploads_a_press']:.2f}" for whole, bare in rounds)
        typer.echo(f"pictures a press, whole bot to bare library{over}: {each}")
    if not all(full):
        typer.echo("* the whole bot left out pictures, so such a round is not counted", err=True)


def print_failures(name: str, failures: list[str]) -> None:
    """Say in one line what a baseline met, by the errors' names."""
    if failures:
        kinds = ", ".join(sorted(set(failures)))
        typer.echo(f"{name}: {len(failures)} calls failed ({kinds}), so its figures are too high", err=True)


async def measure_memory(there: Server, tables: int, before: int) -> None:
    """So many tables, and nobody plays: what that takes in memory. ``before`` is bytes without any table."""
    await there.open_tables(TABLES + 1, tables + 1)
    await there.wait_until_ready(tables - TABLES // 10)
    await there.wait_until_settled()
    now = resident_bytes() / 1e6
    typer.echo(f"whole bot: {tables:,} live tables in {now:.0f} MB of memory ({before / 1e6:.0f} before any)")


def resident_bytes() -> int:
    """Bytes of memory that this process holds (Linux); 0 where that cannot be asked."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0
