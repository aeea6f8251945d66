"""The number of the store's layout, and migrations from older layouts."""

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bot.store import EmbeddedStore, Store, StoreError, StoreUnavailable, connect, keys, layout_version, migrations
from bot.store.leases import LEASE_SECONDS
from tests.bot.command import run_command


async def do_nothing(_client: Any) -> None:
    pass


async def test_older_layout_is_migrated_step_by_step(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    await store.client.set("old", "x")
    done = []

    async def second(client: Any) -> None:
        done.append(1)
        await client.rename("old", "new")

    async def third(client: Any) -> None:
        done.append(2)
        assert await client.get("new") == b"x"

    await layout_version.check(store.client, 3, {1: second, 2: third})
    assert done == [1, 2]
    assert await store.client.get(keys.SCHEMA) == b"3"
    await layout_version.check(store.client, 3, {1: second, 2: third})
    assert done == [1, 2]


async def test_interrupted_step_is_repeated(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    attempts = []

    async def second(client: Any) -> None:
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("the store went away")

    with pytest.raises(StoreError):
        await layout_version.check(store.client, 2, {1: second})
    assert await store.client.get(keys.SCHEMA) == b"1"
    await layout_version.check(store.client, 2, {1: second})
    assert await store.client.get(keys.SCHEMA) == b"2"


async def test_check_without_migrate_changes_nothing(store: Store) -> None:
    client = store.client
    await client.flushall()
    await layout_version.check(client, migrate=False)
    assert not await client.keys()
    await client.set(keys.SCHEMA, 1)
    with pytest.raises(StoreError, match="start this version first"):
        await layout_version.check(client, migrate=False)
    assert await client.keys() == [keys.SCHEMA.encode()]
    assert await client.get(keys.SCHEMA) == b"1"


@pytest.mark.parametrize(
    "arguments",
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
async def test_commands_do_not_migrate(empty_valkey: EmbeddedStore, tmp_path: Path, arguments: list[str]) -> None:
    """A bot of an older version could be using the store."""
    async with connect(empty_valkey.url) as client:
        await client.set(keys.SCHEMA, 1)
        result = await asyncio.to_thread(run_command, tmp_path, *arguments, REDIS_URL=empty_valkey.url)
        assert result.returncode == (1 if arguments == ["doctor"] else 2)
        assert "start this version first" in result.stdout + result.stderr
        assert await client.get(keys.SCHEMA) == b"1"


@pytest.mark.parametrize(
    ("arguments", "code"), [(["tables"], 0), (["reports"], 0), (["token"], 0), (["daily"], 2), (["export"], 0)]
)
async def test_commands_leave_an_empty_store_empty(
    empty_valkey: EmbeddedStore, tmp_path: Path, arguments: list[str], code: int
) -> None:
    """REDIS_URL could point to another program's store."""
    async with connect(empty_valkey.url) as client:
        await client.flushall()
        result = await asyncio.to_thread(run_command, tmp_path, *arguments, REDIS_URL=empty_valkey.url)
        assert result.returncode == code, result.stderr
        assert not await client.keys()


async def test_second_worker_waits_for_the_migration(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    has_begun, resume = asyncio.Event(), asyncio.Event()
    done = []

    async def migrate_slowly(client: Any) -> None:
        has_begun.set()
        await resume.wait()
        done.append(1)
        # The second worker must not mistake the running first worker for an older version.
        await client.zadd(keys.WORKERS, {"first": time.time()})

    first = asyncio.create_task(layout_version.check(store.client, 2, {1: migrate_slowly}))
    await has_begun.wait()
    with capture_logs() as logs:
        second = asyncio.create_task(layout_version.check(store.client, 2, {1: migrate_slowly}))
        while not logs:
            await asyncio.sleep(0.01)
        resume.set()
        await asyncio.gather(first, second)
    assert [line["event"] for line in logs] == ["waiting_for_migration"]
    assert done == [1]


async def test_lock_of_a_killed_migration_expires(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    await store.client.set(layout_version.LOCK, "killed worker", px=500)
    await layout_version.check(store.client, 2, {1: do_nothing})
    assert await store.client.get(keys.SCHEMA) == b"2"


async def test_slow_migration_renews_its_lock(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_version, "LOCK_SECONDS", 3.0)
    await store.client.set(keys.SCHEMA, 1)

    async def migrate_slowly(client: Any) -> None:
        before = await client.pttl(layout_version.LOCK)
        assert 0 < before <= 3000
        while (remaining := await client.pttl(layout_version.LOCK)) <= before:
            assert remaining > 0
            before = remaining
            await asyncio.sleep(0.01)

    await layout_version.check(store.client, 2, {1: migrate_slowly})
    assert not await store.client.exists(layout_version.LOCK)


async def test_migration_without_its_lock_stops(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_version, "LOCK_SECONDS", 0.3)
    await store.client.set(keys.SCHEMA, 1)

    async def migrate_slowly(client: Any) -> None:
        await client.set(layout_version.LOCK, "another worker")
        await asyncio.Event().wait()

    with pytest.raises(StoreUnavailable, match="Another worker is migrating"):
        await layout_version.check(store.client, 2, {1: migrate_slowly})
    assert await store.client.get(layout_version.LOCK) == b"another worker"
    assert await store.client.get(keys.SCHEMA) == b"1"


async def test_migration_is_refused_while_a_worker_runs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_version, "JOIN_SECONDS", 0.0)
    await store.client.set(keys.SCHEMA, 1)
    await store.client.zadd(keys.WORKERS, {"old": time.time(), "killed long ago": 1})
    with pytest.raises(StoreUnavailable, match="A worker is running on this store: stop all workers first"):
        await layout_version.check(store.client, 2, {1: do_nothing})
    assert await store.client.get(keys.SCHEMA) == b"1"


async def test_migration_waits_for_the_lease_of_a_killed_worker(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    await store.client.zadd(keys.WORKERS, {"killed": time.time() - LEASE_SECONDS + 1})
    await layout_version.check(store.client, 2, {1: do_nothing})
    assert await store.client.get(keys.SCHEMA) == b"2"


@pytest.mark.parametrize("version", ["5.0.14", "6.0.16", "6.2"])
async def test_old_server_version_is_refused_without_changes(
    empty_valkey: EmbeddedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(layout_version, "SERVER_VERSION", f"return '{version}'")
    async with connect(empty_valkey.url) as client:
        with pytest.raises(StoreError, match=f"The store is a Redis {version}, but Buongioco needs Redis 7.0 or newer"):
            await layout_version.check(client)
        result = await asyncio.to_thread(run_command, tmp_path, "doctor", REDIS_URL=empty_valkey.url)
        assert result.returncode == 1
        assert f"wrong  store: The store is a Redis {version}, but" in result.stdout
        assert not await client.keys()


@pytest.mark.parametrize("version", ["7.0.0", "7.2.4", "8.2.1", "255.255.255"])
async def test_new_server_versions_are_accepted(store: Store, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(layout_version, "SERVER_VERSION", f"return '{version}'")
    await layout_version.check(store.client)


async def test_server_version_is_read_without_the_info_command(any_store: Store) -> None:
    version = (await any_store.client.eval(layout_version.SERVER_VERSION, 1, keys.SCHEMA)).decode()
    assert re.fullmatch(r"[0-9.]+", version)
    old = layout_version.SERVER_VERSION.replace("redis.REDIS_VERSION", "redis.NO_SUCH_THING")
    assert (await any_store.client.eval(old, 1, keys.SCHEMA)).decode() == version


async def test_refusing_store_is_not_unavailable(store: Store) -> None:
    await store.client.delete(keys.SCHEMA)
    await store.client.rpush(keys.SCHEMA, "another program's")
    with pytest.raises(StoreError, match=r"The store refuses the bot's commands .*WRONGTYPE") as raised:
        await layout_version.check(store.client)
    assert not isinstance(raised.value, StoreUnavailable)


@pytest.mark.parametrize("layout", ["0", "9", "x"])
async def test_unknown_layout_is_refused(store: Store, layout: str) -> None:
    await store.client.set(keys.SCHEMA, layout)
    with pytest.raises(StoreError):
        await layout_version.check(store.client)
    assert await store.client.get(keys.SCHEMA) == layout.encode()


def test_every_released_layout_has_a_migration() -> None:
    released = set(range(1, keys.SCHEMA_VERSION))
    assert set(migrations.MIGRATIONS) == released, "bot/store/migrations.py needs one step for each older layout"
