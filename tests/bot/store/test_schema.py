"""The layout's number, and ways from older layouts."""

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.store import EmbeddedStore, Store, StoreError, StoreUnavailable, connect, keys, migrations, schema
from bot.store.attendance import LEASE_SECONDS
from tests.bot.command import run_command


async def nothing(_client: Any) -> None:
    """A step that has nothing to do."""


async def test_an_older_layout_is_brought_up_step_by_step(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    await store.client.set("old", "x")
    done = []

    async def second(client: Any) -> None:
        done.append(1)
        await client.rename("old", "new")

    async def third(client: Any) -> None:
        done.append(2)
        assert await client.get("new") == b"x"

    await schema.check(store.client, 3, {1: second, 2: third})
    assert done == [1, 2]
    assert await store.client.get(keys.SCHEMA) == b"3"
    await schema.check(store.client, 3, {1: second, 2: third})
    assert done == [1, 2]


async def test_a_step_cut_short_is_done_again(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    tries = []

    async def second(client: Any) -> None:
        tries.append(1)
        if len(tries) == 1:
            raise ConnectionError("the store went away")

    with pytest.raises(StoreError):
        await schema.check(store.client, 2, {1: second})
    assert await store.client.get(keys.SCHEMA) == b"1"
    await schema.check(store.client, 2, {1: second})
    assert await store.client.get(keys.SCHEMA) == b"2"


async def test_what_only_looks_changes_no_layout_and_gives_an_empty_store_none(store: Store) -> None:
    client = store.client
    await client.flushall()
    await schema.check(client, migrate=False)
    assert not await client.keys()
    await client.set(keys.SCHEMA, 1)
    with pytest.raises(StoreError, match="start this version first"):
        await schema.check(client, migrate=False)
    assert await client.keys() == [keys.SCHEMA.encode()]
    assert await client.get(keys.SCHEMA) == b"1"


@pytest.mark.parametrize(
    "words",
    [
        ["doctor"],
        ["tables"],
        ["reports"],
        ["token"],
        ["daily"],
        ["export"],
        ["rebuild"],
        ["archive", "--older-than=1d", "--out=old.jsonl"],
        ["forget", "paper:1", "--yes"],
    ],
)
async def test_only_a_bot_and_a_restore_bring_a_store_up(
    empty_valkey: EmbeddedStore, tmp_path: Path, words: list[str]
) -> None:
    """An older bot may be running on it."""
    async with connect(empty_valkey.url) as client:
        await client.set(keys.SCHEMA, 1)
        said = await asyncio.to_thread(run_command, tmp_path, *words, REDIS_URL=empty_valkey.url)
        assert said.returncode == (1 if words == ["doctor"] else 2)
        assert "start this version first" in said.stdout + said.stderr
        assert await client.get(keys.SCHEMA) == b"1"


@pytest.mark.parametrize(
    ("words", "code"), [(["tables"], 0), (["reports"], 0), (["token"], 0), (["daily"], 2), (["export"], 0)]
)
async def test_a_command_leaves_an_empty_store_empty(
    empty_valkey: EmbeddedStore, tmp_path: Path, words: list[str], code: int
) -> None:
    """REDIS_URL may name another program's."""
    async with connect(empty_valkey.url) as client:
        await client.flushall()
        said = await asyncio.to_thread(run_command, tmp_path, *words, REDIS_URL=empty_valkey.url)
        assert said.returncode == code, said.stderr
        assert not await client.keys()


async def test_of_two_workers_one_migrates_and_the_other_waits_for_it(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    begun, go = asyncio.Event(), asyncio.Event()
    done = []

    async def slow(client: Any) -> None:
        begun.set()
        await go.wait()
        done.append(1)
        # Whoever has waited does not take the first, which works by now, for one of the older version.
        await client.zadd(keys.WORKERS, {"first": time.time()})

    first = asyncio.create_task(schema.check(store.client, 2, {1: slow}))
    await begun.wait()
    with capture_logs() as logs:
        second = asyncio.create_task(schema.check(store.client, 2, {1: slow}))
        while not logs:
            await asyncio.sleep(0.01)
        go.set()
        await asyncio.gather(first, second)
    assert [line["event"] for line in logs] == ["waiting_for_migration"]
    assert done == [1]


async def test_a_worker_that_was_killed_as_it_migrated_is_soon_given_up(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    await store.client.set(schema.LOCK, "of one that was killed", px=500)
    await schema.check(store.client, 2, {1: nothing})
    assert await store.client.get(keys.SCHEMA) == b"2"


async def test_one_that_takes_its_time_keeps_the_others_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "LOCK_SECONDS", 3.0)
    await store.client.set(keys.SCHEMA, 1)

    async def slow(client: Any) -> None:
        before = await client.pttl(schema.LOCK)
        assert 0 < before <= 3000
        while (left := await client.pttl(schema.LOCK)) <= before:
            assert left > 0
            before = left
            await asyncio.sleep(0.01)

    await schema.check(store.client, 2, {1: slow})
    assert not await store.client.exists(schema.LOCK)


async def test_one_that_lost_its_lock_stops(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "LOCK_SECONDS", 0.3)
    await store.client.set(keys.SCHEMA, 1)

    async def slow(client: Any) -> None:
        await client.set(schema.LOCK, "another's")
        await asyncio.Event().wait()

    with pytest.raises(StoreUnavailable, match="Another worker is migrating"):
        await schema.check(store.client, 2, {1: slow})
    assert await store.client.get(schema.LOCK) == b"another's"
    assert await store.client.get(keys.SCHEMA) == b"1"


async def test_nothing_is_migrated_under_workers_of_an_older_version(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "WORKERS_PATIENCE", 0.0)
    await store.client.set(keys.SCHEMA, 1)
    await store.client.zadd(keys.WORKERS, {"old": time.time(), "killed long ago": 1})
    with pytest.raises(StoreUnavailable, match="A worker is running on this store: stop every one first"):
        await schema.check(store.client, 2, {1: nothing})
    assert await store.client.get(keys.SCHEMA) == b"1"


async def test_one_of_them_that_was_killed_just_now_is_waited_for(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    await store.client.zadd(keys.WORKERS, {"killed": time.time() - LEASE_SECONDS + 1})
    await schema.check(store.client, 2, {1: nothing})
    assert await store.client.get(keys.SCHEMA) == b"2"


@pytest.mark.parametrize("version", ["5.0.14", "6.0.16", "6.2"])
async def test_a_server_that_is_too_old_is_named_and_left_alone(
    empty_valkey: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(schema, "SERVER_VERSION", f"return '{version}'")
    async with connect(empty_valkey.url) as client:
        with pytest.raises(StoreError, match=f"The store is a Redis {version}, but Buongioco needs Redis 7.0 or newer"):
            await schema.check(client)
        said = await asyncio.to_thread(run_command, tmp_path, "doctor", REDIS_URL=empty_valkey.url)
        assert said.returncode == 1
        assert f"wrong  store: The store is a Redis {version}, but" in said.stdout
        assert not await client.keys()


@pytest.mark.parametrize("version", ["7.0.0", "7.2.4", "8.2.1", "255.255.255"])
async def test_newer_ones_are_not(store: Store, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(schema, "SERVER_VERSION", f"return '{version}'")
    await schema.check(store.client)


async def test_a_server_says_its_version_to_whoever_may_not_ask_for_info(any_store: Store) -> None:
    version = (await any_store.client.eval(schema.SERVER_VERSION, 1, keys.SCHEMA)).decode()
    assert re.fullmatch(r"[0-9.]+", version)
    old = schema.SERVER_VERSION.replace("redis.REDIS_VERSION", "redis.NO_SUCH_THING")
    assert (await any_store.client.eval(old, 1, keys.SCHEMA)).decode() == version


async def test_a_store_that_refuses_is_not_taken_for_one_that_is_away(store: Store) -> None:
    await store.client.delete(keys.SCHEMA)
    await store.client.rpush(keys.SCHEMA, "another program's")
    with pytest.raises(StoreError, match=r"The store refuses the bot's commands .*WRONGTYPE") as raised:
        await schema.check(store.client)
    assert not isinstance(raised.value, StoreUnavailable)


@pytest.mark.parametrize("found", ["0", "9", "x"])
async def test_a_layout_without_a_way_is_refused(store: Store, found: str) -> None:
    await store.client.set(keys.SCHEMA, found)
    with pytest.raises(StoreError):
        await schema.check(store.client)
    assert await store.client.get(keys.SCHEMA) == found.encode()


def test_there_is_a_way_from_every_layout_that_was_ever_released() -> None:
    assert set(migrations.MIGRATIONS) == set(range(1, keys.SCHEMA_VERSION))
