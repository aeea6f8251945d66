"""Log lines after a worker was frozen or killed."""

import asyncio
import time

import pytest
from structlog.testing import capture_logs

from bot import worker
from bot.metrics import STALLED
from bot.store import Store, keys
from bot.store.leases import LEASE_SECONDS, Leases
from bot.worker import watch_for_stalls


async def test_stalled_process_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(worker, "STALL_SECONDS", 0.3)
    before = STALLED._value.get()
    with capture_logs() as logs:
        watching = asyncio.create_task(watch_for_stalls())
        await asyncio.sleep(0.02)
        time.sleep(1)
        async with asyncio.timeout(60):
            while not logs:
                await asyncio.sleep(0.01)
        watching.cancel()
    assert logs[0]["event"] == "stalled"
    assert logs[0]["log_level"] == "warning"
    assert logs[0]["seconds"] >= 0.6
    assert STALLED._value.get() - before >= 0.6


async def age_workers(store: Store, seconds: float) -> None:
    """Move the last report of each worker into the past."""
    for member, reported_at in await store.client.zrange(keys.WORKERS, 0, -1, withscores=True):
        await store.client.zadd(keys.WORKERS, {member: reported_at - seconds})


async def test_killed_worker_is_logged_once_by_the_next(store: Store) -> None:
    await Leases(store.client).report_alive("killed", "Europe/Rome")
    await age_workers(store, 100)
    with capture_logs() as logs:
        for _ in range(2):
            await Leases(store.client).report_alive("next", "Europe/Rome", joins=True)
    assert [line["event"] for line in logs] == ["worker_vanished"]
    assert 100 <= logs[0]["last_heard_seconds_ago"] < 10_000


async def test_stopped_or_late_worker_is_not_logged(store: Store) -> None:
    leases = Leases(store.client)
    with capture_logs() as logs:
        await leases.report_alive("stopped", "Europe/Rome")
        await leases.remove_worker("stopped", "Europe/Rome")
        await leases.report_alive("late", "Europe/Rome")
        await age_workers(store, 2 * LEASE_SECONDS)
        await leases.report_alive("late", "Europe/Rome")
    assert logs == []
