"""Who delivers which tables: shards are shared evenly, held for certain or not at all, and given back at once."""

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

from bot.cli.doctor import _examine_store
from bot.cluster import shards as shards_module
from bot.cluster.shards import ShardListener, Shards
from bot.settings import Settings
from bot.store import Store, StoreUnavailable, keys
from bot.store.attendance import LEASE_SECONDS, SET_BACK_SECONDS
from bot.store.committed import CommitNotification
from bot.worker import Worker

ALL = set(range(keys.SHARDS))
CODE = "ABCDEF"
OF_CODE = keys.shard_of(CODE)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not is_so():
            await asyncio.sleep(0)


class Told(ShardListener):
    """A worker's shards, what it was told about them, and its clock."""

    def __init__(self, store: Store, *, alone: bool = False) -> None:
        self.all_taken: list[int] = []
        self.all_lost: list[int] = []
        self.heard: list[Any] = []
        self.time = 100.0
        self.shards = Shards(store, alone=alone)
        self.shards.now = lambda: self.time
        self.shards.listeners.append(self)
        self.finish: Callable[[Collection[int]], Awaitable[None]] | None = None
        self.fault: Exception | None = None
        """What the next word meets."""

    def on_taken(self, shards: Collection[int]) -> None:
        self.all_taken.extend(shards)

    async def on_leaving(self, shards: Collection[int]) -> None:
        if self.finish:
            await self.finish(shards)

    def on_lost(self, shard: int) -> None:
        self.all_lost.append(shard)

    def on_commit(self, told: CommitNotification) -> None:
        self.heard.append(told)

    def on_notification(self, word: dict[str, Any]) -> None:
        fault, self.fault = self.fault, None
        if fault:
            raise fault
        self.heard.append(word)

    def on_profile_changed(self, key: str) -> None:
        self.heard.append(key)

    def on_lowest(self, place: str, code: str) -> None:
        self.heard.append((place, code))


# Sharing


async def test_workers_share_the_shards_evenly_and_none_has_two_owners(store: Store) -> None:
    first, second, third = Told(store), Told(store), Told(store)
    await first.shards.balance()
    assert (first.shards.worker_count, first.shards.owned, set(first.all_taken)) == (1, ALL, ALL)
    await second.shards.balance()
    assert (second.shards.worker_count, second.shards.owned) == (2, set()), "they are another's"
    await first.shards.balance()
    assert len(first.shards.owned) == 32
    assert set(first.all_lost) == ALL - first.shards.owned
    await second.shards.balance()
    assert second.shards.owned == ALL - first.shards.owned == set(second.all_taken)
    await third.shards.balance()
    for _ in range(2):
        for worker in (first, second, third):
            await worker.shards.balance()
    assert sorted(len(worker.shards.owned) for worker in (first, second, third)) == [20, 22, 22]
    assert set.union(*(worker.shards.owned for worker in (first, second, third))) == ALL
    # Nobody gives away what is theirs.
    lost = len(first.all_lost)
    await first.shards.balance()
    assert len(first.all_lost) == lost


async def test_what_is_to_be_finished_is_before_anybody_else_has_the_shards(store: Store) -> None:
    first, second = Told(store), Told(store)
    await first.shards.balance()
    left: list[int] = []

    async def finish(leaving: Collection[int]) -> None:
        left.extend(leaving)
        assert not first.shards.owned & set(leaving), "nothing more begins"
        await second.shards.balance()
        assert not second.shards.owned, "they are not given back yet"
        assert not first.all_lost

    first.finish = finish
    await second.shards.balance()
    await first.shards.balance()
    assert len(left) == 32
    assert set(first.all_lost) == set(left)
    await second.shards.balance()
    assert second.shards.owned == set(left)


async def test_a_worker_that_stops_gives_its_shards_back_at_once(store: Store) -> None:
    first, second = Told(store), Told(store)
    await first.shards.balance()
    await second.shards.balance()
    await first.shards.balance()
    await first.shards.stop()
    assert (first.shards.owned, set(first.all_lost)) == (set(), ALL)
    assert await store.attendance.count_workers() == 1
    await second.shards.balance()
    assert second.shards.owned == ALL


