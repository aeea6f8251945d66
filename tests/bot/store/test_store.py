"""Appending to tables: all or nothing, once, in order, even with simultaneous writers."""

import asyncio
from math import inf
from random import Random

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from bot.store import Appended, EmbeddedStore, NewEntries, Removed, Store, StoreError, keys, open_store
from bot.store.batch import NotReplicated
from bot.store.log import Log, add_stamp, strip_stamp
from bot.store.store import FOLD_AFTER

EMPTY_LOG = Log([])


@pytest.fixture
def store(any_store: Store) -> Store:
    """An empty store. Each test runs on one node and on a cluster."""
    return any_store


async def test_appended_entries_are_loaded(store: Store) -> None:
    assert await store.load("ABCD") == EMPTY_LOG
    assert await store.append("ABCD", EMPTY_LOG, [b"one", b"two"]) == Appended(2)
    log = await store.load("ABCD")
    assert log.entries == [b"one", b"two"]
    assert await store.append("ABCD", log, [b"three"]) == Appended(3)
    assert (await store.load("ABCD")).entries == [b"one", b"two", b"three"]


async def test_stale_writer_gets_the_missed_entries(store: Store) -> None:
    await store.append("ABCD", EMPTY_LOG, [b"one", b"two"])
    assert await store.append("ABCD", Log([b"one"]), [b"other"]) == NewEntries([b"two"])
    assert await store.append("ABCD", EMPTY_LOG, [b"other"]) == NewEntries([b"one", b"two"])
    assert (await store.load("ABCD")).entries == [b"one", b"two"]


async def test_writer_ahead_of_the_log_gets_the_whole_log(store: Store) -> None:
    await store.append("ABCD", EMPTY_LOG, [b"one"])
    assert await store.append("ABCD", Log([b"one", b"two"]), [b"three"]) == NewEntries([b"one"], whole=True)
    assert await store.entries_since("ABCD", Log([b"one", b"two"])) == NewEntries([b"one"], whole=True)
    assert await store.entries_since("ABCD", Log([b"one"])) == NewEntries([])
    assert await store.entries_since("NONE", EMPTY_LOG) == NewEntries([])


async def test_code_of_a_removed_table_is_reserved_for_a_day(store: Store) -> None:
    await store.append("ABCD", EMPTY_LOG, [b"one"], clock=5)
    await store.remove("ABCD", "opener")
    assert await store.append("ABCD", EMPTY_LOG, [b"again"]) == Removed("opener")
    assert await store.load("ABCD") == EMPTY_LOG
    assert 25 * 3600 < await store.client.ttl(keys.tombstone("ABCD")) <= 26 * 3600
    await store.client.delete(keys.tombstone("ABCD"))
    assert await store.append("ABCD", EMPTY_LOG, [b"again"]) == Appended(1)


async def test_writer_with_lost_entries_gets_the_whole_log(store: Store) -> None:
    await store.append("ABCD", EMPTY_LOG, [b"one\tu1", b"two\tu2"])
    stored_entries = [b"one\tu1", b"two\tu2"]
    for log_of_lost_entries in (Log([b"one\tu1", b"other\tu3"]), Log([b"other\tu3"])):
        assert await store.append("ABCD", log_of_lost_entries, [b"three\tu4"]) == NewEntries(stored_entries, whole=True)
        assert await store.entries_since("ABCD", log_of_lost_entries) == NewEntries(stored_entries, whole=True)
    assert await store.append("ABCD", Log(stored_entries), [b"three\tu4"]) == Appended(3)


