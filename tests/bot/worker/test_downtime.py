"""Clocks use only the store's playing time, without downtime. A hung worker leaves tables alone that it has lost."""

import asyncio
import time
from random import Random

import pytest

from bot.alarms import SOON_SECONDS, Alarms
from bot.handlers import Dispatcher
from bot.store import EmbeddedStore, Store, keys, layout_version, open_store
from bot.store.leases import CLOCK, LEASE_SECONDS
from bot.store.migrations import MIN_CLOCK_SECONDS
from bot.tables.limits import HOURS_TO_ACCEPT
from bot.worker import Worker
from tests.bot.fake_platform import (
    GROUP,
    STRICT_CLOCK,
    FakePlatform,
    Player,
    code_of,
    mover_and_other,
    mover_of,
    open_worker,
    seat_players,
)
from tests.bot.playing_time import pass_time, ring_clocks, step_clock
from tests.long import long

HOUR = 3600.0
LONGEST_GAP_SECONDS = 5.0  # longest part of a gap that counts as playing time; see playing_time.lua

ALL_SHARDS = range(keys.SHARDS)


async def running_clocks(store: Store) -> dict[str, float]:
    """Return all running clocks with the seconds until they ring."""
    return await store.leases.due_clocks(ALL_SHARDS, 10 * HOURS_TO_ACCEPT * HOUR)


async def open_challenges(worker: Worker, fake: FakePlatform, count: int) -> None:
    for number in range(count):
        await Player(worker, fake, f"P{number}", number).say("/challenge testa", place=f"paper:{1000 + number}")


async def freeze(worker: Worker) -> None:
    """Stop a worker's background tasks, so it renews no leases and checks no clocks."""
    while running := [task for task in worker._tasks if not task.done()]:
        for task in running:
            task.cancel()
        await asyncio.wait(running, timeout=0.2)


async def hang(worker: Worker, seconds: float) -> None:
    """Make a worker seem frozen for some seconds, by the store's clock and its own."""
    await freeze(worker)
    await step_clock(worker.store, seconds)
    worker.shards.now = lambda: time.clock_gettime(CLOCK) + seconds


# Downtime


