"""Who attends a shard, and its playing time: the time that clocks run by.

A shard's playing time is the number of seconds that it has been attended in all. Its owner comes by every few seconds
and lets it pass (hold_shard.lua). While nobody comes, because the bot is down, hangs or sleeps with its laptop, it
stands still, but for a few seconds that are not worth telling from a late visit; so it does where the store's own clock
jumps (playing_time.lua). Workers' clocks do not come into it.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import structlog

from bot.store import keys
from bot.store.batch import BatchedScript
from bot.store.folder import StoreUnavailable
from bot.store.lua import read_script

DAY_SECONDS = 86400

log = structlog.get_logger()

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""A clock that nobody sets, and that goes on while the machine sleeps: Linux has one beside the monotonic, which does
not; on macOS the monotonic one does.
"""

LEASE_SECONDS = 15
"""How long a shard stays with an owner that does not come by any more."""

WORKERS_PATIENCE = LEASE_SECONDS + 1.0
"""How long workers are waited for that have to be gone: those that were killed are known to be by then."""

SET_BACK_SECONDS = 3600.0
"""A store's clock that is so far back was set back by somebody who wants it so."""

CHECK_SECONDS = 0.5
"""How often it is looked whether workers are gone."""


class Attendance:
    """The leases, playing times and clocks of one store's shards."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._report_alive, self._hold_shard, self._release_shard, self._due_clocks = (
            BatchedScript(client, read_script(__file__, "playing_time", name))
            for name in ("report_alive", "hold_shard", "release_shard", "due_clocks")
        )
        self._alive_workers, self._current_time, self._playing_time = (
            client.register_script(read_script(__file__, "playing_time", name))
            for name in ("alive_workers", "current_time", "read_playing_time")
        )
        self._offset: float | None = None
        self._last_estimate = 0.0

    async def report_alive(self, worker: str, zone: str = "", *, joins: bool = False) -> list[str]:
        """Say that a worker is alive, whose days end in this time zone; the zones of all that are, each worker's.

        One that ``joins`` is not among them where any is whose days end elsewhere, and so disturbs nobody.
        """
        joined = zone if joins else ""
        now, silent, *found = await self._report_alive(
            keys=[keys.WORKERS], args=[_member(worker, zone), LEASE_SECONDS, joined]
        )
        # When it was answered, so that a slow answer makes it late: no day is over too early.
        self._offset = float(now) - time.clock_gettime(CLOCK)
        _warn_of_vanished(worker, float(now), silent)
        return _zones_of(found)

    async def count_workers(self) -> int:
        """How many workers are alive, or were killed less than `LEASE_SECONDS` ago."""
        return len(await self.worker_zones())

    async def worker_zones(self) -> list[str]:
        """The time zones of these, each worker's; empty for one of an older version."""
        return _zones_of(await self._alive_workers(keys=[keys.WORKERS], args=[LEASE_SECONDS]))

    def estimated_time(self) -> float:
        """The time by the store's clock without asking it, in Unix seconds: as it was told when a worker last said here
        that it is alive, every few seconds. By this machine's clock before.

        It stands still rather than go back by less than `SET_BACK_SECONDS`, as where the store was heard late: no day
        begins twice.
        """
        if self._offset is None:
            return time.time()
        now = time.clock_gettime(CLOCK) + self._offset
        if not 0 < self._last_estimate - now < SET_BACK_SECONDS:
            self._last_estimate = now
        return self._last_estimate

    async def current_time(self) -> float:
        """The time by the store's clock, in Unix seconds."""
        return float(await self._current_time(keys=[keys.WORKERS]))

    async def current_day(self) -> int:
        """The day by the store's clock, counted from the first of 1970."""
        return int(await self.current_time() // DAY_SECONDS)

    async def playing_time(self, shard: int) -> float:
        """A shard's playing time, in seconds."""
        return float(await self._playing_time(keys=[keys.attended(shard)]))

    async def remove_worker(self, worker: str, zone: str = "") -> None:
        """A worker stops."""
        await self._client.zrem(keys.WORKERS, _member(worker, zone))

    async def hold_shard(self, worker: str, shard: int, how: Literal["keep", "take", "seize"]) -> bool:
        """Hold a shard for `LEASE_SECONDS` from now on: one that is the worker's ("keep"), that or one that is free
        ("take"), or any ("seize"). Whether it is the worker's.
        """
        return bool(await self._hold_shard(keys=[keys.attended(shard)], args=[worker, LEASE_SECONDS, how]))

    async def release_shard(self, worker: str, shard: int) -> None:
        """Give a shard back; its playing time stands still from then on."""
        await self._release_shard(keys=[keys.attended(shard)], args=[worker])

    async def due_clocks(self, shards: Sequence[int], within: float) -> dict[str, float]:
        """The tables of these shards whose clocks ring within so many seconds of playing time, and in how many: 0 or
        less for those that have rung.
        """
        all_found = await asyncio.gather(*(self._due_clocks(self._clock_keys(shard), [within]) for shard in shards))
        return {
            code.decode(): float(left)
            for found in all_found
            for code, left in zip(found[::2], found[1::2], strict=True)
        }

    async def clock_rings_in(self, code: str) -> float | None:
        """In how many seconds of playing time a table's clock rings, 0 or less if it has; None if none is running."""
        found = await self._due_clocks(self._clock_keys(keys.shard_of(code)), ["", code])
        return float(found[1]) if found else None

    @staticmethod
    def _clock_keys(shard: int) -> list[str]:
        return [keys.timers(shard), keys.attended(shard)]


def _member(worker: str, zone: str) -> str:
    return f"{worker} {zone}"


def _warn_of_vanished(worker: str, now: float, silent: Sequence[bytes]) -> None:
    """Log the other workers that stopped without saying so. A worker that is only late knows it (`bot.stalls`)."""
    for member, heard in zip(silent[::2], silent[1::2], strict=True):
        if member.decode().partition(" ")[0] != worker:
            log.warning(
                "worker_vanished",
                last_heard_seconds_ago=round(now - float(heard), 1),
                why="it was killed, lost power, froze, or cannot reach the store",
            )


def _zones_of(members: Iterable[bytes]) -> list[str]:
    return [member.decode().partition(" ")[2] for member in members]


async def require_no_workers(client: Any, patience: float = 0.0) -> None:
    """StoreAway where workers are alive on a store, or one was killed just now, and so many seconds later still are."""
    now = asyncio.get_running_loop().time
    until = now() + patience
    while alive := await Attendance(client).count_workers():
        if now() >= until:
            workers = "A worker is" if alive == 1 else f"{alive} workers are"
            raise StoreUnavailable(
                f"{workers} running on this store: stop every one first. One that was killed counts for "
                f"{LEASE_SECONDS} seconds more."
            )
        await asyncio.sleep(CHECK_SECONDS)
