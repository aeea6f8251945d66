"""The layout's number, and ways from older layouts."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.store import EmbeddedStore, Store, StoreError, connected, keys, migrations, schema
from tests.bot.command import command


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
    async with connected(empty_valkey.url) as client:
        await client.set(keys.SCHEMA, 1)
        said = await asyncio.to_thread(command, tmp_path, *words, REDIS_URL=empty_valkey.url)
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
    async with connected(empty_valkey.url) as client:
        await client.flushall()
        said = await asyncio.to_thread(command, tmp_path, *words, REDIS_URL=empty_valkey.url)
        assert said.returncode == code, said.stderr
        assert not await client.keys()


async def test_of_two_workers_one_migrates_and_the_other_says_so(store: Store) -> None:
    await store.client.set(keys.SCHEMA, 1)
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(client: Any) -> None:
        begun.set()
        await go.wait()

    first = asyncio.create_task(schema.check(store.client, 2, {1: slow}))
    await begun.wait()
    with pytest.raises(StoreError, match="Another worker is bringing"):
        await schema.check(store.client, 2, {1: slow})
    go.set()
    await first


@pytest.mark.parametrize("found", ["0", "9", "x"])
async def test_a_layout_without_a_way_is_refused(store: Store, found: str) -> None:
    await store.client.set(keys.SCHEMA, found)
    with pytest.raises(StoreError):
        await schema.check(store.client)
    assert await store.client.get(keys.SCHEMA) == found.encode()


def test_there_is_a_way_from_every_layout_that_was_ever_released() -> None:
    assert set(migrations.MIGRATIONS) == set(range(1, keys.SCHEMA_VERSION))
