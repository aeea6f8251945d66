"""Shared parts of the platform benchmarks.

The platform and its people run in another process (`benchmarks.platform_server`), the whole bot in this one, and the
baseline in a third.
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
from bot.card_room import CardRoom
from bot.handlers import Dispatcher
from bot.platform import Adapter
from bot.running import logs
from bot.running.run import tune_garbage_collector
from bot.running.supervisor import Supervisor
from bot.settings import Settings
from bot.store import EmbeddedStore, open_store
from bot.worker import Worker

TABLES, IDLE_TABLES = 1000, 5000  # enough that chats' rate limits do not slow a fast machine
AT_ONCE = 256
OPENED_A_SECOND = SLOWEST = 5  # tables opened a second, and presses answered a second, on the slowest machine
QUIET = 4.0  # seconds without calls after which a bot has settled; boards wait up to 3.5 s
ENOUGH_PICTURES = 0.95  # the bot must send this share of the bare library's pictures

NO_TIMEOUT = aiohttp.ClientTimeout(total=None)


class Server:
    """A client of the platform's server process."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    async def ask(self, seconds: float = PATIENCE, **action: Any) -> Any:
        """Run an action and return its result. Raises BenchFailed if it fails or takes longer than ``seconds``."""
        try:
            async with (
                within(seconds, f"the platform's server to do: {action['do']}"),
                self._session.post(f"{self.url}/control", json=action, timeout=NO_TIMEOUT) as answer,
            ):
                reply = await answer.json(content_type=None)
        except (aiohttp.ClientError, ValueError) as error:
            raise BenchFailed(f"the platform's server failed to do: {action['do']} ({type(error).__name__})") from None
        if "failed" in reply:
            raise BenchFailed(reply["failed"])
        return reply["result"]

    async def open_tables(self, begin: int, end: int, *, together: int = 1) -> None:
        """Open the tables from ``begin`` to before ``end``, ``together`` of them by the same two people."""
        seconds = PATIENCE + (end - begin) / OPENED_A_SECOND
        await self.ask(seconds, do="open", together=together, **{"from": begin, "to": end})

    async def wait_until_settled(self) -> None:
        """Wait until the bot sends no more messages."""
        await self.ask(do="settle", quiet=QUIET)

    async def wait_until_ready(self, panels: int) -> None:
        """Wait until this many panels have buttons to press."""
        ready, deadline = 0, time.monotonic() + PATIENCE
        while (ready := await self.ask(do="ready")) < panels:
            if time.monotonic() > deadline:
                raise BenchFailed(f"waited {PATIENCE:g} s for {panels} panels with buttons; only {ready} have some")
            await asyncio.sleep(0.1)


@asynccontextmanager
async def connect_to(url: str) -> AsyncIterator[Server]:
    """Connect to a running platform server."""
    async with aiohttp.ClientSession() as session:
        yield Server(url, session)


@asynccontextmanager
async def start_server(module: str) -> AsyncIterator[Server]:
    """Start a platform's server, and stop it afterwards."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    assert process.stdin
    try:
        async with within(START_LIMIT, f"{module} to print its port"):
            port = await process.stdout.readline()
        if not port:
            raise BenchFailed(f"{module} ended before it printed its port")
        async with connect_to(f"http://127.0.0.1:{int(port)}") as server:
            yield server
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
    """Run the bot in this process, with one adapter and its own store."""
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
                    outages = "".join(f"; {platform} is down: {cause}" for platform, cause in worker.errors.items())
                    raise BenchFailed(f"{failure}{outages}") from None
                finally:
                    serving.cancel()
                    await asyncio.wait([serving])
                    await worker.stop()
        finally:
            await embedded.stop()


async def measure_presses(
    server: Server, name: str, presses: int, rate: float = 0, at_once: int = AT_ONCE
) -> dict[str, Any]:
    """Measure presses and print the figures. ``rate`` is presses a second, 0 for as fast as possible."""
    result = await play_presses(server, presses, rate, at_once)
    print_result(name, result)
    return result


async def play_presses(server: Server, presses: int, rate: float, at_once: int) -> dict[str, Any]:
    """Let the platform's people press while this process answers them. Return the figures."""
    cpu = time.process_time()
    seconds = PATIENCE + presses / SLOWEST
    result: dict[str, Any] = await server.ask(seconds, do="play", presses=presses, rate=rate, at_once=at_once)
    result["cpu"], result["rate"] = (time.process_time() - cpu) / presses, rate
    result["speed"], result["calls_a_press"] = presses / result["seconds"], result["calls"] / presses
    result["uploads_a_press"] = result["uploads"] / presses
    return result


