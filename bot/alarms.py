"""Timed actions at tables: moves of robots, nudges, clocks that run out, and challenges that expire."""

import asyncio

import structlog

from bot.cluster.shards import Shards
from bot.concurrency.background import TaskSet
from bot.robots.names import STAND_IN_LEVEL
from bot.robots.pool import RobotPool
from bot.store import STORE_ERRORS
from bot.store.entries import Move
from bot.table_policy import Policies
from bot.tables.errors import TableError
from bot.tables.room import Room
from bot.tables.table import Table, is_turn_over
from bot.tables.table_memory import Commit
from engine.errors import ClaimRefused

POLL_SECONDS = 2.0  # interval between polls of the store for clocks that ring soon
SOON_SECONDS = POLL_SECONDS + 1.0  # clocks that ring later than this have no timer in memory
EARLY_RETRY_SECONDS = 0.05  # shortest wait after a clock was checked too early
RETRY_SECONDS = 1.0  # pause before a clock is checked again after an error

log = structlog.get_logger()


class Alarms:
    """Runs the clocks of this worker's shards.

    The store decides when a clock rings, in playing time (`bot.store.leases`). The worker has a timer for each clock
    that rings soon. When the timer ends, the worker asks the store.
    """

    def __init__(self, room: Room, shards: Shards, robot_pool: RobotPool, policies: Policies) -> None:
        self.room, self.shards, self.robot_pool, self._policies = room, shards, robot_pool, policies
        self._soon: dict[str, asyncio.TimerHandle] = {}
        self._busy: set[str] = set()
        self._tasks = TaskSet()
        room.watchers.append(self._on_commit)

    def _on_commit(self, commit: Commit) -> None:
        if commit.clock is not None and self.shards.owns(commit.code):
            self.set_clock(commit.code, commit.clock)

    def set_clock(self, code: str, seconds: float) -> None:
        """Set the timer of a table's clock, which rings in ``seconds`` at the earliest.

        A timer that rings too early is harmless.
        """
        if old_timer := self._soon.pop(code, None):
            old_timer.cancel()
        if seconds <= SOON_SECONDS:
            self._soon[code] = asyncio.get_running_loop().call_later(seconds, self._ring_soon, code)

    async def run(self) -> None:
        try:
            while True:
                await self.poll()
                await asyncio.sleep(POLL_SECONDS)
        finally:
            for timer in self._soon.values():
                timer.cancel()
            self._soon.clear()

    async def poll(self) -> None:
        """Find clocks that ring soon and were set by another worker, before a restart, or long ago."""
        clocks: dict[str, float] = {}
        with self.room.store.outage.suppress_errors():
            clocks = await self.room.store.leases.due_clocks(sorted(self.shards.owned), SOON_SECONDS)
        now = asyncio.get_running_loop().time()
        for code, seconds in clocks.items():
            timer = self._soon.get(code)
            # A known timer that rings sooner stays: a later commit can have set it, and ringing too early is harmless.
            if timer is None or timer.when() > now + seconds:
                self.set_clock(code, seconds)

    def stop(self) -> None:
        """Cancel current actions. Their clocks stay in the store for the shards' next owners."""
        self._tasks.cancel()

    async def wait_until_idle(self) -> None:
        """Wait until no action is running or due; for tests."""
        now = asyncio.get_running_loop().time
        while self._tasks or any(timer.when() <= now() for timer in self._soon.values()):
            await self._tasks.wait()
            await asyncio.sleep(0)

    def _ring_soon(self, code: str) -> None:
        del self._soon[code]
        if code not in self._busy and self.shards.surely_owns(code):
            self._busy.add(code)
            self._tasks.start(self._ring(code))

    async def _ring(self, code: str) -> None:
        try:
            # The clock is read after the table. Either it has rung at this version, or the table has changed since and
            # the commit is refused.
            table = await self.room.table(code)
            seconds = await self.room.store.leases.clock_rings_in(code)
            if seconds is not None and seconds <= 0:
                await self._act(table)
            elif seconds is not None:
                self.set_clock(code, max(seconds, EARLY_RETRY_SECONDS))
        except TableError:
            # Another commit was faster. It has set the clock again, or the next poll finds it.
            log.debug("clock_already_handled", table=code)
        except STORE_ERRORS as error:
            # The clock is still in the store, and `poll` finds it once the store is back.
            self.room.store.outage.begin(error)
        except Exception:
            log.exception("clock_failed", table=code)
            self.set_clock(code, RETRY_SECONDS)
        finally:
            self._busy.discard(code)

    async def _act(self, table: Table) -> None:
        mover = table.to_move
        if mover and mover.is_robot:
            await self.play_for(table, mover.person.partition(":")[2])
        elif table.alarm == "nudged" and table.strict and not table.is_practice:
            await self.play_for(table, STAND_IN_LEVEL)
        else:
            await self.room.handle_alarm(table.code, table.version)

    async def play_for(self, table: Table, level: str, update: str = "") -> Table:
        """Let a robot move for the seat to move; ``update`` is the key of the person's request, if there was one."""
        assert table.game
        seat = table.game.turn
        assert seat is not None
        moves = await self._robot_moves(table, seat, level)
        key = update or f"robot:{table.version}"
        return await self.room.make_moves_for(table.code, seat, table.version, moves, key)

    async def _robot_moves(self, table: Table, seat: int, level: str) -> list[str]:
        """Return a robot's moves for a seat.

        In its own seat it makes one move, so that people can follow. In a person's seat it continues until
        `is_turn_over`, because otherwise the absent person's clock would restart after a declaration.
        """
        chair, view, moves = table.chairs[seat], table.view(seat), list[str]()
        while True:
            game = table.game
            assert game
            assert view
            seed = self._policies.policy_of(table).robot_seed(table)
            if seed is None:
                move = await self.robot_pool.move(level, view, game.history(seat))
            else:
                move = await self.robot_pool.seeded_move(level, view, game.history(seat), seed)
            if move and move.startswith("play ") and not (chair and chair.is_robot):
                # The robot leaves out busso and volo, because only the player decides what to say about their hand.
                move = " ".join(move.split(" ")[:2])
            try:
                table = table.with_entries([Move(seat, move or "")], "")
            except ClaimRefused:
                # A refused claim has no cost and is not announced; the robot must still move.
                view = view.without_claims()
                continue
            moves.append(move or "")
            assert table.game
            if (chair and chair.is_robot) or is_turn_over(table.game, seat, moves[-1]):
                return moves
            view = table.view(seat)
