"""Profiles that nobody has used for a time that the host sets are forgotten.

Forgetting cannot be taken back, and clocks are wrong now and then. So days are counted by the store's clock, a round
counts few days more than the one before, and forgets a small share of all profiles: a clock that is years ahead for an
hour does little, and a bot that was down for long catches up in some rounds.
"""

import asyncio

import structlog

from bot.features.privacy.forgetting import Forgetter
from bot.people import People
from bot.pseudonyms import is_pseudonym
from bot.store import STORE_ERRORS, Store, keys
from bot.store.attendance import DAY_SECONDS
from bot.store.lua import read_script

POLL_SECONDS = 600.0
"""How often a worker asks whether today's round has been made."""

LEASE_SECONDS = 3600
"""A round that was cut short is begun again by any worker after so long."""

AT_ONCE, PAUSE = 500, 0.05
"""After how many profiles there is a pause, in seconds: people who play come first."""

MOST_DAYS = 3
"""How many days a round may count more than the one before."""

MOST_SHARE = 0.1
"""The share of all profiles that a round forgets at the most, though always one; the longest unused come first."""

NOTE_USED = read_script(__file__, "note_used")

PREFIX = keys.person("")

log = structlog.get_logger()


class UnusedProfiles:
    """Looks through all profiles once a day, one worker at a time. ``days`` is how long one may be unused."""

    def __init__(self, store: Store, people: People, forgetter: Forgetter, days: int) -> None:
        self._store, self._client = store, store.client
        self._people, self._forgetter, self._days = people, forgetter, days
        self._note_used = self._client.register_script(NOTE_USED)

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self.run_round()
            except STORE_ERRORS as error:
                self._store.outage.begin(error)
            except Exception:
                log.exception("sweep_failed")
            await asyncio.sleep(POLL_SECONDS)

    async def run_round(self) -> int | None:
        """Have those forgotten who are due; returns how many, None if a round was made today or is being made."""
        if not await self._client.set(keys.SWEEPING, "1", nx=True, ex=LEASE_SECONDS):
            return None
        today, looked = await self._capped_today(), 0
        due: list[tuple[int, str]] = []
        async for key in self._client.scan_iter(match=f"{PREFIX}*", count=AT_ONCE):
            person = key.decode().removeprefix(PREFIX)
            used = await self._last_used_day(person, today)
            if today - used > self._days and not is_pseudonym(person):
                due.append((used, person))
            looked += 1
            if looked % AT_ONCE == 0:
                await asyncio.sleep(PAUSE)
        # A key that is scanned twice is one person.
        due = sorted(set(due))
        now, forgotten = due[: max(1, int(looked * MOST_SHARE))], 0
        for used, person in now:
            # Who was here while the others were looked through stays.
            if await self._last_used_day(person, today) == used:
                await self._forgetter.begin(person)
                forgotten += 1
        await self._client.set(keys.SWEEPING, "1", ex=DAY_SECONDS)
        if len(now) < len(due):
            log.warning("unused_profiles_put_off", due=len(due), forgotten=forgotten, looked_at=looked)
        log.info("unused_profiles", looked_at=looked, forgotten=forgotten)
        return forgotten

    async def _capped_today(self) -> int:
        """The day by which a round counts: the store's, but never many days after the last round's."""
        today, last = await self._store.attendance.day(), await self._client.get(keys.SWEEPING_DAY)
        counted = today if last is None else min(today, int(last) + MOST_DAYS)
        if counted < today:
            log.warning("unused_profiles_clock", last_round=int(last), store_says=today, counted=counted)
        await self._client.set(keys.SWEEPING_DAY, counted)
        return counted

    async def _last_used_day(self, person: str, today: int) -> int:
        """The day on which a profile was last used; one of which none is known counts from today."""
        key = keys.person(person)
        used = await self._client.hget(key, "used")
        if used is None:
            await self._note_used(keys=[key], args=[today])
        return today if used is None else int(used)