async def test_long_logs_are_folded_without_loss(store: Store) -> None:
    random, log, written_entries = Random(1), EMPTY_LOG, list[bytes]()
    stale: list[Log] = []
    while len(written_entries) < 5 * FOLD_AFTER:
        new_entries = [
            add_stamp(f"0 play {random.random()}", f"u{len(written_entries) + n}")
            for n in range(random.randrange(1, 4))
        ]
        assert await store.append("LONG", log, new_entries) == Appended(len(written_entries) + len(new_entries))
        written_entries += new_entries
        log = await store.load("LONG")
        stale.append(log)
        assert [strip_stamp(entry) for entry in log.entries] == [strip_stamp(entry) for entry in written_entries]
        assert log.entries[-1] == written_entries[-1]
        assert await store.client.llen(keys.table("LONG")) <= FOLD_AFTER + 4
    for old in random.sample(stale[:-1], 30):
        for missed in (await store.append("LONG", old, [b"late"]), await store.entries_since("LONG", old)):
            assert isinstance(missed, NewEntries)
            whole = missed.entries if missed.whole else [*old.entries, *missed.entries]
            assert [strip_stamp(entry) for entry in whole] == [strip_stamp(entry) for entry in written_entries]


async def test_one_of_fifty_simultaneous_writers_wins(store: Store) -> None:
    await store.append("RACE", EMPTY_LOG, [b"start"])
    old_log = await store.load("RACE")
    results = await asyncio.gather(
        *(store.append("RACE", old_log, [add_stamp("0 play 3D", f"u{n}")]) for n in range(50))
    )
    assert sum(isinstance(result, Appended) for result in results) == 1
    log = await store.load("RACE")
    assert log.version == 2
    assert all(result.entries == log.entries[1:] for result in results if isinstance(result, NewEntries))


async def test_retrying_writers_write_everything_once(embedded: EmbeddedStore) -> None:
    async def worker(name: int) -> None:
        async with open_store(embedded.url) as own_store:
            log = EMPTY_LOG
            for number in range(40):
                while isinstance(
                    result := await own_store.append("BUSY", log, [f"{name} {number}".encode()]), NewEntries
                ):
                    log = Log(result.entries) if result.whole else log.with_entries(result.entries)
                log = Log([*log.entries, f"{name} {number}".encode()])

    await asyncio.gather(*(worker(name) for name in range(5)))
    async with open_store(embedded.url) as store:
        entries = (await store.load("BUSY")).entries
    assert sorted(entries) == sorted(f"{name} {number}".encode() for name in range(5) for number in range(40))
    for name in range(5):
        own_entries = [entry for entry in entries if entry.startswith(f"{name} ".encode())]
        assert own_entries == [f"{name} {number}".encode() for number in range(40)]


async def test_table_is_changed_until_its_version_is_shown(store: Store) -> None:
    shard = keys.shard_of("ABCD")
    await store.append("ABCD", EMPTY_LOG, [b"one"])
    assert await store.changed_tables([shard]) == {"ABCD": 1}
    await store.append("ABCD", Log([b"one"]), [b"two"])
    await store.save_shown("ABCD", {}, 1)
    assert await store.changed_tables([shard]) == {"ABCD": 2}
    await store.save_shown("ABCD", {}, 2)
    assert await store.changed_tables([shard]) == {}


async def test_clocks_are_set_kept_and_cleared(store: Store) -> None:
    shard = keys.shard_of("ABCD")
    await store.append("ABCD", EMPTY_LOG, [b"one"], clock=100.5)
    assert await store.leases.due_clocks([shard], 100.0) == {}
    assert await store.leases.due_clocks([shard], 101.0) == {"ABCD": 100.5}
    await store.append("ABCD", Log([b"one"]), [b"two"])
    assert await store.leases.clock_rings_in("ABCD") == 100.5
    await store.append("ABCD", Log([b"one", b"two"]), [b"three"], clock=inf)
    assert await store.leases.due_clocks([shard], 101.0) == {}
    assert await store.leases.clock_rings_in("ABCD") is None


async def test_refused_append_does_not_change_the_clock(store: Store) -> None:
    await store.append("ABCD", EMPTY_LOG, [b"one"], clock=100)
    await store.append("ABCD", EMPTY_LOG, [b"late"], clock=inf)
    assert await store.leases.clock_rings_in("ABCD") == 100


