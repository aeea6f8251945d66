"""Hints in practice games, from the strong robot.

They use the robots' processes. So each person waits for one hint at a time, and no decision is computed
twice.
"""

import asyncio

from cachetools import LRUCache

from bot.handlers.errors import NoTimeForHints
from bot.robots.pool import RobotPool
from bot.tables.table import Table
from engine.robots.findings import Hint

REMEMBERED = 1000  # hints


Decision = tuple[str, int, int]  # a table's code and version, and a seat


class Hints:
    def __init__(self, robot_pool: RobotPool) -> None:
        self._robot_pool = robot_pool
        self._hints: LRUCache[Decision, Hint] = LRUCache(REMEMBERED)
        self._running: dict[str, tuple[Decision, asyncio.Task[Hint | None]]] = {}

    async def find_hint(self, person: str, table: Table, seat: int) -> Hint:
        """Return a hint for the player to move.

        NoTimeForHints if the robots are busy, or work on another hint for this person.
        """
        decision = table.code, table.version, seat
        if decision in self._hints:
            return self._hints[decision]
        if person not in self._running:
            self._running[person] = decision, asyncio.create_task(self._think(person, table, decision))
        running, task = self._running[person]
        # A second press waits for the same hint. Cancelling one of them does not cancel the other.
        found = await asyncio.shield(task) if running == decision else None
        if found is None:
            raise NoTimeForHints()
        return found

    async def _think(self, person: str, table: Table, decision: Decision) -> Hint | None:
        seat = decision[2]
        view = table.view(seat)
        assert table.game
        assert view
        try:
            found = await self._robot_pool.hint(view, table.game.history(seat))
        finally:
            del self._running[person]
        if found:
            self._hints[decision] = found
        return found
