"""Presence: the people who have a page of the site open.

Pages give signs: a table's page by its heartbeats, others by their requests. A worker keeps signs in memory and writes
them together every `ROUND_SECONDS`. In the same call it reads the signs of the people at its open tables. So
handling a press writes nothing, and all workers see all pages.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

from bot.store import keys
from bot.store.batch import BatchedScript
from bot.store.lua import read_script
from bot.store.outage import STORE_ERRORS, Outage

ROUND_SECONDS = 1.5  # interval at which signs are written and read
AWAY_SECONDS = 5.5  # silence after which a player's seat shows that they are away; a table's page beats every 3 seconds
HERE_SECONDS = 15  # silence after which a person is no longer here
SCRIPT = read_script(__file__, "presence")


class Presence:
    def __init__(self, client: Any, outage: Outage) -> None:
        self._script, self._outage = BatchedScript(client, SCRIPT), outage
        self._signs: dict[str, float] = {}  # last sign of each person, until it is written
        self._last_signs: dict[str, float] = {}  # last sign of each followed person
        self._away: frozenset[str] = frozenset()
        self.followed_sources: list[Callable[[], Iterable[str]]] = []  # return people whose presence is shown live
        self.watchers: list[Callable[[Collection[str]], None]] = []  # called with people who have come or gone

    def note(self, person: str) -> None:
        """Note a sign of an open page. Writes nothing."""
        self._signs[person] = time.monotonic()

    def is_away(self, person: str) -> bool:
        """Return whether a followed person has had no page open for `AWAY_SECONDS`."""
        return person in self._away

    async def here(self, people: Collection[str]) -> set[str]:
        """Return which of these people have a page open. Can raise a store error."""
        _, *ages = await self._run({}, people) if people else (0,)
        return {person for person, age in zip(people, ages, strict=True) if age is not None}

    async def count(self) -> int:
        """Return the number of people with a page open. Can raise a store error."""
        return int((await self._run({}, ()))[0])

    async def run(self) -> None:
        while True:
            await self.exchange()
            await asyncio.sleep(ROUND_SECONDS)

    async def exchange(self) -> None:
        """Write new signs, and read those of the followed people. During an outage they all count as present."""
        signs, self._signs = self._signs, {}
        followed = sorted({person for people in self.followed_sources for person in people()})
        now = time.monotonic()
        self._last_signs = {person: self._last_signs.get(person, now) for person in followed}
        if signs or followed:
            try:
                _, *ages = await self._run({person: now - signed_at for person, signed_at in signs.items()}, followed)
            except STORE_ERRORS as error:
                self._outage.begin(error)
                self._last_signs = {}
            else:
                read = zip(followed, ages, strict=True)
                self._last_signs |= {person: now - float(age) for person, age in read if age is not None}
        away = frozenset(person for person, signed_at in self._last_signs.items() if now - signed_at > AWAY_SECONDS)
        changed_people = self._away ^ away
        self._away = away
        if changed_people:
            for watch in self.watchers:
                watch(changed_people)

    async def _run(self, signs: dict[str, float], people: Iterable[str]) -> Any:
        arguments = [word for person, age in signs.items() for word in (person, f"{age:.3f}")]
        return await self._script([keys.HERE], [HERE_SECONDS, len(signs), *arguments, *people])
