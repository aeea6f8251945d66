"""The tables at which anyone may sit down.

The store has only their codes. Their logs say what they are, and whether they still wait for players. A table is
listed while its opener has a page open, so that visitors find somebody there.
"""

import asyncio
import time
from typing import Any

from bot.features.open_tables import keys
from bot.identity.programs import is_web_guest
from bot.presence import Presence
from bot.tables.checks import check_open, check_opener
from bot.tables.errors import NoSuchTable, NotYoursToDecide
from bot.tables.room import Room
from bot.tables.table import Table

LISTED = 12  # tables on the first page
FRESH_SECONDS = 2.0  # time for which a worker keeps its list


def is_by_link(table: Table) -> bool:
    """Return whether a guest opened this table on a page for anyone who has its link.

    The names of people from chats are not for strangers. They meet with /find, under nicknames.
    """
    return table.origin == "page" and is_web_guest(table.opener.person) and not (table.invited or table.rematch_origin)


class OpenTables:
    """The open tables of one store. Methods can raise store errors."""

    def __init__(self, client: Any, room: Room, presence: Presence) -> None:
        self._client, self._room, self._presence = client, room, presence
        self._listed: list[Table] = []
        self._read_at = 0.0

    async def is_open(self, code: str) -> bool:
        return bool(await self._client.hexists(keys.TABLES, code))

    async def choose(self, code: str, person: str, *, is_open: bool) -> None:
        """Open a table to anyone, or only to people with its link. Raise a TableError unless its opener can."""
        table = await self._room.table(code)
        check_open(table)
        check_opener(table, person)
        if not is_by_link(table):
            raise NotYoursToDecide()
        if is_open:
            await self._client.hset(keys.TABLES, code, person)
        else:
            await self._client.hdel(keys.TABLES, code)
        self._read_at = 0.0

    async def tables(self) -> list[Table]:
        """Return the tables that wait for anyone: the fewest free seats first."""
        if time.monotonic() - self._read_at > FRESH_SECONDS:
            openers = await self._openers()
            here = await self._presence.here(set(openers.values()))
            tables = await self._load([code for code, opener in openers.items() if opener in here])
            waiting = [table for table in tables if table.phase == "open" and not table.is_full]
            waiting.sort(key=lambda table: (sum(chair is None for chair in table.chairs), table.code))
            self._listed, self._read_at = waiting[:LISTED], time.monotonic()
        return self._listed

    async def codes_of(self, person: str) -> list[str]:
        return sorted(code for code, opener in (await self._openers()).items() if opener == person)

    async def forget(self, person: str) -> None:
        if codes := await self.codes_of(person):
            await self._client.hdel(keys.TABLES, *codes)

    async def remove_begun(self) -> None:
        """Delete the codes of tables that have begun their game or are gone."""
        codes = list(await self._openers())
        waiting = {table.code for table in await self._load(codes) if table.phase in ("open", "unreadable")}
        if begun := [code for code in codes if code not in waiting]:
            await self._client.hdel(keys.TABLES, *begun)

    async def _openers(self) -> dict[str, str]:
        return {code.decode(): opener.decode() for code, opener in (await self._client.hgetall(keys.TABLES)).items()}

    async def _load(self, codes: list[str]) -> list[Table]:
        found = await asyncio.gather(*map(self._load_if_exists, codes))
        return [table for table in found if table]

    async def _load_if_exists(self, code: str) -> Table | None:
        try:
            return await self._room.load(code)
        except NoSuchTable:
            return None
