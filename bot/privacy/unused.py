"""Profiles that nobody has used for a time that the host sets are forgotten."""

import asyncio

import structlog

from bot.people import DAY_SECONDS, People
from bot.privacy.forgetting import Forgetter
from bot.somebody import is_somebody
from bot.store import STORE_FAULTS, Store, keys

LOOK_SECONDS = 600.0
"""How often a worker asks whether today's round has been made."""

LEASE_SECONDS = 3600
"""A round that was cut short is begun again by any worker after so long."""

AT_ONCE, PAUSE = 500, 0.05
"""After how many profiles there is a pause, in seconds: people who play come first."""

PREFIX = keys.person("")

log = structlog.get_logger()


class Unused:
    """Looks through all profiles once a day, one worker at a time. ``days`` is how long one may be unused."""

    def __init__(self, store: Store, people: People, forgetter: Forgetter, days: int) -> None:
        self._store, self._client = store, store.client
        self._people, self._forgetter, self._days = people, forgetter, days

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.round()
            except STORE_FAULTS as error:
                self._store.outage.begin(error)
            except Exception:
                log.exception("sweep_failed")
            await asyncio.sleep(LOOK_SECONDS)

    async def round(self) -> int | None:
        """Have all forgotten who are due; returns how many, None if a round was made today or is being made."""
        if not await self._client.set(keys.SWEEPING, "1", nx=True, ex=LEASE_SECONDS):
            return None
        today, looked, due = self._people.today(), 0, 0
        async for key in self._client.scan_iter(match=f"{PREFIX}*", count=AT_ONCE):
            due += await self._is_due(key.decode(), today)
            looked += 1
            if looked % AT_ONCE == 0:
                await asyncio.sleep(PAUSE)
        await self._client.set(keys.SWEEPING, "1", ex=DAY_SECONDS)
        log.info("unused_profiles", looked_at=looked, forgotten=due)
        return due

    async def _is_due(self, key: str, today: int) -> bool:
        """Have a person forgotten who is due; one of whom no day is known counts from today."""
        used = await self._client.hget(key, "used")
        if used is None:
            if await self._client.exists(key):
                await self._client.hset(key, "used", today)
            return False
        person = key.removeprefix(PREFIX)
        if today - int(used) <= self._days or is_somebody(person):
            return False
        await self._forgetter.begin(person)
        return True
