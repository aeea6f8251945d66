"""Hints in practice games, from the strong robot.

Hints use the robots' processes. So each person waits for one hint at a time, and no hint is computed twice.
"""

import asyncio
from collections.abc import Awaitable, Callable
from enum import IntEnum

import structlog
from cachetools import LRUCache, TTLCache

from bot.concurrency.background import TaskSet
from bot.robots.pool import RobotPool
from bot.tables.table import Table
from bot.words.verdicts import NO_HINT, ShownHint
from engine.robots.verdicts import Hint

HINTS_REMEMBERED = 1000  # hints kept in memory
MAX_ATTEMPTS = 3  # attempts to compute a hint, because the robots' processes can be starting
MAX_UNASKED_ATTEMPTS = 30  # the same for a hint that nobody has asked for, because starting can take a minute
UNASKED_PAUSE_SECONDS = 1.0  # pause before the next attempt at such a hint
BUSY_SECONDS = 5.0  # pause before robots that had no time for a hint are asked for it again

Decision = tuple[str, int, int]  # a table's code and version, and a seat

log = structlog.get_logger()


class UnaskedHints(IntEnum):
    """Whether a hand shows hints that its player did not ask for."""

    NONE = 0
    ENDED = 1  # this turn is the first without a hint
    SHOWN = 2


def allows_hints(table: Table, seat: int) -> bool:
    """Return whether a seat can have a hint now. A bad hint must harm only its player."""
    return table.is_practice and not table.is_duplicate and table.game is not None and table.game.turn == seat


class Hints:
    """Hints for players.

    ``unasked_hints`` decides whether a hand shows a hint without being asked. ``watchers`` are called with a table's
    code when the hint that a hand shows there can have changed.
    """

    def __init__(self, robot_pool: RobotPool, unasked_hints: Callable[[Table, int], Awaitable[UnaskedHints]]) -> None:
        self._robot_pool, self._unasked_hints = robot_pool, unasked_hints
        self.watchers: list[Callable[[str], None]] = []
        self._hints: LRUCache[Decision, Hint] = LRUCache(HINTS_REMEMBERED)
        self._asked: LRUCache[Decision, bool] = LRUCache(HINTS_REMEMBERED)
        self._busy: TTLCache[Decision, bool] = TTLCache(HINTS_REMEMBERED, BUSY_SECONDS)
        self._running: dict[str, tuple[Decision, asyncio.Task[Hint | None]]] = {}
        self._wanted: dict[str, Decision] = {}  # each person's hint to show next
        self._tasks = TaskSet()

    async def find_hint(self, person: str, table: Table, seat: int) -> Hint | None:
        """Return a hint for the player to move, or None if the robots are busy or the person waits for another hint.

        A person waits for one hint at a time.
        """
        decision = table.code, table.version, seat
        if decision in self._hints:
            return self._hints[decision]
        if person not in self._running:
            self._running[person] = decision, asyncio.create_task(self._think(person, table, decision))
        running, task = self._running[person]
        # A second press waits for the same hint. Cancelling one of them does not cancel the other.
        return await asyncio.shield(task) if running == decision else None

    async def hint_to_show(self, table: Table, seat: int, *, is_asked: bool = False) -> ShownHint:
        """Return the hint that a hand shows because its player asked for one or plays a first game.

        The watchers are called when the hint is found, or when the robots have no time.
        """
        chair, decision = table.chairs[seat], (table.code, table.version, seat)
        if chair is None:
            return NO_HINT
        awaited_decision = self._wanted.get(chair.person)
        if awaited_decision and awaited_decision[0] == table.code and awaited_decision != decision:
            # The table has moved on, so nobody can see that hint any more.
            del self._wanted[chair.person]
        if not allows_hints(table, seat):
            return NO_HINT
        if is_asked:
            self._asked[decision] = True
        is_asked = decision in self._asked
        if not is_asked:
            unasked = await self._unasked_hints(table, seat)
            if unasked is not UnaskedHints.SHOWN:
                return ShownHint(have_ended=unasked is UnaskedHints.ENDED)
        is_busy = decision in self._busy
        if decision not in self._hints and not is_busy and self._wanted.get(chair.person) != decision:
            self._wanted[chair.person] = decision
            self._tasks.start(self._prepare(chair.person, table, decision))
        assert table.game
        is_first = not is_asked and all(mover != seat for mover, _move in table.game.history(seat))
        return ShownHint(self._hints.get(decision), is_asked, is_busy, is_first, is_unasked=not is_asked)

    def notify(self, code: str) -> None:
        for watcher in self.watchers:
            watcher(code)

    async def wait_until_idle(self) -> None:
        await self._tasks.wait()

    def stop(self) -> None:
        for task in (*self._tasks, *(task for _decision, task in self._running.values())):
            task.cancel()

    async def _prepare(self, person: str, table: Table, decision: Decision) -> None:
        """Compute a hint once the person's previous one is done, unless they want a different one by then."""
        tries = 0
        try:
            while self._wanted.get(person) == decision:
                running = self._running.get(person)
                if running and running[0] != decision:
                    await asyncio.wait([running[1]])
                    continue
                tries += 1
                if await self.find_hint(person, table, decision[2]):
                    break
                is_asked = decision in self._asked
                if tries >= (MAX_ATTEMPTS if is_asked else MAX_UNASKED_ATTEMPTS):
                    break
                if not is_asked:
                    await asyncio.sleep(UNASKED_PAUSE_SECONDS)
        except Exception:
            log.exception("hint_failed", table=table.code)
        finally:
            if self._wanted.get(person) == decision:
                del self._wanted[person]
            if decision not in self._hints:
                self._busy[decision] = True
            self.notify(table.code)

    async def _think(self, person: str, table: Table, decision: Decision) -> Hint | None:
        seat = decision[2]
        view = table.view(seat)
        assert table.game
        assert view
        try:
            hint = await self._robot_pool.hint(view, table.game.history(seat))
        finally:
            del self._running[person]
        if hint:
            self._hints[decision] = hint
        return hint
