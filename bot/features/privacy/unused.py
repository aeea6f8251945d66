"""Forgets profiles that nobody has used for a time set by the host.

Forgetting is final, and clocks are sometimes wrong. So days follow the store's clock, a round advances by a few days at
most, and it forgets a small share of all profiles. Then a clock that is years ahead for an hour does little harm. A bot
that was down for a long time catches up in several rounds.
"""

import asyncio

import structlog

from bot.features.privacy.forgetting import Forgetter
from bot.identity.pseudonyms import is_pseudonym
from bot.people import People
from bot.store import STORE_ERRORS, Store, keys
from bot.store.leases import DAY_SECONDS
from bot.store.lua import read_script

POLL_SECONDS = 600.0  # interval at which a worker checks whether today's round is done
SWEEP_LEASE_SECONDS = 3600  # time until an interrupted round restarts in any worker
BATCH_SIZE, PAUSE_SECONDS = 500, 0.05  # profiles between two pauses, and the length of a pause
MAX_DAYS = 3  # largest number of days by which a round advances
MAX_SHARE = 0.1  # largest share of profiles forgotten in a round (at least one profile), the longest unused first
NOTE_USED = read_script(__file__, "note_used")
SWEEPING_KEY = "sweeping"  # exists during a round, and for a day after it
PREFIX = keys.person("")
log = structlog.get_logger()


class UnusedProfiles:
    """Checks all profiles once a day, in one worker at a time. Profiles expire after ``days`` without use."""

    def __init__(self, store: Store, people: People, forgetter: Forgetter, days: int) -> None:
        self._store, self._client = store, store.client
        self._people, self._forgetter, self._days = people, forgetter, days
        self._note_used = self._client.register_script(NOTE_USED)

    async def run(self) -> None:
        while True:
            try:
                await self.run_round()
            except STORE_ERRORS as error:
                self._store.outage.begin(error)
            except Exception:
                log.exception("unused_profiles_check_failed")
            await asyncio.sleep(POLL_SECONDS)

    async def run_round(self) -> int | None:
        """Forget expired profiles and return their number, or None if today's round is done or running."""
        if not await self._client.set(SWEEPING_KEY, "1", nx=True, ex=SWEEP_LEASE_SECONDS):
            return None
        today, checked = await self._capped_today(), 0
        expired_profiles: list[tuple[int, str]] = []
        async for key in self._client.scan_iter(match=f"{PREFIX}*", count=BATCH_SIZE):
            person = key.decode().removeprefix(PREFIX)
            used = await self._last_used_day(person, today)
            if today - used > self._days and not is_pseudonym(person):
                expired_profiles.append((used, person))
            checked += 1
            if checked % BATCH_SIZE == 0:
                await asyncio.sleep(PAUSE_SECONDS)
        # A scan can return a key twice.
        expired_profiles = sorted(set(expired_profiles))
        profiles_to_forget, forgotten = expired_profiles[: max(1, int(checked * MAX_SHARE))], 0
        for used, person in profiles_to_forget:
            # The person might have come back during the scan.
            if await self._last_used_day(person, today) == used:
                await self._forgetter.begin(person)
                forgotten += 1
        await self._client.set(SWEEPING_KEY, "1", ex=DAY_SECONDS)
        if len(profiles_to_forget) < len(expired_profiles):
            log.warning("unused_profiles_postponed", due=len(expired_profiles), forgotten=forgotten, looked_at=checked)
        log.info("unused_profiles_checked", looked_at=checked, forgotten=forgotten)
        return forgotten

    async def _capped_today(self) -> int:
        """Return the store's day, at most `MAX_DAYS` after the last round's."""
        today, last = await self._store.leases.current_day(), await self._client.get(keys.SWEEPING_DAY)
        capped_day = today if last is None else min(today, int(last) + MAX_DAYS)
        if capped_day < today:
            log.warning("store_clock_jumped", last_round=int(last), store_says=today, counted=capped_day)
        await self._client.set(keys.SWEEPING_DAY, capped_day)
        return capped_day

    async def _last_used_day(self, person: str, today: int) -> int:
        """Return the day of a profile's last use. If it is missing, store and return today."""
        key = keys.person(person)
        used = await self._client.hget(key, "used")
        if used is None:
            await self._note_used(keys=[key], args=[today])
        return today if used is None else int(used)