async def test_removed_table_leaves_only_its_marker(store: Store) -> None:
    await store.append("ABCD", EMPTY_LOG, [b"one"], clock=1000)
    await store.remove("ABCD")
    assert sorted([key async for key in store.client.scan_iter()]) == [b"schema", keys.tombstone("ABCD").encode()]


async def test_log_of_a_removed_table_can_be_kept_for_a_minute(store: Store) -> None:
    assert (await store.removed_log("ABCD")).entries == []
    await store.append("ABCD", EMPTY_LOG, [b"one", b"two"])
    # A second removal, after an interrupted one, keeps the log too.
    for _ in range(2):
        await store.remove("ABCD", keep_log=True)
        assert (await store.removed_log("ABCD")).entries == [b"one", b"two"]
        assert (await store.load("ABCD")).entries == []
        assert 0 < await store.client.ttl(keys.removed_log("ABCD")) <= 60
    assert await store.append("ABCD", EMPTY_LOG, [b"again"]) == Removed("")


async def test_all_keys_of_a_table_are_in_one_slot(store: Store) -> None:
    for code in ("ABCD", "EFGH", "Z9"):
        shard = keys.shard_of(code)
        names = (
            keys.table(code),
            keys.removed_log(code),
            keys.changed(shard),
            keys.timers(shard),
            keys.attended(shard),
        )
        assert len({name[: name.index("}")] for name in names}) == 1
    assert {keys.shard_of(f"T{n}") for n in range(2000)} == set(range(keys.SHARDS))


async def test_replica_confirmation_leaves_only_expiring_keys(
    embedded: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.store.batch.REPLICA_MS", 50)
    async with open_store(embedded.url, replicas=1) as store:
        for key in (keys.game("one"), keys.table("ABCD")):
            with pytest.raises(NotReplicated):
                await store.confirm(key)
            assert 0 < await store.client.ttl(keys.confirmation(key)) <= 60


async def test_newer_layout_is_refused(embedded: EmbeddedStore) -> None:
    async with Redis.from_url(embedded.url) as client:
        await client.set(keys.SCHEMA, 99)
    with pytest.raises(StoreError, match=r"layout is number 99.*knows number 2"):
        async with open_store(embedded.url):
            pass


async def test_unreachable_store_is_a_clear_error() -> None:
    with pytest.raises(StoreError, match="cannot be reached"):
        async with open_store("redis://127.0.0.1:1/0"):
            pass


async def test_tables_set_aside_by_an_earlier_layout_are_handled(store: Store) -> None:
    """An earlier version of this layout kept these tables in a set instead of a hash."""
    shard = keys.shard_of("ABCD")
    other_codes = [f"{letter}{number}" for letter in "ABCD" for number in range(200)]
    other_codes = [code for code in other_codes if keys.shard_of(code) == shard]
    log = Log([b"one"])
    for action in ("set aside", "take back", "remove", "look"):
        await store.client.flushall()
        await store.client.sadd(keys.set_aside(shard), *other_codes, "ABCD")
        await store.append("ABCD", EMPTY_LOG, log.entries)
        if action == "set aside":
            assert not await store.set_aside("ABCD", 1)
        elif action == "take back":
            await store.resume("ABCD", 1)
        elif action == "remove":
            await store.remove("ABCD", "opener")
            assert await store.append("ABCD", EMPTY_LOG, [b"again"]) == Removed("opener")
        remaining = [] if action in ("take back", "remove") else ["ABCD"]
        assert await store.set_aside_tables(range(keys.SHARDS)) == sorted([*remaining, *other_codes]), action
        assert await store.set_aside("ABCD", 1) != bool(remaining)


async def test_table_is_never_removed_without_a_marker(store: Store) -> None:
    """If a shard holds a value that no release wrote, the log stays too."""
    await store.append("ABCD", EMPTY_LOG, [b"one"])
    await store.client.set(keys.set_aside(keys.shard_of("ABCD")), "nonsense")
    with pytest.raises(ResponseError):
        await store.remove("ABCD", "opener")
    assert (await store.load("ABCD")).entries or await store.append("ABCD", EMPTY_LOG, [b"again"]) == Removed("opener")
