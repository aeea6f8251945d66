"""How fast each place may be written to, and how long to hold back when a platform says so."""

import asyncio
from collections.abc import Callable

from bot.platform import Pace

PLACES_REMEMBERED = 10_000


class Pacer:
    """Gives each place its turns; the platform's own wait goes before everything."""

    def __init__(self, pace_of: Callable[[str], Pace]) -> None:
        self._pace_of = pace_of
        self._due: dict[str, float] = {}
        self._blocked: dict[str, float] = {}

    async def turn(self, place: str) -> None:
        """Return when the place may be written to, and count that it is."""
        loop = asyncio.get_running_loop()
        while (until := self._blocked.get(place, 0.0)) > loop.time():
            await asyncio.sleep(until - loop.time())
        self._blocked.pop(place, None)
        pace = self._pace_of(place)
        if not pace.interval:
            return
        # Each turn falls due one interval after the one before; a burst may run so far ahead of that.
        due = max(self._due.get(place, 0.0), loop.time())
        self._due[place] = due + pace.interval
        self._forget_old(loop.time())
        early = due - (pace.burst - 1) * pace.interval - loop.time()
        if early > 0:
            await asyncio.sleep(early)

    def block(self, place: str, seconds: float) -> None:
        """The platform asks to leave the place alone for so many seconds."""
        until = asyncio.get_running_loop().time() + seconds
        self._blocked[place] = max(self._blocked.get(place, 0.0), until)

    def _forget_old(self, now: float) -> None:
        if len(self._due) > PLACES_REMEMBERED:
            self._due = {place: due for place, due in self._due.items() if due > now}
