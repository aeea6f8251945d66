"""`python -m benchmarks scale`: one to three workers on one node and on a cluster, also with replicas.

Each worker is a process. The people are in this process, and each press goes to a random worker. The baseline, in the
same run, is one worker on one node.
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
RATE, RATED = 100, 1500  # presses a second and their number, for p99
LIMIT = PATIENCE + (WARM_UP + PRESSES + RATED) / 10  # seconds for the presses of a row

T = TypeVar("T")


class Figures(NamedTuple):
    """Figures of a row. CPU is in seconds per press."""

    speed: float  # presses per second at full speed
    cpu: float  # of the workers, at full speed
    store_cpu: float  # of the store, at full speed
    rated_cpu: float  # of the workers, at `RATE`
    p99: float  # seconds from press to panel, at `RATE`


class Workers:
    """The worker processes and the people who press."""

    def __init__(self) -> None:
        self.crowd = Crowd(self._press)
        self._processes: list[asyncio.subprocess.Process] = []
        self._replies: list[asyncio.Future[dict[str, Any]]] = []
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
        self._replies.append(asyncio.get_running_loop().create_future())

    def listen(self) -> None:
        """Start to read the workers' output."""
        self._listening = asyncio.create_task(self._listen_to_all())

    async def _listen_to_all(self) -> None:
        await asyncio.gather(*(self._listen(number) for number in range(len(self._processes))))

    async def run(self, work: Coroutine[Any, Any, T], seconds: float, purpose: str) -> T:
        """Await ``work``. Raises BenchFailed if it takes longer than ``seconds`` or if a worker ends before that."""
        assert self._listening
        task = asyncio.create_task(work)
        try:
            async with within(seconds, purpose):
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
            message = json.loads(line)
            if "person" in message:
                self.crowd.update_panel(message["person"], message["message"], message["payloads"])
            elif "refused" in message:
                self.refused.append(message["refused"])
            else:
                self._replies[number].set_result(message)
        raise BenchFailed(f"worker {number} ended, with exit code {await self._processes[number].wait()}")

    def send(self, worker: int, **action: Any) -> None:
        input_pipe = self._processes[worker].stdin
        assert input_pipe
        input_pipe.write(json.dumps(action).encode() + b"\n")

    async def ask(self, number: int) -> dict[str, Any]:
        """Return a worker's CPU time in seconds and its number of shards."""
        self._replies[number] = asyncio.get_running_loop().create_future()
        self.send(number, do="tell")
        return await self._replies[number]

    async def cpu(self) -> float:
        """Return the CPU time of all workers, in seconds."""
        return float(sum([(await self.ask(number))["cpu"] for number in range(len(self._processes))]))

    async def wait_until_shared(self) -> None:
        """Wait until each worker has its share of the shards."""
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
async def start_workers(number_of_workers: int, url: str, replicas: int) -> AsyncIterator[Workers]:
    """Start workers and open tables."""
    workers = Workers()
    try:
        for number in range(number_of_workers):
            await workers.start(number, url, replicas)
        workers.listen()
        await workers.run(workers.wait_until_shared(), PATIENCE, f"{number_of_workers} workers to share the shards")
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
    """Return the CPU time of a store's nodes, in seconds."""
    cpu_info = await store.client.info("cpu")
    nodes = cpu_info.values() if all(isinstance(value, dict) for value in cpu_info.values()) else [cpu_info]
    return float(sum(node["used_cpu_user"] + node["used_cpu_sys"] for node in nodes))


async def measure_store(url: str, name: str, replicas: int, base: Figures | None) -> Figures:
    """Measure each number of workers on one store, and print a row for each.

    ``base`` has the figures of one worker on one node; without it, this store's first row is the base.
    """
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
    typer.echo(f"{TABLES} tables; CPU in ms a press, of all workers; × is relative to one worker on one node")
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
    """Measure one to three workers on one node and on a cluster: presses a second, CPU a press, p99."""
    asyncio.run(measure())
