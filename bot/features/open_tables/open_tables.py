"""The tables at which anyone may sit down.

The store has only their codes. Their logs say what they are, and whether they still wait for players. A table is
listed while its opener has a page open, so that visitors find a player there.
"""

import asyncio
import time
from hashlib import sha256
from typing import Any

from bot.features.open_tables import keys
from bot.identity.programs import is_program, is_web_guest
from bot.presence import Presence
from bot.store.entries import AnyoneCanSit, Entry
from bot.tables.blocks import Blocks
from bot.tables.checks import check_open
from bot.tables.errors import NoSuchTable, NotYoursToDecide
from bot.tables.room import Room
from bot.tables.table import Table

FRESH_SECONDS = 2.0  # time for which a worker keeps its list


def is_by_link(table: Table) -> bool:
    """Return whether a guest opened this table on a page for anyone who has its link.

    The names of people from chats are not for strangers. Such people meet strangers under nicknames, with /find and at
    listed tables. A table is not listed while such a person sits there under their own name.
    """
    if table.invited or table.rematch_origin or not is_web_guest(table.opener.person):
        return False
    return table.was_listed or (table.origin == "page" and not any(map(_is_of_chat, table.people)))


def _is_of_chat(person: str) -> bool:
    return not (person.startswith("robot:") or is_web_guest(person) or is_program(person))


def check_can_list(table: Table) -> None:
    check_open(table)
    if not is_by_link(table):
        raise NotYoursToDecide()


def _list_once(table: Table) -> list[Entry]:
    """Return the entry that lists the table, unless its log has one. The entry means that players can be strangers."""
    check_can_list(table)
    return [] if table.was_listed else [AnyoneCanSit()]


def _order(table: Table) -> tuple[int, bytes]:
    """Return a sort key: the fewest free seats first, then an order that changes every hour."""
    draw = sha256(f"{time.time() // 3600} {table.code}".encode()).digest()
    return sum(chair is None for chair in table.chairs), draw


class OpenTables:
    """The open tables of one store. Methods can raise store errors."""

    def __init__(self, client: Any, room: Room, presence: Presence, blocks: Blocks) -> None:
        self._client, self._room, self._presence, self._blocks = client, room, presence, blocks
        self._listed: list[Table] = []
        self._read_at = 0.0
        self._reading = asyncio.Lock()

    async def is_open(self, code: str) -> bool:
        return bool(await self._client.hexists(keys.TABLES, code))

    async def choose(self, code: str, person: str, *, is_open: bool) -> None:
        """Open a table to anyone, or only to people with its link. Raise a TableError if this person cannot.

        An unknown code and the code of another person's table raise the same error, because codes can be guessed.
        """
        table = await self._room.table(code)
        if table.opener.person != person:
            raise NoSuchTable(code=code)
        check_can_list(table)
        if is_open:
            await self._room.commit(code, f"anyone {code}", _list_once)
            await self._client.hset(keys.TABLES, code, person)
        else:
            await self._client.hdel(keys.TABLES, code)
        self._read_at = 0.0

    async def tables_for(self, person: str) -> list[Table]:
        """Return the tables at which a person can sit down, one of each opener: the fewest free seats first.

        A table is left out if one of its people has blocked the person, or the person one of its people. ``person`` is
        empty for a new visitor.
        """
        async with self._reading:
            if time.monotonic() - self._read_at > FRESH_SECONDS:
                self._listed, self._read_at = await self._read(), time.monotonic()
            listed_tables = self._listed
        people = frozenset[str]().union(*(table.people for table in listed_tables))
        hidden_people = {person} | await self._blocks.apart_from(person, people)
        return [table for table in listed_tables if not hidden_people & table.people]

    async def _read(self) -> list[Table]:
        openers = await self._openers()
        present_people = await self._presence.here(set(openers.values()))
        tables = await self._load([code for code, opener in openers.items() if opener in present_people])
        waiting = sorted((table for table in tables if table.phase == "open" and not table.is_full), key=_order)
        first_tables: dict[str, Table] = {}
        for table in waiting:
            first_tables.setdefault(table.opener.person, table)
        return list(first_tables.values())

    async def codes_of(self, person: str) -> list[str]:
        return sorted(code for code, opener in (await self._openers()).items() if opener == person)

    async def forget(self, person: str) -> None:
        if codes := await self.codes_of(person):
            await self._client.hdel(keys.TABLES, *codes)

    async def remove_begun(self) -> None:
        """Delete the codes of tables that have begun their game or are gone."""
        codes = list(await self._openers())
        waiting = {table.code for table in await self._load(codes) if table.phase in ("open", "unreadable")}
        if begun_codes := [code for code in codes if code not in waiting]:
            await self._client.hdel(keys.TABLES, *begun_codes)

    async def _openers(self) -> dict[str, str]:
        return {code.decode(): opener.decode() for code, opener in (await self._client.hgetall(keys.TABLES)).items()}

    async def _load(self, codes: list[str]) -> list[Table]:
        tables = await asyncio.gather(*map(self._load_if_exists, codes))
        return [table for table in tables if table]

    async def _load_if_exists(self, code: str) -> Table | None:
        try:
            return await self._room.load(code)
        except NoSuchTable:
            return None
