"""Lists of a person's tables: equal for all workers, crash-safe and limited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from redis.exceptions import ConnectionError as ConnectionLost

from bot.store import Store, keys
from bot.store.index import SETTLED_SECONDS
from bot.tables.limits import MAX_CHALLENGES, MAX_TABLES
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker


@pytest.fixture
async def workers(store: Store) -> AsyncIterator[tuple[Worker, Worker, FakePlatform]]:
    fake = FakePlatform()
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(open_worker(store, fake, alone=False)) for _ in range(2)]
        yield first, second, fake


async def test_stale_cache_keeps_tables_listed(workers: tuple[Worker, Worker, FakePlatform]) -> None:
    first, second, fake = workers
    anna, bruno = Player(first, fake, "Anna", 1), Player(first, fake, "Bruno", 2)
    await anna.say("/challenge testa")
    code = await code_of(first, anna)
    # The other worker has cached the table without Bruno.
    stale = await second.room.table(code)
    await bruno.press("Join", GROUP)
    second.room._tables[code] = stale
    for person in ("paper:1", "paper:2"):
        for worker in (second, first):
            assert [table.code for table in await worker.room.lists.tables_of(person)] == [code]
            assert [table.phase for table in await worker.room.lists.tables_of(person)] == ["playing"]
    second.room._tables[code] = stale
    second_bruno = Player(second, fake, "Bruno", 2)
    assert not (await second_bruno.say("/hand")).toast.startswith("You have no game running")
    assert (await second_bruno.say("/join " + code)).toast != f"There’s no table {code} any more: open another one."


async def test_sixty_concurrent_challenges_open_twenty_tables(
    store: Store, workers: tuple[Worker, Worker, FakePlatform]
) -> None:
    first, second, fake = workers
    people = [Player(worker, fake, "Anna", 1) for worker in (first, second)]
    replies = await asyncio.gather(
        *(people[number % 2].say("/challenge testa", f"paper:{1000 + number}") for number in range(60))
    )
    assert [reply.toast for reply in replies].count("") == MAX_TABLES
    assert all(f"{MAX_TABLES} tables" in reply.toast for reply in replies if reply.toast)
    assert len(await first.room.lists.tables_of("paper:1")) == MAX_TABLES
    # Cancelling one table makes room for another.
    await people[0].press("Cancel", (await first.room.lists.tables_of("paper:1"))[0].hosts[0])
    assert not (await people[1].say("/challenge testa", "paper:2000")).toast


async def test_table_limit_holds_for_accepting_and_joining(workers: tuple[Worker, Worker, FakePlatform]) -> None:
    first, _second, fake = workers
    anna, bruno = Player(first, fake, "Anna", 1), Player(first, fake, "Bruno", 2)
    for number in range(MAX_TABLES):
        await anna.say("/challenge testa", f"paper:{1000 + number}")
    await bruno.say("/challenge testa")
    assert f"{MAX_TABLES} tables" in (await anna.press("Join", GROUP)).toast
    assert f"{MAX_TABLES} tables" in (await anna.say(f"/join {await code_of(first, bruno)}")).toast


async def test_chat_has_a_challenge_limit(workers: tuple[Worker, Worker, FakePlatform]) -> None:
    first, second, fake = workers
    people = [Player((first, second)[number % 2], fake, f"P{number}", number) for number in range(1, 41)]
    replies = await asyncio.gather(*(person.say("/challenge testa") for person in people))
    assert [reply.toast for reply in replies].count("") == MAX_CHALLENGES
    loser, refusal = next((person, reply) for person, reply in zip(people, replies, strict=True) if reply.toast)
    assert f"{MAX_CHALLENGES} open challenges" in refusal.toast
    # An accepted challenge no longer counts.
    await loser.press("Join", GROUP)
    assert not (await Player(second, fake, "Zoe", 99).say("/challenge testa")).toast


@pytest.mark.parametrize("is_stored", [True, False])
async def test_crash_around_a_commit_loses_no_table(
    store: Store, monkeypatch: pytest.MonkeyPatch, is_stored: bool
) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        append = store.append

        async def append_and_crash(*args: Any, **options: Any) -> Any:
            if is_stored:
                await append(*args, **options)
            raise ConnectionLost("killed")

        monkeypatch.setattr(store, "append", append_and_crash)
        with pytest.raises(ConnectionLost):
            await worker.challenges.open_table("testa", "paper:1", "Anna", "u1", host=GROUP)
        monkeypatch.setattr(store, "append", append)
        assert len(await worker.room.lists.tables_of("paper:1")) == is_stored
        assert len(await worker.room.lists.tables_at(GROUP)) == is_stored

        # An index entry without a table is removed once no commit can be in progress.
        entries = await store.index.entries(keys.tables_of_person("paper:1"))
        assert len(entries) == 1
        if not is_stored:
            [(code, token)] = entries.items()
            seconds, _, word = token.partition(".")
            old = f"{int(seconds) - SETTLED_SECONDS}.{word}"
            await store.client.hset(keys.tables_of_person("paper:1"), code, old)
            await worker.room.lists.tables_of("paper:1")
            assert not await store.index.entries(keys.tables_of_person("paper:1"))


async def test_lists_are_rebuilt_from_logs(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/challenge testa")
        code = await code_of(worker, anna)
        await store.client.delete(keys.tables_of_person("paper:1"), keys.tables_of_chat(GROUP))
        assert not await worker.room.lists.tables_of("paper:1")
    async with open_worker(store, fake) as worker:
        bruno = Player(worker, fake, "Bruno", 2)
        await bruno.press("Join", GROUP)
        for person in ("paper:1", "paper:2"):
            assert [table.code for table in await worker.room.lists.tables_of(person)] == [code]
        assert [table.code for table in await worker.room.lists.tables_at(GROUP)] == [code]
