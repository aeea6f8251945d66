"""The cache of people, while other workers change them."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from bot import people
from bot.people import People
from bot.platform import Person
from bot.store import Store, keys


class SlowClient:
    """A store client that counts reads of persons and delays the first one."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.read_started, self.answer_allowed = asyncio.Event(), asyncio.Event()
        self.reads: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def hgetall(self, key: str) -> Any:
        self.reads[key] += 1
        answer = await self._client.hgetall(key)
        if not self.read_started.is_set():
            self.read_started.set()
            await self.answer_allowed.wait()
        return answer


@pytest.mark.parametrize("changer", ["first worker", "second worker"])
async def test_stale_read_is_not_cached_after_a_change(store: Store, changer: str) -> None:
    slow = SlowClient(store.client)
    first_worker, second_worker = People(slow), People(store.client)
    reading = asyncio.create_task(first_worker.person("telegram:1"))
    await slow.read_started.wait()
    if changer == "first worker":
        await first_worker.update_person("telegram:1", deck="easy")
    else:
        await second_worker.update_person("telegram:1", deck="easy")
        first_worker.forget(keys.person("telegram:1"))
    slow.answer_allowed.set()
    assert (await reading).deck == "classic"
    assert (await first_worker.person("telegram:1")).deck == "easy"


@pytest.mark.parametrize("changer", ["first worker", "second worker"])
async def test_change_of_one_profile_keeps_reads_of_others(store: Store, changer: str) -> None:
    """Otherwise, each change would make a worker repeat the reads of other profiles that are under way."""
    slow = SlowClient(store.client)
    first_worker = People(slow)
    reading = asyncio.create_task(first_worker.person("telegram:1"))
    await slow.read_started.wait()
    if changer == "first worker":
        await first_worker.update_person("telegram:2", deck="easy")
    else:
        first_worker.forget(keys.person("telegram:2"))
    slow.answer_allowed.set()
    await reading
    await first_worker.person("telegram:1")
    assert slow.reads[keys.person("telegram:1")] == 1


async def test_simultaneous_arrivals_are_read_once(store: Store) -> None:
    slow = SlowClient(store.client)
    slow.answer_allowed.set()
    first_worker = People(slow)
    persons = [Person(f"telegram:{number}", f"Person {number}") for number in range(20)]
    for _ in range(3):
        await asyncio.gather(*(first_worker.meet(person, f"telegram:-{person.id[9:]}") for person in persons))
    assert set(slow.reads.values()) == {1}


async def test_writing_a_field_does_not_refresh_the_cache(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "FRESH_SECONDS", 0.2)
    first_worker, second_worker = People(store.client), People(store.client)
    assert (await first_worker.person("telegram:1")).deck == "classic"
    await second_worker.update_person("telegram:1", deck="easy")
    async with asyncio.timeout(20):
        while (await first_worker.person("telegram:1")).deck != "easy":
            await first_worker.update_person("telegram:1", suits="french")
            await asyncio.sleep(0.01)


async def test_change_by_another_worker_during_a_change_is_seen(store: Store) -> None:
    slow = SlowClient(store.client)
    first_worker, second_worker = People(slow), People(store.client)
    changing = asyncio.create_task(first_worker.update_person("telegram:1", suits="french"))
    await asyncio.wait([changing, asyncio.create_task(slow.read_started.wait())], return_when=asyncio.FIRST_COMPLETED)
    await second_worker.update_person("telegram:1", deck="easy")
    first_worker.forget(keys.person("telegram:1"))
    slow.answer_allowed.set()
    await changing
    slow.read_started.set()
    profile = await first_worker.person("telegram:1")
    assert (profile.deck, profile.suits) == ("easy", "french")


async def test_handle_is_found_after_a_kill_while_writing_it(store: Store) -> None:
    anna = Person("telegram:1", "Anna", handle="anna")

    class KilledPeople(People):
        async def _move_handle(self, id: str, old: str, new: str) -> None:
            raise ConnectionError("killed")

    with pytest.raises(ConnectionError):
        await KilledPeople(store.client).meet(anna)
    await People(store.client).meet(anna)
    profile = await People(store.client).find_by_handle("telegram", "anna")
    assert profile
    assert profile.name == "Anna"


async def test_memory_drops_the_profile_read_longest_ago(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "PROFILES_CACHED", 2)
    counting = SlowClient(store.client)
    counting.answer_allowed.set()
    worker = People(counting)
    for number in (1, 2, 3, 3, 2, 1):
        await worker.person(f"telegram:{number}")
    assert [counting.reads[keys.person(f"telegram:{number}")] for number in (1, 2, 3)] == [2, 1, 1]
