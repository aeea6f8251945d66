"""Reminds those who want it of the deal of the day, in their private chat, at an hour that they chose.

| key | type | what |
|---|---|---|
| ``daily:reminders`` | hash | the hour of each person who wants to be reminded, 0 to 23 |
| ``{daily:<day>}:reminded`` | set | people who have been reminded on a day; kept for two days |
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

import structlog

from bot.cluster.shards import Shards
from bot.features.daily.days import Days
from bot.features.daily.pages import reminder_panel
from bot.people import People
from bot.platform import Adapter, DeliveryError, is_worth_another_try, platform_of, private_place
from bot.store import Store, keys

HOURS = (8, 13, 18, 21)
"""Hours of the day, where the host is, at which one may be reminded."""

LATE_HOURS = 2
"""Hours after which it is too late for a reminder: the bot was away."""

POLL_SECONDS = 60.0
KEPT_DAYS = 2

log = structlog.get_logger()


class Hours:
    """At which hour each person or place wants something to come, in a hash of the store."""

    def __init__(self, client: Any, key: str) -> None:
        self._client, self._key = client, key

    async def of(self, name: str) -> int | None:
        """The hour at which it comes to somebody or somewhere; None for never."""
        hour = await self._client.hget(self._key, name)
        return int(hour) if hour else None

    async def choose(self, name: str, hour: int | None) -> None:
        if hour is None:
            await self._client.hdel(self._key, name)
        else:
            await self._client.hset(self._key, name, hour)

    async def all(self) -> dict[str, int]:
        """The hours of all who want it."""
        found = await self._client.hgetall(self._key)
        return {name.decode(): int(hour) for name, hour in found.items()}


async def forget(client: Any, person: str, today: date) -> None:
    """Somebody is reminded no more, and nothing tells that they were. Where the host is it may be a day before or after
    ``today``.
    """
    await client.hdel(keys.DAILY_REMINDERS, person)
    for ago in range(-1, KEPT_DAYS + 2):
        await client.srem(keys.daily_reminded(today - timedelta(days=ago)), person)


class Reminders:
    """Sends each reminder once at most: one that is lost by a crash is not sent twice. While the platform is away it is
    tried again.
    """

    def __init__(
        self, store: Store, shards: Shards, people: People, adapters: Mapping[str, Adapter], days: Days
    ) -> None:
        self._store, self._shards, self._people, self._adapters, self._days = store, shards, people, adapters, days

    async def run(self) -> None:
        """Until cancelled."""
        await self._shards.while_leader(POLL_SECONDS, lambda: self.remind(self._days.now()))

    async def remind(self, now: datetime) -> None:
        """Remind those whose hour has come, unless they have played."""
        day = now.date()
        for person, hour in (await Hours(self._store.client, keys.DAILY_REMINDERS).all()).items():
            if not 0 <= now.hour - hour < LATE_HOURS or await self._days.results.of(day, person):
                continue
            if await self._store.client.sadd(keys.daily_reminded(day), person):
                await self._store.client.expire(keys.daily_reminded(day), KEPT_DAYS * 86400)
                if not await self._days.had_cards(person, day):
                    await self._send(person, day)

    async def _send(self, person: str, day: date) -> None:
        adapter = self._adapters.get(platform_of(person))
        if adapter is None:
            return
        game = await self._days.game_on(day)
        panel = reminder_panel((await self._people.person(person)).language, day, game)
        try:
            await adapter.send(private_place(person), panel, f"daily {day} {person}")
        except DeliveryError as error:
            if is_worth_another_try(error):
                await self._store.client.srem(keys.daily_reminded(day), person)
            log.info("reminder_not_sent", platform=platform_of(person), why=type(error).__name__)
