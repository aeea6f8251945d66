"""Failing adapters are restarted and reported without stopping the others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prometheus_client import REGISTRY
from redis.exceptions import ConnectionError as StoreAway
from structlog.testing import capture_logs

from bot.platform import PlatformFailure
from bot.running import supervisor
from bot.running.supervisor import NothingToRun, Supervisor
from bot.settings import BadSetting
from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, open_worker


class FlakyPlatform(FakePlatform):
    """A platform that raises the given errors when it is started and served, and works afterwards."""

    healthy = False

    def __init__(
        self, platform: str, *serve_errors: Exception | None, start_errors: tuple[Exception, ...] = ()
    ) -> None:
        super().__init__()
        self.platform, self.serve_errors, self.start_errors = platform, list(serve_errors), list(start_errors)
        self.started = self.served = 0

    async def start(self) -> None:
        self.started += 1
        if self.start_errors:
            raise self.start_errors.pop(0)

    async def serve(self) -> None:
        self.served += 1
        if self.serve_errors:
            error = self.serve_errors.pop(0)
            if error:
                raise error
            return
        self.healthy = True
        try:
            await asyncio.Event().wait()
        finally:
            self.healthy = False


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(supervisor, "MAX_RETRY_SECONDS", 0.04)
    monkeypatch.setattr(supervisor, "REFUSED_SECONDS", 0.02)


@asynccontextmanager
async def supervise(store: Store, *adapters: FlakyPlatform) -> AsyncIterator[tuple[Worker, asyncio.Task[None]]]:
    async with open_worker(store, FakePlatform()) as worker:
        worker.adapters.clear()
        for adapter in adapters:
            worker.add_adapter(adapter)
        task = asyncio.create_task(Supervisor(worker).run())
        try:
            yield worker, task
        finally:
            task.cancel()
            await asyncio.wait([task])


async def wait_until_up(*adapters: FlakyPlatform) -> None:
    async with asyncio.timeout(10):
        while not all(adapter.healthy for adapter in adapters):
            await asyncio.sleep(0.005)


async def test_failed_platform_restarts_while_others_run(store: Store) -> None:
    good = FlakyPlatform("good")
    bad = FlakyPlatform("bad", PlatformFailure("no answer"), KeyError("id"), None, OSError(), StoreAway())
    with capture_logs() as logs:
        async with supervise(store, good, bad) as (worker, task):
            await wait_until_up(good, bad)
            assert (good.served, bad.served, bad.started) == (1, 6, 1)
            assert not task.done()
            assert (await worker.check_health())["adapters"] == {"good": "up", "bad": "up"}
    events = [(line["event"], line["platform"], "exc_info" in line) for line in logs if "platform" in line]
    # An outage is logged once, with a line for each new cause. An internal error has its traceback.
    assert [event for event in events if event[0] != "platform_still_away"] == [
        ("platform_away", "bad", False),
        ("platform_failed", "bad", True),
    ]
    causes = [line["why"] for line in logs if line["event"] in ("platform_away", "platform_still_away")]
    assert len(causes) == len(set(causes)) > 1


async def test_failed_start_is_retried(store: Store) -> None:
    adapter = FlakyPlatform("late", start_errors=(StoreAway(), ValueError()))
    async with supervise(store, adapter):
        await wait_until_up(adapter)
        assert (adapter.started, adapter.served) == (3, 1)


async def test_pauses_grow_and_reset_after_a_steady_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 1.0)
    monkeypatch.setattr(supervisor, "MAX_RETRY_SECONDS", 8.0)
    pauses: list[float] = []
    original_sleep = asyncio.sleep

    async def record_pause(seconds: float) -> None:
        task = asyncio.current_task()
        if task and task.get_name() == "fickle":
            pauses.append(seconds)
            if len(pauses) == 6:
                monkeypatch.setattr(supervisor, "STEADY_SECONDS", -1.0)
            seconds = 0
        await original_sleep(seconds)

    adapter = FlakyPlatform("fickle", *[PlatformFailure("away")] * 8)
    with monkeypatch.context() as patch:
        patch.setattr(asyncio, "sleep", record_pause)
        async with supervise(store, adapter):
            while not adapter.healthy:
                await original_sleep(0)
    for pause, expected in zip(pauses, (1, 2, 4, 8, 8, 8, 1, 1), strict=True):
        assert 0.8 * expected <= pause <= 1.2 * expected
    assert len({round(pause / expected, 6) for pause, expected in zip(pauses[3:6], (8, 8, 8), strict=True)}) > 1


async def test_refused_platform_is_logged_once_and_retried(store: Store) -> None:
    bad_setting = BadSetting("BUONGIOCO_X_TOKEN is no token: copy it again.", "token refused")
    good, bad = FlakyPlatform("good"), FlakyPlatform("bad", *[bad_setting] * 10_000)
    with capture_logs() as logs:
        async with supervise(store, good, bad) as (worker, task):
            while bad.served < 3:
                await asyncio.sleep(0)
            health = await worker.check_health()
            assert health["adapters"] == {"good": "up", "bad": "down: token refused"}
            # One platform is enough. A restart would stop the games on it and repair nothing.
            assert health["healthy"]
            bad.serve_errors.clear()
            await wait_until_up(bad)
            assert not task.done()
    assert [line["event"] for line in logs if "platform" in line] == ["platform_refused"]


async def test_no_usable_platform_ends_the_bot(store: Store) -> None:
    first = FlakyPlatform("one", PlatformFailure("away"), BadSetting("The token is none."))
    second = FlakyPlatform("other", BadSetting("The port is taken."))
    async with supervise(store, first, second) as (_worker, task):
        with pytest.raises(NothingToRun, match=r"The port is taken\. The token is none\."):
            await asyncio.wait_for(task, 10)


async def test_health_and_metrics_name_the_platform(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_RETRY_SECONDS", 60.0)
    away, good = FlakyPlatform("away", PlatformFailure("no answer")), FlakyPlatform("good")

    def is_up(platform: str) -> float | None:
        return REGISTRY.get_sample_value("buongioco_platform_up", {"platform": platform})

    async with supervise(store, away) as (worker, _task):
        while not worker.errors:
            await asyncio.sleep(0)
        health = await worker.check_health()
        assert (health["healthy"], health["store"]) == (False, True)
        assert health["adapters"] == {"away": "down: no answer"}
        await worker.update_metrics()
        assert is_up("away") == 0
    async with supervise(store, good) as (worker, _task):
        await wait_until_up(good)
        assert (await worker.check_health())["healthy"]
        await worker.update_metrics()
        assert is_up("good") == 1
