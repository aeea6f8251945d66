"""What a process remembers of people, while others change it."""

import asyncio
from typing import Any

import pytest

from bot.people import People
from bot.store import Store, keys


class Slow:
    """A store's client whose first answer about a person comes late."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.has_read, self.may_answer = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    async def hgetall(self, key: str) -> Any:
        answer = await self._client.hgetall(key)
        if not self.has_read.is_set():
            self.has_read.set()
            await self.may_answer.wait()
        return answer


@pytest.mark.parametrize("by", ["this worker", "another worker"])
async def test_what_was_read_before_a_change_is_not_remembered_after_it(store: Store, by: str) -> None:
    slow = Slow(store.client)
    here, there = People(slow), People(store.client)
    reading = asyncio.create_task(here.person("telegram:1"))
    await slow.has_read.wait()
    if by == "this worker":
        await here.choose("telegram:1", deck="easy")
    else:
        await there.choose("telegram:1", deck="easy")
        here.forget(keys.person("telegram:1"))
    slow.may_answer.set()
    assert (await reading).deck == "classic"
    assert (await here.person("telegram:1")).deck == "easy"
