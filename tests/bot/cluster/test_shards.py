"""Sharing, leases and notifications of shards."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import ConnectionError  # noqa: A004
from structlog.testing import capture_logs

from bot.cli.doctor import _examine_open_store
from bot.cluster import shards as shards_module
from bot.cluster.shards import ShardListener, Shards
from bot.settings import Settings
from bot.store import Store, StoreUnavailable, keys
from bot.store.commit_notification import CommitNotification
from bot.store.leases import LEASE_SECONDS, SET_BACK_SECONDS
from bot.worker import Worker

ALL_SHARDS = set(range(keys.SHARDS))
CODE = "ABCDEF"
SHARD = keys.shard_of(CODE)


async def wait_until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0)


class RecordingWorker(ShardListener):
    """A worker that records shard changes and notifications, with its own clock."""

    def __init__(self, store: Store, *, alone: bool = False) -> None:
        self.all_taken: list[int] = []
        self.all_lost: list[int] = []
        self.received: list[Any] = []
        self.time = 100.0
        self.shards = Shards(store, alone=alone)
        self.shards.now = lambda: self.time
        self.shards.listeners.append(self)
        self.finish: Callable[[Collection[int]], Awaitable[None]] | None = None
        self.fault: Exception | None = None
        """Error raised by the next notification."""

    def on_taken(self, shards: Collection[int]) -> None:
        self.all_taken.extend(shards)

    async def on_leaving(self, shards: Collection[int]) -> None:
        if self.finish:
            await self.finish(shards)

    def on_lost(self, shard: int) -> None:
        self.all_lost.append(shard)

    def on_commit(self, commit: CommitNotification) -> None:
        self.received.append(commit)

    def on_notification(self, notification: dict[str, Any]) -> None:
        fault, self.fault = self.fault, None
        if fault:
            raise fault
        self.received.append(notification)

    def on_profile_changed(self, key: str) -> None:
        self.received.append(key)

    def on_lowest(self, place: str, code: str) -> None:
        self.received.append((place, code))


# Sharing


async def test_workers_share_shards_evenly(store: Store) -> None:
    first, second, third = RecordingWorker(store), RecordingWorker(store), RecordingWorker(store)
    await first.shards.balance()
    assert (first.shards.worker_count, first.shards.owned, set(first.all_taken)) == (1, ALL_SHARDS, ALL_SHARDS)
    await second.shards.balance()
    assert (second.shards.worker_count, second.shards.owned) == (2, set()), "the first worker has all shards"
    await first.shards.balance()
    assert len(first.shards.owned) == 32
    assert set(first.all_lost) == ALL_SHARDS - first.shards.owned
    await second.shards.balance()
    assert second.shards.owned == ALL_SHARDS - first.shards.owned == set(second.all_taken)
    await third.shards.balance()
    for _ in range(2):
        for worker in (first, second, third):
            await worker.shards.balance()
    assert sorted(len(worker.shards.owned) for worker in (first, second, third)) == [20, 22, 22]
    assert set.union(*(worker.shards.owned for worker in (first, second, third))) == ALL_SHARDS
    # A worker keeps its fair share.
    lost_count = len(first.all_lost)
    await first.shards.balance()
    assert len(first.all_lost) == lost_count


async def test_leaving_shards_are_finished_before_release(store: Store) -> None:
    first, second = RecordingWorker(store), RecordingWorker(store)
    await first.shards.balance()
    finished: list[int] = []

    async def finish(leaving: Collection[int]) -> None:
        finished.extend(leaving)
        assert not first.shards.owned & set(leaving), "no new work may start in leaving shards"
        await second.shards.balance()
        assert not second.shards.owned, "leaving shards were released before their work finished"
        assert not first.all_lost

    first.finish = finish
    await second.shards.balance()
    await first.shards.balance()
    assert len(finished) == 32
    assert set(first.all_lost) == set(finished)
    await second.shards.balance()
    assert second.shards.owned == set(finished)


async def test_stopping_worker_releases_its_shards(store: Store) -> None:
    first, second = RecordingWorker(store), RecordingWorker(store)
    await first.shards.balance()
    await second.shards.balance()
    await first.shards.balance()
    await first.shards.stop()
    assert (first.shards.owned, set(first.all_lost)) == (set(), ALL_SHARDS)
    assert await store.leases.count_workers() == 1
    await second.shards.balance()
    assert second.shards.owned == ALL_SHARDS


async def test_workers_seen_in_the_future_do_not_count(store: Store) -> None:
    """A worker reported while the store's clock was an hour ahead."""
    await store.client.zadd(keys.WORKERS, {"killed": time.time() + 3600})
    assert await store.leases.count_workers() == 0
    await RecordingWorker(store).shards.balance()
    assert await store.leases.count_workers() == 1


