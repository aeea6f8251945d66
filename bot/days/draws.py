"""The item drawn for each day. It is stored because a later release can draw from a longer list."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

Choose = Callable[[Mapping[date, str]], str]  # chooses a day's item, given the items of other days


class DailyDraws:
    """A hash of the store: an id for each day. Every method can raise a store error."""

    def __init__(self, client: Any, key: str) -> None:
        self._client, self._key = client, key

    async def get(self, day: date) -> str | None:
        id_ = await self._client.hget(self._key, day.isoformat())
        return id_.decode() if id_ else None

    async def draw(self, day: date, choose: Choose) -> str:
        """Return the item of a day, choosing one if necessary. The first of two concurrent choices counts."""
        if item := await self.get(day):
            return item
        new_item = choose(await self._load_all())
        await self._client.hsetnx(self._key, day.isoformat(), new_item)
        return await self.get(day) or new_item

    async def replace(self, day: date, choose: Choose) -> str:
        """Choose again for a day because its item no longer exists."""
        item = choose(await self._load_all())
        await self._client.hset(self._key, day.isoformat(), item)
        return item

    async def _load_all(self) -> dict[date, str]:
        items = await self._client.hgetall(self._key)
        return {date.fromisoformat(day.decode()): item.decode() for day, item in items.items()}
