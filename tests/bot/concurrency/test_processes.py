"""Work in other processes, which can fail or die."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.concurrency.processes import ProcessDied, Processes

pytestmark = pytest.mark.usefixtures("spawned")


class UnpicklableError(Exception):
    """A result that can be pickled but not unpickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def raise_error() -> None:
    raise ValueError("no")


def raise_unpicklable() -> None:
    raise UnpicklableError(1, 2)


def return_unpicklable() -> object:
    return lambda: None


def die_once(seen: Path) -> str:
    if not seen.exists():
        seen.touch()
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
async def processes(count: int = 1) -> AsyncIterator[Processes]:
    some = Processes("test", count)
    try:
        yield some
    finally:
        some.stop()


async def test_large_results_are_returned() -> None:
    async with processes() as some:
        assert await some.run(bytes, 3_000_000) == bytes(3_000_000)
        assert await some.run(os.getppid) == os.getpid()


async def test_errors_keep_their_traceback() -> None:
    async with processes() as some:
        with pytest.raises(ValueError, match="no") as raised:
            await some.run(raise_error)
        assert "in raise_error" in raised.value.__notes__[0]


async def test_unpicklable_result_keeps_the_process_alive() -> None:
    async with processes() as some:
        process = await some.run(os.getpid)
        with pytest.raises(RuntimeError, match="UnpicklableError"):
            await some.run(raise_unpicklable)
        with pytest.raises((AttributeError, RuntimeError)):
            await some.run(return_unpicklable)
        assert await some.run(os.getpid) == process


async def test_queued_work_survives_a_dead_process(tmp_path: Path) -> None:
    async with processes() as some:
        found = await asyncio.gather(
            some.run(die_once, tmp_path / "seen"), *[some.run(abs, -number) for number in (1, 2)]
        )
    assert found == ["done", 1, 2]


async def test_idle_process_takes_new_work(tmp_path: Path) -> None:
    async with processes(2) as some:
        busy = asyncio.create_task(some.run(wait_for_file, tmp_path / "done"))
        others = {await some.run(os.getpid) for _ in range(3)}
        (tmp_path / "done").touch()
        assert await busy not in others


async def test_cancelled_work_frees_its_place(tmp_path: Path) -> None:
    async with processes() as some:
        tasks = [asyncio.create_task(some.run(wait_for_file, tmp_path / "done")) for _ in range(5)]
        while not some._running:
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert some.pending == 0
        (tmp_path / "done").touch()
        assert await asyncio.gather(*[some.run(abs, -number) for number in range(5)]) == [0, 1, 2, 3, 4]


async def test_cancelled_work_keeps_others_when_the_process_dies() -> None:
    async with processes() as some:
        assert await some.run(sleep_for, 0.0) == 0.0
        first = asyncio.create_task(some.run(sleep_for, 0.5))
        # More work waits than the process takes in advance.
        others = [asyncio.create_task(some.run(sleep_for, 0.01 * number)) for number in range(1, 7)]
        await asyncio.sleep(0.1)
        for impatient in others[::2]:
            impatient.cancel()
        await asyncio.sleep(0)
        [running] = some._running
        os.kill(running.process.pid or 0, signal.SIGKILL)
        async with asyncio.timeout(30):
            assert await asyncio.gather(first, *others[1::2]) == [0.5, 0.02, 0.04, 0.06]
        assert some.pending == 0


async def test_stopped_pool_refuses_work(tmp_path: Path) -> None:
    async with processes() as some:
        under_way = asyncio.create_task(some.run(wait_for_file, tmp_path / "never"))
        while not some._running:
            await asyncio.sleep(0.01)
        some.stop()
        with pytest.raises(ProcessDied):
            await under_way
        with pytest.raises(ProcessDied):
            await some.run(abs, 1)
