"""Work is done in other processes, whatever becomes of them."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.processes import ProcessDied, Processes

pytestmark = pytest.mark.usefixtures("spawned")


class Odd(Exception):
    """Can be pickled, but not read again."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def refuse() -> None:
    raise ValueError("no")


def refuse_oddly() -> None:
    raise Odd(1, 2)


def nothing_to_send() -> object:
    return lambda: None


def die_once(seen: Path) -> str:
    if not seen.exists():
        seen.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def slow(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def wait_for(file: Path) -> int:
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


async def test_work_is_answered_however_large_the_answer() -> None:
    async with processes() as some:
        assert await some.run(bytes, 3_000_000) == bytes(3_000_000)
        assert await some.run(os.getppid) == os.getpid()


async def test_an_error_arrives_with_where_it_was_raised() -> None:
    async with processes() as some:
        with pytest.raises(ValueError, match="no") as raised:
            await some.run(refuse)
        assert "in refuse" in raised.value.__notes__[0]


async def test_what_cannot_be_sent_over_is_an_error_and_the_process_goes_on() -> None:
    async with processes() as some:
        process = await some.run(os.getpid)
        with pytest.raises(RuntimeError, match="Odd"):
            await some.run(refuse_oddly)
        with pytest.raises((AttributeError, RuntimeError)):
            await some.run(nothing_to_send)
        assert await some.run(os.getpid) == process


async def test_work_that_waits_behind_a_death_is_done_all_the_same(tmp_path: Path) -> None:
    async with processes() as some:
        found = await asyncio.gather(
            some.run(die_once, tmp_path / "seen"), *[some.run(abs, -number) for number in (1, 2)]
        )
    assert found == ["done", 1, 2]


async def test_of_several_processes_nobody_waits_for_one_that_is_busy(tmp_path: Path) -> None:
    async with processes(2) as some:
        busy = asyncio.create_task(some.run(wait_for, tmp_path / "done"))
        others = {await some.run(os.getpid) for _ in range(3)}
        (tmp_path / "done").touch()
        assert await busy not in others


async def test_who_gives_up_takes_no_place_from_others(tmp_path: Path) -> None:
    async with processes() as some:
        tasks = [asyncio.create_task(some.run(wait_for, tmp_path / "done")) for _ in range(5)]
        while not some._running:
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert some.pending == 0
        (tmp_path / "done").touch()
        assert await asyncio.gather(*[some.run(abs, -number) for number in range(5)]) == [0, 1, 2, 3, 4]


async def test_who_gives_up_leaves_the_others_their_answers_when_the_process_dies() -> None:
    async with processes() as some:
        assert await some.run(slow, 0.0) == 0.0
        first = asyncio.create_task(some.run(slow, 0.5))
        # More wait than the process is handed ahead of time.
        others = [asyncio.create_task(some.run(slow, 0.01 * number)) for number in range(1, 7)]
        await asyncio.sleep(0.1)
        for impatient in others[::2]:
            impatient.cancel()
        await asyncio.sleep(0)
        [running] = some._running
        os.kill(running.process.pid or 0, signal.SIGKILL)
        async with asyncio.timeout(30):
            assert await asyncio.gather(first, *others[1::2]) == [0.5, 0.02, 0.04, 0.06]
        assert some.pending == 0


async def test_after_the_end_nothing_is_begun(tmp_path: Path) -> None:
    async with processes() as some:
        under_way = asyncio.create_task(some.run(wait_for, tmp_path / "never"))
        while not some._running:
            await asyncio.sleep(0.01)
        some.stop()
        with pytest.raises(ProcessDied):
            await under_way
        with pytest.raises(ProcessDied):
            await some.run(abs, 1)