def print_result(name: str, result: dict[str, Any]) -> None:
    rate_limit = f"{result['rate']:g} presses/s asked for" if result["rate"] else f"{result['speed']:,.0f} presses/s"
    typer.echo(
        f"{name}: {rate_limit}, {1000 * result['cpu']:.2f} ms of CPU a press, "
        f"{result['calls_a_press']:.2f} API calls a press, "
        + (f"{result['uploads_a_press']:.2f} pictures a press, " if result["uploads"] else "")
        + f"press to panel {format_percentiles(result['times'])}"
        + (f", to acknowledgement {format_percentiles(result['acknowledged'])}" if result.get("acknowledged") else "")
    )


async def run_in_process(measure: Callable[..., Awaitable[dict[str, Any]]], *args: Any) -> dict[str, Any]:
    """Measure a baseline in its own process, so that its memory does not slow down anything else."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return await asyncio.get_running_loop().run_in_executor(process, _run_measure, measure, *args)


def _run_measure(measure: Callable[..., Awaitable[dict[str, Any]]], *args: Any) -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        return await measure(*args)

    logs.set_up("error")
    tune_garbage_collector()
    return asyncio.run(run())


def format_percentiles(seconds: list[float]) -> str:
    parts = statistics.quantiles(seconds, n=100)
    return f"p50 {1000 * parts[49]:.1f}, p99 {1000 * parts[98]:.1f} ms"


def print_ratios(wholes: list[dict[str, Any]], bares: list[dict[str, Any]], suffix: str = "") -> None:
    """Print ratios of the whole bot to the bare library, by round: presses a second, and presses by CPU.

    At a fixed rate both make the same presses per second. A round in which the bot left out pictures would flatter the
    bot, so the round is marked and left out of the median.
    """
    rounds = list(zip(wholes, bares, strict=True))
    full = [whole["uploads_a_press"] >= ENOUGH_PICTURES * bare["uploads_a_press"] for whole, bare in rounds]
    marks = ["" if is_full else "*" for is_full in full]
    speeds = [whole["speed"] / bare["speed"] for whole, bare in rounds]
    cpus = [bare["cpu"] / whole["cpu"] for whole, bare in rounds]
    for label, ratios in (("presses/s", speeds), ("presses by CPU", cpus)):
        if label == "presses by CPU" or not wholes[0]["rate"]:
            full_ratios = list(itertools.compress(ratios, full))
            upload_rates = ", ".join(f"{ratio:.2f}{mark}" for ratio, mark in zip(ratios, marks, strict=True))
            median = (
                f"{statistics.median(full_ratios):.2f} x, median of {len(full_ratios)}"
                if full_ratios
                else "no median, 0"
            )
            typer.echo(f"{label}, whole bot to bare library{suffix}: {median} rounds in turn ({upload_rates})")
    if any(bare["uploads"] for bare in bares):
        upload_rates = ", ".join(
            f"{whole['uploads_a_press']:.2f} to {bare['uploads_a_press']:.2f}" for whole, bare in rounds
        )
        typer.echo(f"pictures a press, whole bot to bare library{suffix}: {upload_rates}")
    if not all(full):
        typer.echo("* not counted, because the whole bot left out pictures in this round", err=True)


def print_failures(name: str, failures: list[str]) -> None:
    """Print a baseline's errors in one line, by name."""
    if failures:
        kinds = ", ".join(sorted(set(failures)))
        typer.echo(f"{name}: {len(failures)} calls failed ({kinds}), so its figures are too high", err=True)


async def measure_memory(server: Server, tables: int, before: int) -> None:
    """Print the memory of idle tables. ``before`` is the bytes without any table."""
    await server.open_tables(TABLES + 1, tables + 1)
    await server.wait_until_ready(tables - TABLES // 10)
    await server.wait_until_settled()
    now = resident_bytes() / 1e6
    typer.echo(f"whole bot: {tables:,} live tables in {now:.0f} MB of memory ({before / 1e6:.0f} before any)")


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes (Linux); 0 elsewhere."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0
