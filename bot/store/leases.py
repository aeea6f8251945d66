"""Leases of shards, the workers that are alive, and playing time, by which clocks run.

A shard's playing time is the number of seconds for which it has had an owner. The owner renews its lease every few
seconds, and each renewal adds the time since the one before (hold_shard.lua). Playing time stops while the bot is down,
hangs or sleeps, except for the few seconds by which a renewal can be late. Jumps of the store's clock are ignored
(playing_time.lua). Workers' clocks are not used.
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

# A clock that cannot be set and counts time asleep: CLOCK_BOOTTIME on Linux, CLOCK_MONOTONIC on macOS.
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

LEASE_SECONDS = 15  # time after which an owner that does not renew loses a shard
# How long a new worker waits for others to leave. Killed workers no longer count after this time.
JOIN_SECONDS = LEASE_SECONDS + 1.0
SET_BACK_SECONDS = 3600.0  # a store's clock that goes back this far was set on purpose
CHECK_SECONDS = 0.5  # pause between two checks for other workers


class Leases:
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
        """Report a worker as alive, with its time zone. Return the time zones of all workers that are alive.

        A worker that ``joins`` is not added while a worker with another time zone is alive.
        """
        now, silent, *alive_workers = await self._report_alive(
            keys=[keys.WORKERS], args=[f"{worker} {zone}", LEASE_SECONDS, zone if joins else ""]
        )
        # Use the time of the answer. A slow answer makes the estimate late, so no day ends too early.
        self._offset = float(now) - time.clock_gettime(CLOCK)
        for member, last_report in zip(silent[::2], silent[1::2], strict=True):
            # A worker that was only late logs its own pause (`bot.worker`).
            if member.decode().partition(" ")[0] != worker:
                log.warning(
                    "worker_vanished",
                    last_heard_seconds_ago=round(float(now) - float(last_report), 1),
                    why="it was killed, lost power, froze, or cannot reach the store",
                )
        return _zones_of(alive_workers)

    async def count_workers(self) -> int:
        """Count workers that reported within the last `LEASE_SECONDS`. Some of them can be dead."""
        return len(await self.worker_zones())

    async def worker_zones(self) -> list[str]:
        """Return the time zones of the workers that `count_workers` counts, "" for workers of older versions."""
        return _zones_of(await self._alive_workers(keys=[keys.WORKERS], args=[LEASE_SECONDS]))

    def estimated_time(self) -> float:
        """Return the store's time in Unix seconds without asking it.

        The estimate follows the last `report_alive`, or this machine's clock before the first. If the store's clock
        goes back by less than `SET_BACK_SECONDS`, the estimate waits for it, so no day begins twice.
        """
        if self._offset is None:
            return time.time()
        now = time.clock_gettime(CLOCK) + self._offset
        if not 0 < self._last_estimate - now < SET_BACK_SECONDS:
            self._last_estimate = now
        return self._last_estimate

    async def current_time(self) -> float:
        """Ask for the store's time, in Unix seconds."""
        return float(await self._current_time(keys=[keys.WORKERS]))

    async def current_day(self) -> int:
        """Ask for the store's day, counted from 1 January 1970."""
        return int(await self.current_time() // DAY_SECONDS)

    async def playing_time(self, shard: int) -> float:
        """Return a shard's playing time, in seconds."""
        return float(await self._playing_time(keys=[keys.attended(shard)]))

    async def remove_worker(self, worker: str, zone: str) -> None:
        await self._client.zrem(keys.WORKERS, f"{worker} {zone}")

    async def hold_shard(self, worker: str, shard: int, mode: Literal["keep", "take", "seize"]) -> bool:
        """Hold a shard for `LEASE_SECONDS`. Return whether the worker has it.

        ``mode`` is "keep" (only if it is the worker's), "take" (also if it is free) or "seize" (always).
        """
        return bool(await self._hold_shard(keys=[keys.attended(shard)], args=[worker, LEASE_SECONDS, mode]))

    async def release_shard(self, worker: str, shard: int) -> None:
        """Give a shard back. Its playing time stops."""
        await self._release_shard(keys=[keys.attended(shard)], args=[worker])

    async def due_clocks(self, shards: Sequence[int], seconds: float) -> dict[str, float]:
        """Return the tables whose clocks ring within this playing time, with the seconds left; 0 or less if due."""
        answers = await asyncio.gather(*(self._due_clocks(_clock_keys(shard), [seconds]) for shard in shards))
        return {
            code.decode(): float(seconds_left)
            for answer in answers
            for code, seconds_left in zip(answer[::2], answer[1::2], strict=True)
        }

    async def clock_rings_in(self, code: str) -> float | None:
        """Return the seconds of playing time until a table's clock rings, or None if no clock runs."""
        answer = await self._due_clocks(_clock_keys(keys.shard_of(code)), ["", code])
        return float(answer[1]) if answer else None


def _clock_keys(shard: int) -> list[str]:
    return [keys.timers(shard), keys.attended(shard)]


def _zones_of(members: Iterable[bytes]) -> list[str]:
    return [member.decode().partition(" ")[2] for member in members]


async def require_no_workers(client: Any, max_seconds: float = 0.0) -> None:
    """Raise StoreUnavailable if workers are still alive, or were just killed, after ``max_seconds``."""
    now = asyncio.get_running_loop().time
    deadline = now() + max_seconds
    while worker_count := await Leases(client).count_workers():
        if now() >= deadline:
            workers = "A worker is" if worker_count == 1 else f"{worker_count} workers are"
            raise StoreUnavailable(
                f"{workers} running on this store: stop all workers first. A killed worker counts for "
                f"{LEASE_SECONDS} seconds more."
            )
        await asyncio.sleep(CHECK_SECONDS)