async def test_worker_with_another_time_zone_cannot_join(store: Store) -> None:
    rome, paris = Shards(store, alone=False, zone="Europe/Rome"), Shards(store, alone=False, zone="Europe/Paris")
    # One worker reports no zone, as in older versions. The other was killed long ago.
    await store.client.zadd(keys.WORKERS, {"older": time.time(), "killed America/Lima": time.time() - 100})
    await rome.join()
    with pytest.raises(StoreUnavailable, match="TIME_ZONE=Europe/Rome, and this one has Europe/Paris"):
        await paris.join()
    # Workers with the right zone are not affected.
    another = Shards(store, alone=False, zone="Europe/Rome")
    await another.join()
    await rome.join()
    assert sorted(await store.leases.worker_zones()) == ["", "Europe/Rome", "Europe/Rome"]
    # A folder belongs to one bot, so an earlier worker must be dead.
    await Shards(store, alone=True, zone="Europe/Paris").join()
    assert set(await store.leases.worker_zones()) == {"", "Europe/Rome", "Europe/Paris"}


async def test_refused_worker_takes_no_shards(store: Store) -> None:
    rome, paris = Shards(store, alone=False, zone="Europe/Rome"), Shards(store, alone=False, zone="Europe/Paris")
    await rome.join()
    await rome.balance()
    with pytest.raises(StoreUnavailable):
        await paris.join()
    await rome.balance()
    assert rome.owned == ALL_SHARDS
    assert await store.leases.worker_zones() == ["Europe/Rome"]


async def test_differing_time_zones_are_logged_once(store: Store) -> None:
    rome, paris = Shards(store, alone=False, zone="Europe/Rome"), Shards(store, alone=False, zone="Europe/Paris")
    await rome.join()
    await store.client.delete(keys.WORKERS)
    await paris.join()
    with capture_logs() as logs:
        for _ in range(3):
            await rome.balance()
    [line] = [event for event in logs if event["event"] == "time_zones_differ"]
    assert (line["here"], line["elsewhere"]) == ("Europe/Rome", ["Europe/Paris"])


async def test_only_one_of_two_workers_with_differing_zones_joins(store: Store) -> None:
    workers = [Shards(store, alone=False, zone=zone) for zone in ("Europe/Rome", "Europe/Paris")]
    errors = await asyncio.gather(*(worker.join() for worker in workers), return_exceptions=True)
    assert [type(error) for error in errors if error] == [StoreUnavailable]
    assert len(await store.leases.worker_zones()) == 1


