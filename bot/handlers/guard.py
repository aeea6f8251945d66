"""Guards tables whose code somebody may have guessed: the same for the chat, the pages and programs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from bot.handlers.limits import Tries
from bot.platform import Person
from bot.tables.room import Room


class Guard:
    """Counts codes that a person may have guessed."""

    def __init__(self, room: Room, tries: Tries) -> None:
        self._room, self._tries = room, tries

    @asynccontextmanager
    async def count_guess(self, person: Person, place: str, code: str) -> AsyncIterator[None]:
        """Do something at a table inside. It counts as a try if the code may be a guess (`Tries.counted`)."""
        if await self.knows(person, place, code):
            yield
            return
        async with self._tries.count_if_failed(person, partial(self._is_at_table, person, code)):
            yield

    async def knows(self, person: Person, place: str, code: str) -> bool:
        """Return whether a code is no guess of this person's: they sit there, or the place shows the table."""
        table = self._room.cached_table(code)
        if table is not None and (person.id in table.people or place in table.hosts):
            return True
        # They may have sat down by another worker, or before this one was started.
        return await self._room.lists.has_table(person.id, place, code)

    def _is_at_table(self, person: Person, code: str) -> bool:
        """Return whether somebody sits at a table or asks for a chair there, as far as this worker knows."""
        table = self._room.cached_table(code)
        return table is not None and person.id in table.people