async def test_workers_that_were_alive_in_the_future_are_gone(store: Store) -> None:
    """The store's clock was an hour ahead then, and was set back."""
    await store.client.zadd(keys.WORKERS, {"killed": time.time() + 3600})
    assert await store.attendance.count_workers() == 0
    await Told(store).shards.balance()
    assert await store.attendance.count_workers() == 1


async def test_no_worker_joins_whose_days_end_elsewhere_than_the_others(store: Store) -> None:
    rome, paris = Shards(store, alone=False, zone="Europe/Rome"), Shards(store, alone=False, zone="Europe/Paris")
    # Of a version that told no zone, and of one that was killed long ago.
    await store.client.zadd(keys.WORKERS, {"older": time.time(), "killed America/Lima": time.time() - 100})
    await rome.join()
    with pytest.raises(StoreUnavailable, match="TIME_ZONE=Europe/Rome, and this one has Europe/Paris"):
        await paris.join()
    # Those that are right do not notice.
    again = Shards(store, alone=False, zone="Europe/Rome")
    await again.join()
    await rome.join()
    assert sorted(await store.attendance.worker_zones()) == ["", "Europe/Rome", "Europe/Rome"]
    # A folder is one bot's: another that was there was killed.
    await Shards(store, alone=True, zone="Europe/Paris").join()
    assert set(await store.attendance.worker_zones()) == {"", "Europe/Rome", "Europe/Paris"}


async def test_one_that_may_not_join_takes_no_shards_from_the_others(store: Store) -> None:
    rome, paris = Shards(store, alone=False, zone="Europe/Rome"), Shards(store, alone=False, zone="Europe/Paris")
    await rome.join()
    await rome.balance()
    with pytest.raises(StoreUnavailable):
        await paris.join()
    await rome.balance()
    assert rome.owned == ALL
    assert await store.attendance.worker_zones() == ["Europe/Rome"]


async def test_that_one_joined_whose_days_end_elsewhere_while_another_could_not_be_heard_is_said(store: Store) -> None:
    rome, paris = Shards(store, alone=False, zone="Europe/Rome"), Shards(store, alone=False, zone="Europe/Paris")
    await rome.join()
    await store.client.delete(keys.WORKERS)
    await paris.join()
    with capture_logs() as logs:
        for _ in range(3):
            await rome.balance()
    [line] = [one for one in logs if one["event"] == "time_zones_differ"]
    assert (line["here"], line["elsewhere"]) == ("Europe/Rome", ["Europe/Paris"])


async def test_of_two_that_start_at_once_and_whose_days_end_elsewhere_one_joins(store: Store) -> None:
    both = [Shards(store, alone=False, zone=zone) for zone in ("Europe/Rome", "Europe/Paris")]
    refused = await asyncio.gather(*(one.join() for one in both), return_exceptions=True)
    assert [type(one) for one in refused if one] == [StoreUnavailable]
    assert len(await store.attendance.worker_zones()) == 1


async def test_one_whose_days_end_elsewhere_joins_once_the_others_are_gone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert await store.attendance.worker_zones() == ["Europe/Paris"]


async def test_a_worker_whose_days_end_elsewhere_does_not_start_while_others_are_alive(
    store: Store, tmp_path: Path
) -> None:
    def worker(zone: str) -> Worker:
        return Worker(store, Settings(_env_file=None, data=tmp_path, time_zone=zone), alone=False)

    first, other, again = worker("Europe/Rome"), worker("Asia/Tokyo"), worker("Asia/Tokyo")
    try:
        await first.start()
        with pytest.raises(StoreUnavailable, match="stop all of them"):
            await other.start()
        assert not other.shards.owned
        settings = Settings(_env_file=None, data=tmp_path, time_zone="Asia/Tokyo", REDIS_URL="redis://127.0.0.1:1/0")
        said = [line async for well, line in _examine_store(store, settings) if not well]
        assert [line for line in said if "BUONGIOCO_TIME_ZONE is Europe/Rome, and here it is Asia/Tokyo" in line]
        await first.stop()
        await again.start()
        assert len(again.shards.owned) == keys.SHARDS
    finally:
        for one in (first, other, again):
            await one.stop()