async def test_worker_joins_after_workers_of_other_zones_stop(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rome, paris = Shards(store, alone=False, zone="Europe/Rome"), Shards(store, alone=False, zone="Europe/Paris")
    await rome.join()
    monkeypatch.setattr(shards_module, "CHECK_SECONDS", 0.001)
    with capture_logs() as logs:
        joining = asyncio.create_task(paris.join(3600.0))
        async with asyncio.timeout(10):
            while not logs:
                await asyncio.sleep(0)
            await rome.stop()
            await joining
    assert [line["event"] for line in logs] == ["waiting_for_workers"]
    assert await store.leases.worker_zones() == ["Europe/Paris"]


async def test_worker_start_fails_with_another_time_zone(store: Store, tmp_path: Path) -> None:
    def make_worker(zone: str) -> Worker:
        return Worker(store, Settings(_env_file=None, data=tmp_path, time_zone=zone), alone=False)

    first, other, restarted = make_worker("Europe/Rome"), make_worker("Asia/Tokyo"), make_worker("Asia/Tokyo")
    try:
        await first.start()
        with pytest.raises(StoreUnavailable, match="stop all of them"):
            await other.start()
        assert not other.shards.owned
        settings = Settings(_env_file=None, data=tmp_path, time_zone="Asia/Tokyo", REDIS_URL="redis://127.0.0.1:1/0")
        problems = [line async for is_well, line in _examine_open_store(store, settings) if not is_well]
        assert [line for line in problems if "BUONGIOCO_TIME_ZONE=Europe/Rome, here it is Asia/Tokyo" in line]
        await first.stop()
        await restarted.start()
        assert len(restarted.shards.owned) == keys.SHARDS
    finally:
        for worker in (first, other, restarted):
            await worker.stop()


async def test_store_time_is_estimated_without_requests(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_time = time.time() + 86400
    monkeypatch.setattr(time, "time", lambda: wrong_time)
    worker = RecordingWorker(store)
    assert store.leases.estimated_time() == wrong_time
    await worker.shards.balance()
    assert abs(store.leases.estimated_time() - await store.leases.current_time()) < 60
    # Each balance measures the offset again, because the store's clock can change.
    assert store.leases._offset
    store.leases._offset += 2 * SET_BACK_SECONDS
    assert store.leases.estimated_time() > await store.leases.current_time() + SET_BACK_SECONDS
    await worker.shards.balance()
    assert abs(store.leases.estimated_time() - await store.leases.current_time()) < 60


async def test_estimated_time_ignores_late_answers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, leases = RecordingWorker(store), store.leases
    await worker.shards.balance()
    before = leases.estimated_time()
    report_alive = leases._report_alive

    async def report_late(**arguments: Any) -> Any:
        seconds, *values = await report_alive(**arguments)
        return (float(seconds) - delay, *values)

    monkeypatch.setattr(leases, "_report_alive", report_late)
    delay = 60.0
    await worker.shards.balance()
    assert leases.estimated_time() == before
    # A prompt answer moves the estimate on, and a large step back is accepted.
    delay = -1.0
    await worker.shards.balance()
    assert leases.estimated_time() > before
    delay = 2 * SET_BACK_SECONDS
    await worker.shards.balance()
    assert leases.estimated_time() < before - SET_BACK_SECONDS


async def test_single_worker_takes_shards_of_a_killed_one(store: Store) -> None:
    killed, single_worker = RecordingWorker(store), RecordingWorker(store, alone=True)
    await killed.shards.balance()
    await single_worker.shards.balance()
    assert (single_worker.shards.worker_count, single_worker.shards.owned) == (1, ALL_SHARDS)


async def test_leases_are_renewed_repeatedly(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "RENEW_SECONDS", 0.001)
    worker = RecordingWorker(store)
    await worker.shards.balance()
    worker.time += LEASE_SECONDS
    keeping = asyncio.create_task(worker.shards.renew_leases())
    await wait_until(lambda: worker.shards.surely_owns(CODE))
    worker.time += LEASE_SECONDS
    await wait_until(lambda: worker.shards.surely_owns(CODE))
    keeping.cancel()


# Expired leases


async def test_worker_with_an_expired_lease_waits_for_its_renewal(store: Store) -> None:
    worker = RecordingWorker(store)
    assert not worker.shards.surely_owns(CODE)
    await worker.shards.balance()
    assert not await worker.shards.wait_until_held(CODE)
    worker.time += LEASE_SECONDS - 0.5
    assert worker.shards.surely_owns(CODE)
    worker.time += 0.5
    assert worker.shards.owns(CODE)
    assert not worker.shards.surely_owns(CODE)
    wait = asyncio.create_task(worker.shards.wait_until_held(CODE))
    await asyncio.sleep(0)
    assert not wait.done()
    await worker.shards.balance()
    async with asyncio.timeout(10):
        assert await wait


async def test_single_worker_keeps_shards_after_hanging(store: Store) -> None:
    worker = RecordingWorker(store, alone=True)
    await worker.shards.balance()
    worker.time += 3600.0
    assert worker.shards.surely_owns(CODE)


async def test_only_shards_taken_by_others_are_lost(store: Store) -> None:
    hung, other = RecordingWorker(store), RecordingWorker(store)
    await hung.shards.balance()
    await store.client.delete(keys.attended(SHARD))
    assert await store.leases.hold_shard(other.shards.worker_id, SHARD, "take")
    assert hung.shards.owns(CODE), "the worker must learn of the loss only when it balances"
    await hung.shards.balance()
    assert not hung.shards.owns(CODE)
    assert hung.all_lost == [SHARD]
    assert hung.shards.owned == ALL_SHARDS - {SHARD}


# Notifications between workers


@asynccontextmanager
async def listen(*workers: RecordingWorker) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(worker.shards.listen()) for worker in workers]
    client = workers[0].shards.store.client
    async with asyncio.timeout(10):
        while (await client.pubsub_numsub(keys.NOTIFICATIONS))[0][1] < len(workers):
            await asyncio.sleep(0)
        for worker in workers:
            while not (await client.pubsub_numsub(keys.worker_channel(worker.shards.worker_id)))[0][1]:
                await asyncio.sleep(0)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def test_table_notification_reaches_only_its_owner(store: Store) -> None:
    owner, other = RecordingWorker(store), RecordingWorker(store)
    await owner.shards.balance()
    async with listen(owner, other):
        await other.shards.notify({"code": CODE, "what": "a press"})
        await other.shards.notify({"forget": "a key", "by": "somebody"})
        await wait_until(lambda: bool(other.received))
        await wait_until(lambda: len(owner.received) == 2)
    assert owner.received == [{"code": CODE, "what": "a press"}, "a key"]
    assert other.received == ["a key"]


async def test_broadcasts_reach_all_workers_but_the_sender(store: Store) -> None:
    first, second = RecordingWorker(store), RecordingWorker(store)
    sender = first.shards.worker_id
    async with listen(first, second):
        await first.shards.notify({"forget": "a key", "by": sender})
        await first.shards.notify({"lowest": "paper:@1", "code": CODE, "by": sender})
        await first.shards.notify({"forget": "the last", "by": "somebody"})
        await wait_until(lambda: "the last" in first.received and "the last" in second.received)
    assert first.received == ["the last"]
    assert second.received == ["a key", ("paper:@1", CODE), "the last"]


async def test_notifications_are_batched_while_sending(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, sent, gate = RecordingWorker(store), list[Any](), asyncio.Event()

    async def publish(_channel: str, text: str) -> None:
        sent.append(json.loads(text))
        await gate.wait()

    monkeypatch.setattr(store.client, "publish", publish)
    notifications = [{"code": CODE, "number": number} for number in range(3)]
    tasks = [asyncio.create_task(worker.shards.notify(notification)) for notification in notifications]
    await wait_until(lambda: len(sent) == 1)
    last_notification = {"code": CODE, "number": 3}
    tasks.append(asyncio.create_task(worker.shards.notify(last_notification)))
    await asyncio.sleep(0)
    gate.set()
    async with asyncio.timeout(10):
        await asyncio.gather(*tasks)
        await worker.shards.notify(last_notification)
    assert [notification for batch in sent for notification in batch] == [
        *notifications,
        last_notification,
        last_notification,
    ]
    assert len(sent) == 3


async def test_unreadable_notification_does_not_stop_listening(store: Store) -> None:
    worker = RecordingWorker(store)
    await worker.shards.balance()
    notification = {"code": CODE}
    worker.fault = KeyError("unknown field")
    async with listen(worker):
        with capture_logs() as logs:
            for text in ("[", "5", json.dumps([notification, 7, {}, notification])):
                await store.client.publish(keys.NOTIFICATIONS, text)
            await store.client.publish(keys.worker_channel(worker.shards.worker_id), "nonsense")
            await store.client.publish(keys.NOTIFICATIONS, json.dumps([notification]))
            await wait_until(lambda: len(worker.received) == 2)
    assert worker.received == [notification, notification]
    events = [line["event"] for line in logs if line["log_level"] in ("warning", "error")]
    assert events == [
        *["notification_unreadable"] * 2,
        *["notification_failed"] * 3,
        "commit_notification_failed",
    ]


async def test_commits_of_other_owners_are_ignored(store: Store) -> None:
    worker = RecordingWorker(store)
    channel = keys.worker_channel(worker.shards.worker_id)
    async with listen(worker):
        await store.client.publish(channel, f'["{CODE}", 1, null, null]\nbefore\nafter')
        await store.client.publish(keys.NOTIFICATIONS, json.dumps([{"forget": "a key", "by": "somebody"}]))
        await wait_until(lambda: len(worker.received) == 1)
        await worker.shards.balance()
        await store.client.publish(channel, f'["{CODE}", 1, null, null]\nbefore\nafter')
        await wait_until(lambda: len(worker.received) == 2)
    assert worker.received == ["a key", CommitNotification(CODE, 1, None, None, b"before", [b"after"])]


async def test_store_outage_drops_one_notification(store: Store) -> None:
    worker = RecordingWorker(store)
    await worker.shards.balance()
    notification = {"code": CODE}
    worker.fault = ConnectionError("away")
    with capture_logs() as logs:
        async with listen(worker):
            await worker.shards.notify(notification)
            await worker.shards.notify(notification)
            await wait_until(lambda: bool(worker.received))
    assert "notification_failed" not in [line["event"] for line in logs]
    assert worker.received == [notification]