@pytest.mark.parametrize("end", [long("stop"), "kill"])
async def test_downtime_expires_no_challenge(embedded: EmbeddedStore, end: str) -> None:
    fake = FakePlatform()
    async with open_store(embedded.url) as store:
        async with open_worker(store, fake) as worker:
            await open_challenges(worker, fake, 60)
            await ring_clocks(worker, HOURS_TO_ACCEPT * HOUR - HOUR / 2)
            before, started = await running_clocks(store), asyncio.get_running_loop().time()
            if end == "kill":
                # A killed worker gives no leases back.
                worker.shards.owned.clear()
        assert len(before) == 60
        await step_clock(store, HOUR)
        async with open_worker(store, fake) as worker:
            await ring_clocks(worker, 0)
            after = await running_clocks(store)
            assert set(after) == set(before)
            # Time with a running worker counts, and a slow machine needs some of it for sixty tables.
            elapsed = asyncio.get_running_loop().time() - started
            assert all(before[code] - after[code] <= LONGEST_GAP_SECONDS + 2 + elapsed for code in before)
            assert {(await worker.room.table(code)).phase for code in after} == {"open"}
            await ring_clocks(worker, HOUR)
            assert await running_clocks(store) == {}
            assert "The challenge has expired" in fake.last("paper:1000").plain


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_downtime_flags_nobody(store: Store, end: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa", *STRICT_CLOCK)
        code = await code_of(worker, players[0])
        await ring_clocks(worker, 31)
        nudged = await worker.room.table(code)
        assert nudged.alarm == "nudged"
        assert not any(nudged.late_counts)
        if end == "kill":
            worker.shards.owned.clear()
    await step_clock(store, HOUR)
    async with open_worker(store, fake) as worker:
        await ring_clocks(worker, 0)
        assert (await worker.room.table(code)).version == nudged.version
        await ring_clocks(worker, 31)
        assert sum((await worker.room.table(code)).late_counts) == 1


async def test_stopped_worker_uses_no_clock_time(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        await open_challenges(worker, fake, 1)
        [code] = await running_clocks(store)
    at_stop = await store.leases.clock_rings_in(code)
    assert at_stop
    await asyncio.sleep(0.01)
    assert await store.leases.clock_rings_in(code) == at_stop
    started = asyncio.get_running_loop().time()
    async with open_worker(store, fake) as worker:
        await step_clock(store, 3)
        await worker.shards.balance()
        remaining = await store.leases.clock_rings_in(code)
        assert remaining
        elapsed = asyncio.get_running_loop().time() - started
        assert 2.9 < at_stop - remaining < LONGEST_GAP_SECONDS + 2 + elapsed


# Clock steps


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_store_clock_step_costs_no_game(store: Store, seconds: float) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, alone=False) as worker:
        players = await seat_players(worker, fake, "testa", *STRICT_CLOCK)
        code = await code_of(worker, players[0])
        before, started = await running_clocks(store), asyncio.get_running_loop().time()
        table = await worker.room.table(code)
        await step_clock(store, seconds)
        assert len(worker.shards.owned) == keys.SHARDS

        # The first pass comes before the worker's next `balance`, and the second after it.
        for _ in range(2):
            await ring_clocks(worker, 0)
            assert (await worker.room.table(code)).version == table.version
            after = await running_clocks(store)
            # The clock can get back the time since playing time was last stored, which is long on a slow machine.
            elapsed = asyncio.get_running_loop().time() - started
            assert -1 - elapsed < before[code] - after[code] <= LONGEST_GAP_SECONDS + 2 + elapsed
            await worker.shards.balance()
            await worker.wait_until_idle()
            assert len(worker.shards.owned) == keys.SHARDS
            assert worker.shards.worker_count == 1

        # Now time passes normally again.
        await step_clock(store, LONGEST_GAP_SECONDS - 1)
        await worker.shards.balance()
        remaining = (await running_clocks(store))[code]
        elapsed = asyncio.get_running_loop().time() - started
        assert 3.9 < after[code] - remaining < LONGEST_GAP_SECONDS + 2 + elapsed
        await ring_clocks(worker, 31)
        assert (await worker.room.table(code)).alarm == "nudged"
        await ring_clocks(worker, 31)
        assert sum((await worker.room.table(code)).late_counts) == 1


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_dead_lease_ends_after_a_store_clock_step(store: Store, seconds: float) -> None:
    assert await store.leases.hold_shard("dead", 1, "take")
    assert not await store.leases.hold_shard("heir", 1, "take")
    await step_clock(store, seconds)
    assert await store.leases.hold_shard("heir", 1, "take")
    assert not await store.leases.hold_shard("dead", 1, "keep")


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_workers_with_differing_clocks_share_shards(
    store: Store, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    fake, real_time = FakePlatform(), time.time
    async with open_worker(store, fake, alone=False) as first:
        monkeypatch.setattr(time, "time", lambda: real_time() + seconds)
        async with open_worker(store, fake, alone=False) as second:
            monkeypatch.setattr(time, "time", real_time)
            await first.shards.balance()
            await second.shards.balance()
            await first.shards.balance()
            assert first.shards.worker_count == second.shards.worker_count == 2
            assert len(first.shards.owned) == len(second.shards.owned) == keys.SHARDS // 2


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_worker_clock_step_keeps_table_clocks(
    store: Store, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    fake, real_time = FakePlatform(), time.time
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        table = await worker.room.table(await code_of(worker, players[0]))
        monkeypatch.setattr(time, "time", lambda: real_time() + seconds)
        await ring_clocks(worker, 0)
        assert (await worker.room.table(table.code)).version == table.version
        mover, started = mover_of(players), asyncio.get_running_loop().time()
        await mover.play(Random(1))
        remaining = await store.leases.clock_rings_in(table.code)
        assert remaining
        elapsed = asyncio.get_running_loop().time() - started
        assert 148 - elapsed < remaining <= 150


@pytest.mark.parametrize("seconds", [HOUR, -HOUR])
async def test_players_are_notified_after_a_clock_step(
    store: Store, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    fake, real_time = FakePlatform(), time.time
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        mover, other = mover_and_other(players)
        [before] = fake.messages[other.private]
        monkeypatch.setattr(time, "time", lambda: real_time() + seconds)
        await mover.play(Random(1))
        await worker.wait_until_idle()
        [after] = fake.messages[other.private]
        assert after != before


# Hung workers


async def test_hung_single_worker_flags_nobody(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "testa", *STRICT_CLOCK)
        table = await worker.room.table(await code_of(worker, players[0]))
        await hang(worker, 60)
        await ring_clocks(worker, 0)
        assert (await worker.room.table(table.code)).version == table.version
        await worker.shards.balance()
        await ring_clocks(worker, 0)
        assert (await worker.room.table(table.code)).version == table.version
        mover = mover_of(players)
        await mover.play(Random(1))
        await worker.wait_until_idle()
        assert (await worker.room.table(table.code)).version > table.version


async def test_worker_past_its_lease_sends_nothing(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, alone=False) as frozen:
        players = await seat_players(frozen, fake, "metamazzo")
        code = await code_of(frozen, players[0])
        await hang(frozen, 60)
        async with open_worker(store, fake, alone=False) as heir:
            # The frozen worker counts as gone, so the heir takes all shards.
            assert len(heir.shards.owned) == keys.SHARDS
            assert not frozen.shards.surely_owns(code)

            # The frozen worker wakes up in the middle of its work.
            calls = len(fake.calls)
            mover = mover_of(players)
            await mover.send(mover.moves()[0][1].payload)
            assert frozen.shards.owns(code)
            await asyncio.sleep(0.1)
            assert len(fake.calls) == calls

            # Its states are not saved either.
            saved_states = await store.load_shown(code)
            await store.save_shown(code, {"h0": "made up"}, 10_000, frozen.shards.worker_id)
            assert await store.load_shown(code) == saved_states

            # After the frozen worker has given up its shards, the heir delivers each hand once.
            await frozen.shards.balance()
            assert not frozen.shards.owns(code)
            heir.delivery.touch(code, reload=True)
            await asyncio.sleep(0.1)
            await heir.wait_until_idle()
            assert len(fake.calls) > calls
            assert not frozen.delivery.busy_tables
            for player in players:
                player.worker, player.dispatcher = heir, Dispatcher(heir)
                assert len(fake.messages[player.private]) == 1
            await mover_of(players).play(Random(1))


async def test_clock_rung_by_two_workers_nudges_once(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake, alone=False) as frozen:
        players = await seat_players(frozen, fake, "metamazzo")
        code = await code_of(frozen, players[0])
        version = (await frozen.room.table(code)).version
        await hang(frozen, 60)
        await pass_time(store, 150)

        # The frozen worker rings no clock of a table that it might not own.
        await frozen.alarms.poll()
        await frozen.alarms.wait_until_idle()
        assert (await frozen.room.table(code)).version == version
        async with open_worker(store, fake, alone=False) as heir:
            # If both workers ring the clock at the same time, there is one nudge.
            frozen.shards._alone = True
            for worker in (frozen, heir):
                await worker.alarms.poll()
            for worker in (frozen, heir):
                await worker.alarms.wait_until_idle()
            table = await heir.room.table(code)
            assert (table.version, table.alarm) == (version + 1, "nudged")
            await heir.wait_until_idle()


async def test_worker_is_sure_of_its_tables_only_within_its_lease(store: Store) -> None:
    async with open_worker(store, FakePlatform(), alone=False) as worker:
        await freeze(worker)
        start = time.clock_gettime(CLOCK)
        assert worker.shards.surely_owns("ABCD")
        worker.shards.now = lambda: start + LEASE_SECONDS
        assert not worker.shards.surely_owns("ABCD")
        await worker.shards.balance()
        assert worker.shards.surely_owns("ABCD")


# The queue of alarms


async def test_alarms_keep_one_entry_for_each_table_due_soon(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        alarms = Alarms(worker.room, worker.shards, worker.robot_pool, worker.policies)
        before = len(asyncio.get_running_loop()._scheduled)  # type: ignore[attr-defined]
        for number in range(10_000):
            alarms.set_clock("ROBT", SOON_SECONDS - 1)
            alarms.set_clock(f"T{number % 10}", SOON_SECONDS - 1 if number % 2 else HOUR)
            if number % 10 == 0:
                await asyncio.sleep(0)
        assert len(alarms._soon) == 1 + 5
        assert len(asyncio.get_running_loop()._scheduled) - before < 1000  # type: ignore[attr-defined]
        for code in list(alarms._soon):
            alarms.set_clock(code, float("inf"))
        assert not alarms._soon


async def test_robot_moves_after_its_pause_without_polling(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.alarms.POLL_SECONDS", 1000.0)
    fake = FakePlatform()
    async with open_worker(store, fake, robot_pause=0.2) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/challenge testa")
        await anna.press("Add robot", GROUP)
        await anna.press("🤖 Easy", GROUP)
        code = await code_of(worker, anna)
        random = Random(3)
        for _ in range(3):
            async with asyncio.timeout(20):
                # Until delivery has edited the hand, it still offers the moves from before the last move.
                await worker.wait_until_idle()
                while not anna.moves():
                    await asyncio.sleep(0.02)
                    await worker.wait_until_idle()
            version = (await worker.room.table(code)).version
            await anna.play(random)
            assert (await worker.room.table(code)).version > version


# Clocks of the first release


async def test_migrated_clock_missed_longest_gets_least_time(store: Store) -> None:
    now = time.time()
    await store.client.set(keys.SCHEMA, 1)
    rings = {"LATE": now - HOUR, "SOON": now - HOUR + 100, "LONG": now + HOUR}
    for code, score in rings.items():
        await store.client.zadd(keys.timers(keys.shard_of(code)), {code: score})
    await layout_version.check(store.client)
    # The step is repeated, as after an interruption.
    await store.client.set(keys.SCHEMA, 1)
    await layout_version.check(store.client)
    remaining = await running_clocks(store)
    assert remaining["LATE"] == pytest.approx(MIN_CLOCK_SECONDS, abs=0.01)
    assert remaining["SOON"] == pytest.approx(MIN_CLOCK_SECONDS + 100, abs=0.01)
    assert remaining["LONG"] == pytest.approx(MIN_CLOCK_SECONDS + 2 * HOUR, abs=0.01)


async def test_migrated_running_clock_keeps_its_time(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    await store.client.zadd(keys.timers(keys.shard_of("LONG")), {"LONG": time.time() + HOUR})
    await layout_version.check(store.client)
    assert (await running_clocks(store))["LONG"] == pytest.approx(HOUR, abs=5)
