"""Work that only the leader does."""

import asyncio
from functools import partial

import pytest
from redis.exceptions import ConnectionError  # noqa: A004
from structlog.testing import capture_logs

from bot.cluster.shards import Shards
from bot.concurrency import background
from bot.concurrency.background import Loops
from bot.store import Store


class Work:
    """Work that counts its runs. The first run raises ``error``."""

    def __init__(self, error: Exception | None = None) -> None:
        self.runs, self._error = 0, error

    async def run(self) -> None:
        self.runs += 1
        if self.runs == 1 and self._error:
            raise self._error

    async def wait_for_runs(self, times: int) -> None:
        """Wait until the work has started this many times."""
        async with asyncio.timeout(10):
            while self.runs < times:
                await asyncio.sleep(0)


async def start_leader(store: Store) -> Shards:
    shards = Shards(store, alone=False)
    await shards.balance()
    return shards


async def test_only_the_leader_runs_the_work(store: Store) -> None:
    first, second = await start_leader(store), Shards(store, alone=False)
    works = Work(), Work()
    loops = [
        asyncio.create_task(shards.while_leader(0, work.run))
        for shards, work in zip((first, second), works, strict=True)
    ]
    await works[0].wait_for_runs(3)
    assert works[1].runs == 0
    await first.stop()
    assert not first.is_leader
    await second.balance()
    before = works[0].runs
    await works[1].wait_for_runs(3)
    assert works[0].runs == before
    for loop in loops:
        loop.cancel()


async def test_new_leader_runs_the_work_at_once(store: Store) -> None:
    work = Work()
    loop = asyncio.create_task((await start_leader(store)).while_leader(3600, work.run))
    await work.wait_for_runs(1)
    loop.cancel()


async def test_work_continues_after_a_store_outage(store: Store) -> None:
    work = Work(ConnectionError("away"))
    with capture_logs() as logs:
        loop = asyncio.create_task((await start_leader(store)).while_leader(0, work.run))
        await work.wait_for_runs(3)
    assert [line["event"] for line in logs] == ["store_failed"]
    loop.cancel()


async def test_failed_run_is_logged_and_repeated(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "RESTART_SECONDS", 0)
    shards, work, loops = await start_leader(store), Work(ValueError("broken")), Loops()
    with capture_logs() as logs:
        loop = loops.start("some work", partial(shards.while_leader, 0, work.run))
        await work.wait_for_runs(3)
    assert [(line["event"], line["loop"]) for line in logs] == [("background_loop_failed", "some work")]
    assert loops.failing == {"some work"}
    loop.cancel()
