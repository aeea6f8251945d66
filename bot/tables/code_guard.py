"""Protection against guessed codes of tables and features, for chats, pages and programs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.platform import Person
from bot.rate_limiter import RateLimit
from bot.store import keys
from bot.store.lua import read_script
from bot.tables.errors import TableError
from bot.tables.room import Room
from engine.errors import EngineError

WRONG_CODES = RateLimit(burst=5, interval=3600.0)  # of one person
TAKE = read_script(__file__, "tries")


class TooManyCodes(TableError):
    """``minutes`` is the time to wait."""

    sentence = "Too many wrong codes: try again in {minutes} min, or press the button on the challenge."

    def __init__(self, minutes: int) -> None:
        super().__init__(minutes=minutes)
        self.minutes = minutes


class CodeGuard:
    """Counts each person's wrong guesses of codes, in the store."""

    def __init__(self, room: Room) -> None:
        self._room, self._take = room, room.store.client.register_script(TAKE)

    @asynccontextmanager
    async def count_guess(self, person: Person, place: str, code: str) -> AsyncIterator[None]:
        """Count a wrong guess if the body fails and the person did not know the code of a table.

        Raises TooManyCodes above the limit.
        """
        if await self.knows(person, place, code):
            yield
            return
        async with self.count_unknown(person):
            try:
                yield
            except EngineError:
                table = self._room.cached_table(code)
                if table is not None and person.id in table.people:
                    await self._add(person, -1)
                raise

    @asynccontextmanager
    async def count_unknown(self, person: Person) -> AsyncIterator[None]:
        """Count a wrong guess if the body fails. Use it for a code that the person does not know.

        Raises TooManyCodes above the limit.
        """
        # Count before the code is checked, so that parallel guesses count too.
        wait = await self._add(person, 1)
        if wait > 0:
            raise TooManyCodes(minutes=-(-wait // 60_000))
        yield
        await self._add(person, -1)

    async def knows(self, person: Person, place: str, code: str) -> bool:
        """Return whether a person knows a code: they sit at the table, or the place shows it."""
        table = self._room.cached_table(code)
        if table is not None and (person.id in table.people or place in table.hosts):
            return True
        # Another worker, or this one before a restart, might have seated the person.
        return await self._room.lists.has_table(person.id, place, code)

    async def _add(self, person: Person, count: int) -> int:
        """Count a guess, or take one back; return the milliseconds to wait, 0 if the guess was counted."""
        interval = round(1000 * WRONG_CODES.interval)
        return int(await self._take(keys=[keys.tries(person.id)], args=[count, WRONG_CODES.burst, interval]))
