"""Background loops survive errors and report them."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from redis.exceptions import ConnectionError  # noqa: A004
from structlog.testing import capture_logs

from bot.concurrency import background
from bot.concurrency.background import Loops
from bot.delivery import delivery
from bot.delivery.table_sync import TableSync
from bot.features.daily.days import Days
from bot.features.ratings.honours import Honours
from bot.finished.ratings import Ratings
from bot.running import run as running
from bot.settings import Settings
from bot.store import Store, keys
from bot.store.batch import BatchedScript
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, open_worker
from tests.kills.bot_process import free_port


async def test_unreadable_notifications_are_skipped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_worker(store, FakePlatform(), alone=False) as worker:
        forgotten = asyncio.Event()
        monkeypatch.setattr(worker.updates, "on_profile_changed", lambda _key: forgotten.set())
        while not await store.client.publish(keys.NOTIFICATIONS, "[]"):
            await asyncio.sleep(0.005)
        await worker.shards.balance()
        with capture_logs() as logs:
            unreadable = [
                {"new_kind_of_word": 1},
                7,
                {"code": "ABCD", "name": "c0", "change": [1, 2, 3, 4, 5, 6, 7]},
                {"code": "ABCD", "name": "c0", "change": ["", None, False, "paper:1", False]},
                {"forget": "person:paper:1", "by": "another"},
            ]
            for text in ("no JSON", "7", json.dumps(unreadable)):
                await store.client.publish(keys.NOTIFICATIONS, text)
            async with asyncio.timeout(5):
                await forgotten.wait()
            await worker.wait_until_idle()
        assert [entry["event"] for entry in logs].count("notification_failed") == 3
        assert [entry["event"] for entry in logs].count("notification_unreadable") == 2

        # The change that can be read names a missing table.
        assert [entry["event"] for entry in logs].count("table_vanished") == 1


async def test_failed_loop_restarts_and_worker_is_unhealthy(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "RESTART_SECONDS", 0.01)
    async with open_worker(store, FakePlatform()) as worker:
        runs, health_checked = 0, asyncio.Event()

        async def fail_twice() -> None:
            nonlocal runs
            runs += 1
            if runs == 2:
                await health_checked.wait()
            if runs < 3:
                raise ValueError("broken")
            await asyncio.Event().wait()

        assert (await worker.check_health())["healthy"]
        worker._tasks.append(worker._loops.start("leases", fail_twice))
        with capture_logs() as logs:
            async with asyncio.timeout(60):
                while not worker._loops.failing:
                    await asyncio.sleep(0)
                health = await worker.check_health()
                assert not health["healthy"]
                assert health["failing_loops"] == ["leases"]
                monkeypatch.setattr(background, "STEADY_SECONDS", 0.05)
                health_checked.set()
                while worker._loops.failing:
                    await asyncio.sleep(0.01)
        assert runs == 3
        assert [entry["event"] for entry in logs] == ["background_loop_failed"] * 2
        assert (await worker.check_health())["healthy"]


async def test_worker_is_healthy_while_ratings_catch_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    may_finish, tries = asyncio.Event(), 0

    async def catch_up(_ratings: Ratings) -> int:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ConnectionError("away")
        await may_finish.wait()
        return 0

    monkeypatch.setattr(Ratings, "catch_up", catch_up)
    worker = Worker(store, Settings(_env_file=None), alone=False)
    worker.add_adapter(FakePlatform())
    try:
        # Health can be checked before the worker starts.
        assert not (await worker.check_health())["healthy"]
        await worker.start()
        assert await store.leases.count_workers() == 1
        assert len(worker.shards.owned) == keys.SHARDS
        async with asyncio.timeout(20):
            while tries < 2:
                await asyncio.sleep(0.01)
            await store.outage.wait_until_over()
        assert (await worker.check_health())["healthy"]
        [ratings_task] = [task for task in worker._tasks if task.get_name() == "ratings"]
        may_finish.set()
        await ratings_task
        assert (await worker.check_health())["healthy"]
    finally:
        await worker.stop()


async def test_failing_daily_work_does_not_block_honours(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = asyncio.Event()

    async def fail(_days: Days) -> None:
        raise ValueError("broken")

    async def close_past(_honours: Honours, _now: object) -> None:
        closed.set()

    monkeypatch.setattr(Days, "close_past", fail)
    monkeypatch.setattr(Honours, "close_past_months", close_past)
    async with open_worker(store, FakePlatform()), asyncio.timeout(5):
        await closed.wait()


async def test_cancelled_loop_is_not_restarted() -> None:
    loops = Loops()
    task = loops.start("one", asyncio.Event().wait)  # type: ignore[arg-type]
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not loops.failing


async def test_stuck_table_does_not_keep_others_in_memory(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "TABLES_CACHED", 2)
    async with open_worker(store, FakePlatform()) as worker:
        tables = worker.delivery._tables
        for code in ("STUCK", "ONE", "TWO", "THREE"):
            tables[code] = TableSync(code)
        tables["STUCK"].touch()
        worker.delivery._evict()
        assert list(tables) == ["THREE", "STUCK"]
        tables["THREE"].touch()
        tables["FOUR"] = TableSync("FOUR")
        tables["FOUR"].touch()
        # All tables are busy, so none is evicted.
        worker.delivery._evict()
        assert set(tables) == {"THREE", "STUCK", "FOUR"}
        tables.clear()


async def test_answers_are_sent_during_shutdown(store: Store) -> None:
    sent = asyncio.Event()

    async def answer() -> None:
        await asyncio.sleep(0.05)
        sent.set()

    async with open_worker(store, FakePlatform()) as worker:
        worker.delivery.answers.send("paper:1", answer)
    assert sent.is_set()


async def test_signal_stops_a_starting_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = asyncio.Event()

    async def hang(_worker: Worker) -> None:
        started.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Worker, "start", hang)
    monkeypatch.setattr(running, "tune_garbage_collector", lambda: None)
    run_task = asyncio.create_task(running.run(Settings(data=tmp_path / "data", playground_port=free_port())))
    async with asyncio.timeout(20):
        await started.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        await run_task
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        asyncio.get_running_loop().remove_signal_handler(number)


async def test_failed_cluster_refresh_reaches_the_caller(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async def lose_connection(*_: object) -> list[Exception]:
        return [ConnectionError("away")]

    async def fail(*_: object) -> None:
        raise ValueError("not a store error")

    monkeypatch.setattr(BatchedScript, "_send_commands", lose_connection)
    monkeypatch.setattr(BatchedScript, "_finish_call", lambda *_: False)
    monkeypatch.setattr(BatchedScript, "_refresh_cluster", fail)
    with pytest.raises(ValueError, match="not a store error"):
        async with asyncio.timeout(5):
            await BatchedScript(store.client, "return 1")(["one"], [])
