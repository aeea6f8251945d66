"""Marks for things that a person can do once a day. They outlast /forget until the day ends.

A mark is an HMAC-SHA-256 of the activity and the person's id under a random key of the day. The key and the marks are
deleted when the day ends. After that the marks cannot be traced to people.

| key | type | contents |
|---|---|---|
| ``{marks:<day>}:key`` | string | 32 random bytes |
| ``{marks:<day>}:marks`` | set | the marks, in hex |
| ``marked`` | set | days that have marks |
"""

import hmac
import secrets
from datetime import date
from typing import Any

from bot.store import keys

KEY_BYTES = 32
KEPT_SECONDS = 2 * 86400  # marks expire after this time if no worker deletes them when their day ends


class DayMarks:
    """The marks for one ``activity``. Every method can raise a store error."""

    def __init__(self, client: Any, activity: str) -> None:
        self._client, self._activity = client, activity

    async def add(self, day: date, person: str) -> None:
        await self._client.sadd(keys.MARKED, day.isoformat())
        await self._client.set(keys.day_key(day), secrets.token_bytes(KEY_BYTES), nx=True, ex=KEPT_SECONDS)
        # Another worker's key might have come first.
        if key := await self._client.get(keys.day_key(day)):
            await self._client.sadd(keys.day_marks(day), self._mark(key, person))
            await self._client.expire(keys.day_marks(day), KEPT_SECONDS)

    async def has(self, day: date, person: str) -> bool:
        """Return whether a person has done the activity on this day. It is False once the day's marks are deleted."""
        key = await self._client.get(keys.day_key(day))
        return bool(key) and bool(await self._client.sismember(keys.day_marks(day), self._mark(key, person)))

    def _mark(self, key: bytes, person: str) -> str:
        return hmac.digest(key, f"{self._activity} {person}".encode(), "sha256").hex()


async def drop_marks_before(client: Any, today: date) -> None:
    for text in await client.smembers(keys.MARKED):
        day = date.fromisoformat(text.decode())
        if day < today:
            await client.delete(keys.day_key(day), keys.day_marks(day))
            await client.srem(keys.MARKED, text)
