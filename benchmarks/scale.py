"""`python -m benchmarks scale`: one, two and three workers on one node and on a cluster, also with replicas asked.

Each worker is a process of its own, as bots run; the people are in this one, and each of their presses goes to any
worker. The baseline, in the same run, is one worker on one node.
"""

import asyncio
import json
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import typer

from benchmarks.cluster import LocalCluster
from benchmarks.crowd import Crowd
from benchmarks.limits import PATIENCE, BenchFailed, within
from bot.store import EmbeddedStore, Store, keys, open_store

WORKERS = (1, 2, 3)
TABLES = 300
WARM_UP, PRESSES = 600, 4000
AT_ONCE = 64
RATE, RATED = 100, 1500
"""Presses a second, and how many of them, at which p99 is taken."""

LIMIT = PATIENCE + (WARM_UP + PRESSES + RATED) / 10
"""Seconds for the presses of a row."""

T = TypeVar("T")


class Figures(NamedTuple):
    """Presses a second flat out; seconds of CPU a press of all workers, and of the store, flat out and at `RATE`; the
    99th percentile in seconds, from press to panel, at `RATE`.
    """

    speed: float
    cpu: float
    store_cpu: float
    rated_cpu: float
    p99: float


class Workers:
    """So many worker processes and the people who press."""

    def __init__(self) -> None:
        self.crowd = Crowd(self._press)
        self._processes: list[asyncio.subprocess.Process] = []
        self._told: list[asyncio.Future[dict[str, Any]]] = []
        self._random, self._keys = Random(2), count(1)
        self.refused: list[str] = []
        self._listening: asyncio.Task[None] | None = None

    async def start(self, number: int, url: str, replicas: int) -> None:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "benchmarks.worker", str(number), str(replicas), url),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**20,
        )
        self._processes.append(process)
        self._told.append(asyncio.get_running_loop().create_future())

    def listen(self) -> None:
        """Hear from now on what the workers print."""
        self._listening = asyncio.create_task(self._listen_to_all())

    async def _listen_to_all(self) -> None:
        await asyncio.gather(*(self._listen(number) for number in range(len(self._processes))))

    async def run(self, work: Coroutine[Any, Any, T], seconds: float, what: str) -> T:
        """Have something done with the workers; BenchFailed if it takes longer, or if one of them ends meanwhile."""
        assert self._listening
        task = asyncio.create_task(work)
        try:
            async with within(seconds, what):
                await asyncio.wait([task, self._listening], return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self._listening.result()
            return await task
        finally:
            task.cancel()

    async def _listen(self, number: int) -> None:
        output = self._processes[number].stdout
        assert output
        while line := await output.readline():
            word = json.loads(line)
            if "person" in word:
                self.crowd.update_panel(word["person"], word["message"], word["payloads"])
            elif "refused" in word:
                self.refused.append(word["refused"])
            else:
                self._told[number].set_result(word)
        raise BenchFailed(f"worker {number} ended, with exit code {await self._processes[number].wait()}")

    def send(self, worker: int, **words: Any) -> None:
        """Have a worker do something."""
        line = self._processes[worker].stdin
        assert line
        line.write(json.dumps(words).encode() + b"\n")

    async def ask(self, number: int) -> dict[str, Any]:
        """A worker's CPU time in seconds, and how many shards it has."""
        self._told[number] = asyncio.get_running_loop().create_future()
        self.send(number, do="tell")
        return await self._told[number]

    async def cpu(self) -> float:
        """Seconds of CPU that all workers have taken."""
        return float(sum([(await self.ask(number))["cpu"] for number in range(len(self._processes))]))

    async def wait_until_shared(self) -> None:
        """Until each has its part of the shards."""
        while True:
            shares = [(await self.ask(number))["shards"] for number in range(len(self._processes))]
            if sum(shares) == keys.SHARDS and max(shares) <= -(-keys.SHARDS // len(shares)):
                return
            await asyncio.sleep(0.2)

    async def open_tables(self) -> None:
        for number in range(TABLES):
            self.send(self._random.randrange(len(self._processes)), do="open", number=number)
            if number % AT_ONCE == 0:
                await asyncio.sleep(0.5)
        while self.crowd.ready_panels < TABLES:
            await asyncio.sleep(0.1)

    def _press(self, person: int, message: str, payload: str) -> None:
        number = self._random.randrange(len(self._processes))
        self.send(number, do="press", key=f"b{next(self._keys)}", person=person, message=message, payload=payload)

    async def stop(self) -> None:
        if self._listening:
            self._listening.cancel()
            await asyncio.wait([self._listening])
        for process in self._processes:
            if process.stdin:
                process.stdin.close()
        for process in self._processes:
            try:
                await asyncio.wait_for(process.wait(), 10)
            except TimeoutError:
                process.kill()
                await process.wait()


@asynccontextmanager
async def start_workers(count_of: int, url: str, replicas: int) -> AsyncIterator[Workers]:
    """So many workers, at tables."""
    workers = Workers()
    try:
        for number in range(count_of):
            await workers.start(number, url, replicas)
        workers.listen()
        await workers.run(workers.wait_until_shared(), PATIENCE, f"{count_of} workers to share the shards")
        await workers.run(workers.open_tables(), 3 * PATIENCE, f"{TABLES} tables to be opened")
        yield workers
    finally:
        await workers.stop()


async def measure_workers(workers: Workers, store_cpu: Callable[[], Awaitable[float]]) -> Figures:
    crowd = workers.crowd
    await crowd.play(WARM_UP, 0, AT_ONCE)
    cpu, stores = await workers.cpu(), await store_cpu()
    flat_out = await crowd.play(PRESSES, 0, AT_ONCE)
    spent, stores_spent = await workers.cpu() - cpu, await store_cpu() - stores
    cpu = await workers.cpu()
    rated = await crowd.play(RATED, RATE, AT_ONCE)
    rated_cpu = await workers.cpu() - cpu
    return Figures(
        PRESSES / flat_out["seconds"],
        spent / PRESSES,
        stores_spent / PRESSES,
        rated_cpu / RATED,
        statistics.quantiles(rated["times"], n=100)[98],
    )


async def cpu_of_store(store: Store) -> float:
    """Seconds of CPU that a store's nodes have taken."""
    about = await store.client.info("cpu")
    nodes = about.values() if all(isinstance(value, dict) for value in about.values()) else [about]
    return float(sum(node["used_cpu_user"] + node["used_cpu_sys"] for node in nodes))


async def measure_store(url: str, name: str, replicas: int, base: Figures | None) -> Figures:
    """All numbers of workers on one store, printed; ``base`` is one worker on one node, or what is found so here."""
    for number in WORKERS:
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(open_store(url))
            await store.client.flushall()
            workers = await stack.enter_async_context(start_workers(number, url, replicas))
            work = measure_workers(workers, lambda store=store: cpu_of_store(store))  # type: ignore[misc]
            found = await workers.run(work, LIMIT, "all presses to reach their panels")
            if workers.refused:
                typer.echo(f"{len(workers.refused)} presses were refused, the first with: {workers.refused[0]}")
        base = base or found
        typer.echo(
            f"{name:28}{number:8}{found.speed:12,.0f}{1000 * found.cpu:12.2f}{found.cpu / base.cpu:8.2f}"
            f"{1000 * found.store_cpu:12.2f}{1000 * found.rated_cpu:12.2f}{found.rated_cpu / base.rated_cpu:8.2f}"
            f"{1000 * found.p99:12.1f}"
        )
    assert base
    return base


async def measure() -> None:
    """Measure all on stores of the bench's own and print it."""
    typer.echo(f"{TABLES} tables; CPU in ms a press, of all workers; × is to one worker on one node")
    typer.echo(f"{'':36}{f'flat out, {AT_ONCE} at once':^44}{f'at {RATE} presses/s':^32}")
    typer.echo(
        f"{'store':28}{'workers':>8}{'presses/s':>12}{'CPU':>12}{'×':>8}{'store CPU':>12}"
        f"{'CPU':>12}{'×':>8}{'p99, ms':>12}"
    )
    with tempfile.TemporaryDirectory() as folder:
        embedded = EmbeddedStore(Path(folder))
        await embedded.start()
        try:
            base = await measure_store(embedded.url, "one node", 0, None)
        finally:
            await embedded.stop()
    with tempfile.TemporaryDirectory() as folder:
        cluster = LocalCluster(Path(folder))
        await asyncio.to_thread(cluster.start)
        try:
            await measure_store(cluster.url, "cluster of three", 0, base)
            await measure_store(cluster.url, "cluster, one replica asked", 1, base)
        finally:
            cluster.stop()


def run() -> None:
    """One, two and three workers on one node and on a cluster: presses a second, CPU a press, p99."""
    asyncio.run(measure())