async def test_the_stores_time_is_known_without_asking_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = time.time() + 86400
    monkeypatch.setattr(time, "time", lambda: wrong)
    worker = Told(store)
    assert store.attendance.estimated_time() == wrong
    await worker.shards.balance()
    assert abs(store.attendance.estimated_time() - await store.attendance.current_time()) < 60
    # It is learned anew each time, for the store's clock may be set.
    assert store.attendance._offset
    store.attendance._offset += 2 * SET_BACK_SECONDS
    assert store.attendance.estimated_time() > await store.attendance.current_time() + SET_BACK_SECONDS
    await worker.shards.balance()
    assert abs(store.attendance.estimated_time() - await store.attendance.current_time()) < 60


async def test_no_day_begins_twice_for_a_worker_that_hears_the_store_late(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker, attendance = Told(store), store.attendance
    await worker.shards.balance()
    midnight = attendance.estimated_time()
    present = attendance._report_alive

    async def heard_late(**what: Any) -> Any:
        now, *found = await present(**what)
        return (float(now) - late, *found)

    monkeypatch.setattr(attendance, "_report_alive", heard_late)
    late = 60.0
    await worker.shards.balance()
    assert attendance.estimated_time() == midnight
    # Soon it goes on, and a clock that was set back is heeded.
    late = -1.0
    await worker.shards.balance()
    assert attendance.estimated_time() > midnight
    late = 2 * SET_BACK_SECONDS
    await worker.shards.balance()
    assert attendance.estimated_time() < midnight - SET_BACK_SECONDS


async def test_a_worker_alone_takes_what_one_that_was_killed_still_holds(store: Store) -> None:
    killed, alone = Told(store), Told(store, alone=True)
    await killed.shards.balance()
    await alone.shards.balance()
    assert (alone.shards.worker_count, alone.shards.owned) == (1, ALL)


async def test_leases_are_renewed_again_and_again(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards_module, "RENEW_SECONDS", 0.001)
    worker = Told(store)
    await worker.shards.balance()
    worker.time += LEASE_SECONDS
    keeping = asyncio.create_task(worker.shards.renew_leases())
    await until(lambda: worker.shards.surely_owns(CODE))
    worker.time += LEASE_SECONDS
    await until(lambda: worker.shards.surely_owns(CODE))
    keeping.cancel()


# For certain


async def test_a_lease_holds_for_its_time_and_whoever_needs_it_waits_until_it_is_renewed(store: Store) -> None:
    worker = Told(store)
    assert not worker.shards.surely_owns(CODE)
    await worker.shards.balance()
    assert not await worker.shards.wait_until_held(CODE)
    worker.time += LEASE_SECONDS - 0.5
    assert worker.shards.surely_owns(CODE)
    worker.time += 0.5
    assert worker.shards.owns(CODE)
    assert not worker.shards.surely_owns(CODE)
    waiting = asyncio.create_task(worker.shards.wait_until_held(CODE))
    await asyncio.sleep(0)
    assert not waiting.done()
    await worker.shards.balance()
    async with asyncio.timeout(10):
        assert await waiting


async def test_a_worker_alone_holds_its_shards_however_long_it_hung(store: Store) -> None:
    worker = Told(store, alone=True)
    await worker.shards.balance()
    worker.time += 3600.0
    assert worker.shards.surely_owns(CODE)


async def test_what_another_has_taken_meanwhile_is_lost_and_nothing_else(store: Store) -> None:
    hung, other = Told(store), Told(store)
    await hung.shards.balance()
    await store.client.delete(keys.attended(OF_CODE))
    assert await store.attendance.hold_shard(other.shards.worker_id, OF_CODE, "take")
    assert hung.shards.owns(CODE), "it has not heard"
    await hung.shards.balance()
    assert not hung.shards.owns(CODE)
    assert hung.all_lost == [OF_CODE]
    assert hung.shards.owned == ALL - {OF_CODE}


# Word between workers


@asynccontextmanager
async def listening(*workers: Told) -> AsyncIterator[None]:
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


async def test_word_about_a_table_reaches_its_owner_alone(store: Store) -> None:
    owner, other = Told(store), Told(store)
    await owner.shards.balance()
    async with listening(owner, other):
        await other.shards.notify({"code": CODE, "what": "a press"})
        await other.shards.notify({"forget": "a key", "by": "somebody"})
        await until(lambda: bool(other.heard))
        await until(lambda: len(owner.heard) == 2)
    assert owner.heard == [{"code": CODE, "what": "a press"}, "a key"]
    assert other.heard == ["a key"]


async def test_what_is_to_be_forgotten_and_which_hand_is_lowest_is_heard_by_all_but_who_said_so(store: Store) -> None:
    first, second = Told(store), Told(store)
    me = first.shards.worker_id
    async with listening(first, second):
        await first.shards.notify({"forget": "a key", "by": me})
        await first.shards.notify({"lowest": "paper:@1", "code": CODE, "by": me})
        await first.shards.notify({"forget": "the last", "by": "somebody"})
        await until(lambda: "the last" in first.heard and "the last" in second.heard)
    assert first.heard == ["the last"]
    assert second.heard == ["a key", ("paper:@1", CODE), "the last"]


async def test_words_that_come_while_one_goes_out_go_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, sent, gate = Told(store), list[Any](), asyncio.Event()

    async def publish(_channel: str, words: str) -> None:
        sent.append(json.loads(words))
        await gate.wait()

    monkeypatch.setattr(store.client, "publish", publish)
    words = [{"code": CODE, "number": number} for number in range(3)]
    telling = [asyncio.create_task(worker.shards.notify(word)) for word in words]
    await until(lambda: len(sent) == 1)
    late = {"code": CODE, "number": 3}
    telling.append(asyncio.create_task(worker.shards.notify(late)))
    await asyncio.sleep(0)
    gate.set()
    async with asyncio.timeout(10):
        await asyncio.gather(*telling)
        await worker.shards.notify(late)
    assert [word for batch in sent for word in batch] == [*words, late, late]
    assert len(sent) == 3


async def test_word_that_nobody_understands_keeps_nobody_from_hearing_the_next(store: Store) -> None:
    worker = Told(store)
    await worker.shards.balance()
    word = {"code": CODE}
    worker.fault = KeyError("another version's")
    async with listening(worker):
        with capture_logs() as logs:
            for text in ("[", "5", json.dumps([word, 7, {}, word])):
                await store.client.publish(keys.NOTIFICATIONS, text)
            await store.client.publish(keys.worker_channel(worker.shards.worker_id), "nonsense")
            await store.client.publish(keys.NOTIFICATIONS, json.dumps([word]))
            await until(lambda: len(worker.heard) == 2)
    assert worker.heard == [word, word]
    events = [line["event"] for line in logs if line["log_level"] in ("warning", "error")]
    assert events == [
        *["notification_unreadable"] * 2,
        *["notification_failed"] * 3,
        "commit_notification_failed",
    ]


async def test_a_commit_is_heard_for_as_long_as_the_table_is_ones_own(store: Store) -> None:
    worker = Told(store)
    channel = keys.worker_channel(worker.shards.worker_id)
    async with listening(worker):
        await store.client.publish(channel, f'["{CODE}", 1, null, null]\nbefore\nafter')
        await store.client.publish(keys.NOTIFICATIONS, json.dumps([{"forget": "a key", "by": "somebody"}]))
        await until(lambda: len(worker.heard) == 1)
        await worker.shards.balance()
        await store.client.publish(channel, f'["{CODE}", 1, null, null]\nbefore\nafter')
        await until(lambda: len(worker.heard) == 2)
    assert worker.heard == ["a key", CommitNotification(CODE, 1, None, None, b"before", [b"after"])]


async def test_a_store_that_is_away_as_word_is_heard_costs_that_word_and_no_error(store: Store) -> None:
    worker = Told(store)
    await worker.shards.balance()
    word = {"code": CODE}
    worker.fault = ConnectionError("away")
    with capture_logs() as logs:
        async with listening(worker):
            await worker.shards.notify(word)
            await worker.shards.notify(word)
            await until(lambda: bool(worker.heard))
    assert "notification_failed" not in [line["event"] for line in logs]
    assert worker.heard == [word]
