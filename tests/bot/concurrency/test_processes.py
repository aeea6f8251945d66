"""Work in other processes, which can fail or die."""

import asyncio
import os
import pickle
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.concurrency.processes import ProcessDied, Processes

pytestmark = pytest.mark.usefixtures("spawned")


class UnpicklableError(Exception):
    """An error that can be pickled but not unpickled."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__(f"{first} and {second}")


def raise_error() -> None:
    raise ValueError("no")


def raise_unpicklable() -> None:
    raise UnpicklableError(1, 2)


def return_unpicklable() -> object:
    return lambda: None


def die_once(marker: Path) -> str:
    if not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def sleep_for(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def wait_for_file(file: Path) -> int:
    while not file.exists():
        time.sleep(0.01)
    return os.getpid()


@asynccontextmanager
async def open_processes(count: int = 1) -> AsyncIterator[Processes]:
    processes = Processes("test", count)
    try:
        yield processes
    finally:
        processes.stop()


async def test_large_results_are_returned() -> None:
    async with open_processes() as processes:
        assert await processes.run(bytes, 3_000_000) == bytes(3_000_000)
        assert await processes.run(os.getppid) == os.getpid()


async def test_errors_keep_their_traceback() -> None:
    async with open_processes() as processes:
        with pytest.raises(ValueError, match="no") as raised:
            await processes.run(raise_error)
        assert "in raise_error" in raised.value.__notes__[0]


async def test_unpicklable_result_keeps_the_process_alive() -> None:
    async with open_processes() as processes:
        process = await processes.run(os.getpid)
        with pytest.raises(RuntimeError, match="UnpicklableError"):
            await processes.run(raise_unpicklable)
        with pytest.raises((AttributeError, pickle.PicklingError, RuntimeError)):
            await processes.run(return_unpicklable)
        assert await processes.run(os.getpid) == process


async def test_queued_work_survives_a_dead_process(tmp_path: Path) -> None:
    async with open_processes() as processes:
        results = await asyncio.gather(
            processes.run(die_once, tmp_path / "marker"), *[processes.run(abs, -number) for number in (1, 2)]
        )
    assert results == ["done", 1, 2]


async def test_idle_process_takes_new_work(tmp_path: Path) -> None:
    async with open_processes(2) as processes:
        busy = asyncio.create_task(processes.run(wait_for_file, tmp_path / "done"))
        process_ids = {await processes.run(os.getpid) for _ in range(3)}
        (tmp_path / "done").touch()
        assert await busy not in process_ids


async def test_cancelled_work_frees_its_place(tmp_path: Path) -> None:
    async with open_processes() as processes:
        tasks = [asyncio.create_task(processes.run(wait_for_file, tmp_path / "done")) for _ in range(5)]
        while not processes._running:
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert processes.pending == 0
        (tmp_path / "done").touch()
        assert await asyncio.gather(*[processes.run(abs, -number) for number in range(5)]) == [0, 1, 2, 3, 4]


async def test_other_work_survives_cancellations_and_a_dead_process() -> None:
    async with open_processes() as processes:
        assert await processes.run(sleep_for, 0.0) == 0.0
        first = asyncio.create_task(processes.run(sleep_for, 0.5))
        # More work waits here than the process takes in advance.
        others = [asyncio.create_task(processes.run(sleep_for, 0.01 * number)) for number in range(1, 7)]
        await asyncio.sleep(0.1)
        for task in others[::2]:
            task.cancel()
        await asyncio.sleep(0)
        [running] = processes._running
        os.kill(running.process.pid or 0, signal.SIGKILL)
        async with asyncio.timeout(30):
            assert await asyncio.gather(first, *others[1::2]) == [0.5, 0.02, 0.04, 0.06]
        assert processes.pending == 0


async def test_stopped_pool_refuses_work(tmp_path: Path) -> None:
    async with open_processes() as processes:
        running = asyncio.create_task(processes.run(wait_for_file, tmp_path / "never"))
        while not processes._running:
            await asyncio.sleep(0.01)
        processes.stop()
        with pytest.raises(ProcessDied):
            await running
        with pytest.raises(ProcessDied):
            await processes.run(abs, 1)
