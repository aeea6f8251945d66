"""Hints for who practises. They come from the processes in which robots think about their moves, so nobody has more
than one of them at work, or has the same thought about twice.
"""

import asyncio
from typing import NamedTuple

from cachetools import LRUCache

from bot.handlers.errors import NoTimeForHints
from bot.robot_pool import RobotPool
from bot.tables.table import Table
from engine.robots.findings import Hint

REMEMBERED = 1000


class Decision(NamedTuple):
    """A decision at a table."""

    code: str
    version: int
    seat: int


class Hints:
    """What the strong robot would do, for each person about one decision at a time."""

    def __init__(self, robot_pool: RobotPool) -> None:
        self._robot_pool = robot_pool
        self._hints: LRUCache[Decision, Hint] = LRUCache(REMEMBERED)
        self._running: dict[str, tuple[Decision, asyncio.Task[Hint | None]]] = {}

    async def find_hint(self, person: str, table: Table, seat: int) -> Hint:
        """A hint for who is to move; NoTimeForHints when the robots are busy, or with another one for this person."""
        moment = Decision(table.code, table.version, seat)
        if moment in self._hints:
            return self._hints[moment]
        if person not in self._running:
            self._running[person] = moment, asyncio.create_task(self._think(person, table, moment))
        about, thought = self._running[person]
        # Whoever presses again hears the same; one who hears no more does not end it for the others.
        found = await asyncio.shield(thought) if about == moment else None
        if found is None:
            raise NoTimeForHints()
        return found

    async def _think(self, person: str, table: Table, moment: Decision) -> Hint | None:
        view = table.view(moment.seat)
        assert table.game
        assert view
        try:
            found = await self._robot_pool.hint(view, table.game.history(moment.seat))
        finally:
            del self._running[person]
        if found:
            self._hints[moment] = found
        return found
