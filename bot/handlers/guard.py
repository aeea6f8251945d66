"""Protection against guessed table codes, for chats, pages and programs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from bot.handlers.limits import Tries
from bot.platform import Person
from bot.tables.room import Room


class Guard:
    """Counts codes that a person can have guessed."""

    def __init__(self, room: Room, tries: Tries) -> None:
        self._room, self._tries = room, tries

    @asynccontextmanager
    async def count_guess(self, person: Person, place: str, code: str) -> AsyncIterator[None]:
        """Count the body as a try if it fails and the code can be a guess (`Tries.count_if_failed`)."""
        if await self.knows(person, place, code):
            yield
            return
        async with self._tries.count_if_failed(person, partial(self._is_at_table, person, code)):
            yield

    async def knows(self, person: Person, place: str, code: str) -> bool:
        """Return whether a person knows a code: they sit at the table, or the place shows it."""
        table = self._room.cached_table(code)
        if table is not None and (person.id in table.people or place in table.hosts):
            return True
        # Another worker can have seated them, or this one before a restart.
        return await self._room.lists.has_table(person.id, place, code)

    def _is_at_table(self, person: Person, code: str) -> bool:
        """Return whether this worker knows that a person sits at a table or asks for a chair there."""
        table = self._room.cached_table(code)
        return table is not None and person.id in table.people
