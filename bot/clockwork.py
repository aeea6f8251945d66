"""What happens at tables though nobody presses anything: robots move, clocks nudge and run out, challenges expire."""

import asyncio
import heapq
from contextlib import suppress
from dataclasses import replace

import structlog
from redis.exceptions import RedisError

from bot.delivery.shards import Shards
from bot.tables.faults import TableFault
from bot.tables.room import Room
from bot.tables.table import Table
from bot.thinking import Thinkers
from engine.errors import ClaimRefused

POLL_SECONDS = 2.0
"""How often the store is asked for clocks that another worker set, or that were running before a restart."""

AGAIN_AFTER = 1.0
STAND_IN = "medium"
"""The level of the robot that plays for a person whose time is up."""

log = structlog.get_logger()


class Clockwork:
    """Minds the clocks of this worker's shards."""

    def __init__(self, room: Room, shards: Shards, thinkers: Thinkers) -> None:
        self.room, self.shards, self.thinkers = room, shards, thinkers
        self._due: list[tuple[float, str]] = []
        self._busy: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._woken = asyncio.Event()

    def set(self, code: str, when: float) -> None:
        """A table's clock rings then, Unix seconds. What is said twice, or too soon, does no harm."""
        heapq.heappush(self._due, (when, code))
        self._woken.set()

    async def run(self) -> None:
        """Until cancelled."""
        polled = 0.0
        while True:
            now = self.room.now()
            if now - polled >= POLL_SECONDS:
                polled = now
                await self._poll(now)
            while self._due and self._due[0][0] <= now:
                _, code = heapq.heappop(self._due)
                if self.shards.owns(code):
                    self._start(code)
            until = min(self._due[0][0] if self._due else polled + POLL_SECONDS, polled + POLL_SECONDS)
            self._woken.clear()
            with suppress(TimeoutError):
                # Not wait_for: on Python 3.11 it may swallow a cancellation.
                async with asyncio.timeout(max(0.0, until - self.room.now())):
                    await self._woken.wait()

    async def _poll(self, now: float) -> None:
        try:
            found = await self.room.store.all_run_out(sorted(self.shards.mine), now)
        except (RedisError, OSError) as error:
            log.warning("store_away", why=type(error).__name__)
            return
        for code in found:
            self._start(code)

    def _start(self, code: str) -> None:
        if code not in self._busy:
            self._busy.add(code)
            task = asyncio.create_task(self._ring(code))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ring(self, code: str) -> None:
        try:
            # The clock is asked for after the table, so that the version below is one at which it has rung.
            table = await self.room.table(code)
            rings_at = await self.room.store.rings_at(code)
            if rings_at is not None and rings_at <= self.room.now():
                await self._act(table)
        except TableFault:
            # Somebody was faster; their commit has set the clock anew.
            log.debug("clock_overtaken", table=code)
        except Exception:
            log.exception("clock_failed", table=code)
            asyncio.get_running_loop().call_later(AGAIN_AFTER, self.set, code, 0.0)
        finally:
            self._busy.discard(code)

    async def _act(self, table: Table) -> None:
        mover = table.to_move
        if mover and mover.is_robot:
            await self.play_for(table, mover.person.partition(":")[2])
        elif table.alarm == "nudged" and table.strict:
            await self.play_for(table, STAND_IN)
        else:
            await self.room.time_passed(table.code, table.version)

    async def play_for(self, table: Table, level: str) -> Table:
        """Have a robot make the move of the seat whose turn it is."""
        game = table.game
        assert game
        seat = game.turn
        assert seat is not None
        view = game.view(seat)
        while True:
            move = await self.thinkers.move(level, view, game.history(seat))
            try:
                return await self.room.move_for(table.code, seat, table.version, move or "", f"robot:{table.version}")
            except ClaimRefused:
                # Trying costs nothing, and nobody is told; the robot still owes a move.
                view = replace(view, moves=tuple(one for one in view.moves if one != "claim"))
