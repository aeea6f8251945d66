"""Lists of tables: at which ones a person sits, which ones a chat shows, which challenges wait there.

What a list holds follows from the tables' logs. An entry is made before the commit that it follows from
(`bot.store.index`), so nobody can lose a table; what a table does not bear out is taken out when read; and delivery
makes entries again from the log (`confirm`) whenever somebody has taken a chair.
"""

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from cachetools import TTLCache

from bot.addresses import NETWORK_FACTOR, Visitor
from bot.guests import is_web_guest
from bot.platform import chat_of, is_private
from bot.store import Store, keys
from bot.store.index import Reservation
from bot.tables.errors import (
    NoSuchTable,
    TableError,
    TooManyChallenges,
    TooManyFromAddress,
    TooManyTables,
)
from bot.tables.table import Table

MOST_TABLES = 20
"""Tables at which one person may sit at a time."""

MOST_TABLES_OF_GUEST = 5
"""The same for a guest of the web pages."""

MOST_FROM_ADDRESS = 60
"""Unfinished tables that guests may have opened from one address: a class at once, two each. The network around it may
have `bot.addresses.NETWORK_FACTOR` times as many.
"""

FULL_REMEMBERED, FULL_SECONDS = 10_000, 10.0

ADDRESS_KEPT_SECONDS = 2 * 86400
"""How long the tables opened from an address are counted after the last one: guests' tables do not last longer."""

MOST_CHALLENGES = 20
"""Challenges that may wait in one chat."""

Belongs = Callable[[Table], bool]

FROM_LOG = "0.log"
"""The token of an entry that was made again from a table's log."""


class CodeTaken(Exception):
    """Another table has this code, or had it a short while ago: it is to be opened under the next."""


class TableLists:
    """The lists of one store, checked against its tables."""

    def __init__(self, store: Store, load: Callable[[str], Awaitable[Table]]) -> None:
        """``load`` has a table as the store has it; NoSuchTable if there is none."""
        self._store, self._load = store, load
        self._index = store.index
        self._full: TTLCache[str, None] = TTLCache(FULL_REMEMBERED, FULL_SECONDS)
        """Addresses that had too many tables a moment ago: to look through all of these costs much."""

    async def tables_of(self, person: str) -> list[Table]:
        """The live tables where a person sits or asks for a chair, as the store has them."""
        return await self._load_live(keys.seated(person), partial(_sits_at, person))

    async def tables_at(self, place: str) -> list[Table]:
        """The tables that a chat shows, in any of its topics."""
        return await self._load_live(keys.hosted(place), partial(_is_shown_in, chat_of(place)))

    async def has_table(self, person: str, place: str, code: str) -> bool:
        """Whether a table is on a person's list, or on that of a group: without a look at the table."""
        lists = [keys.seated(person), *([] if is_private(place) else [keys.hosted(place)])]
        return any(await asyncio.gather(*(self._index.has(key, code) for key in lists)))

    @asynccontextmanager
    async def reserve_chair(self, person: str, code: str, *, is_limited: bool = True) -> AsyncIterator[None]:
        """While somebody takes a chair; TooManyTables where they sit at as many tables as they may, if that counts."""
        if person.startswith("robot:"):
            yield
            return
        key = keys.seated(person)
        most = MOST_TABLES_OF_GUEST if is_web_guest(person) else MOST_TABLES
        made = await self._reserve(key, code, most if is_limited else None, partial(_sits_at, person))
        if made is None:
            raise TooManyTables(most=most)
        async with self._undo_if_refused(key, code, made):
            yield
        # A chair given back meanwhile takes the entry out, unless it is another one by then.
        await self._index.reserve(key, code)

    @asynccontextmanager
    async def reserve_for_visitor(self, visitor: Visitor | None, code: str) -> AsyncIterator[None]:
        """While a guest opens a table; TooManyFromAddress if the address, or the network around it, has too many.

        The store has a keyed digest of each, not the address itself.
        """
        async with AsyncExitStack() as reserved:
            for place, most in zip(
                visitor or (), (MOST_FROM_ADDRESS, NETWORK_FACTOR * MOST_FROM_ADDRESS), strict=False
            ):
                digest = hmac.digest(await self._store.secret(), place.encode(), "sha256").hex()[:24]
                key = keys.opened_from(digest)
                made = await self._index.reserve(key, code, most)
                if made is None and key not in self._full:
                    made = await self._reserve(key, code, most, _is_unfinished)
                if made is None:
                    self._full[key] = None
                    raise TooManyFromAddress()
                await self._store.client.expire(key, ADDRESS_KEPT_SECONDS)
                await reserved.enter_async_context(self._undo_if_refused(key, code, made))
            yield

    @asynccontextmanager
    async def reserve_host(self, place: str, code: str, *, is_challenge: bool = False) -> AsyncIterator[None]:
        """While a chat begins to show a table; TooManyChallenges where a group has as many as it may."""
        if not place:
            yield
            return
        if is_challenge and not is_private(place):
            key = keys.challenges(place)
            made = await self._reserve(key, code, MOST_CHALLENGES, partial(_is_open_in, chat_of(place)))
            if made is None:
                raise TooManyChallenges(most=MOST_CHALLENGES)
            async with self._undo_if_refused(key, code, made), self.reserve_host(place, code):
                yield
            return
        made = await self._index.reserve(keys.hosted(place), code)
        assert made
        async with self._undo_if_refused(keys.hosted(place), code, made):
            yield

    async def read_token(self, person: str, code: str) -> str:
        """The token of a table's entry in a person's list, to be read before they give their chair back; or nothing."""
        return (await self._index.entries(keys.seated(person))).get(code, "")

    async def remove_person(self, person: str, table: Table, token: str) -> None:
        """Somebody has given their chair back, perhaps long ago: who sits there again keeps the entry.

        ``table`` is what came of it, or was there already; ``token`` the entry's from before.
        """
        if not (table.error or _sits_at(person, table)):
            await self._index.remove_if_unchanged(keys.seated(person), table.code, token)

    async def restore_entries(self, table: Table) -> None:
        """Make the entries that follow from a live table's log, where they are missing."""
        async with self._store.client.pipeline(transaction=False) as pipe:
            for key in _lists_of(table):
                pipe.hsetnx(key, table.code, FROM_LOG)
            await pipe.execute()

    async def remove_table(self, table: Table) -> None:
        """A table is no more."""
        async with self._store.client.pipeline(transaction=False) as pipe:
            for key in (*_lists_of(table), *map(keys.challenges, table.hosts)):
                pipe.hdel(key, table.code)
            await pipe.execute()

    async def move_chat(self, old: str, new: str) -> list[str]:
        """A chat has another id: the codes of the tables that it shows, which are the new one's as well from now on."""
        codes = list(await self._index.entries(keys.hosted(old)))
        for code in codes:
            await self._index.reserve(keys.hosted(new), code)
        for code in await self._index.entries(keys.challenges(old)):
            await self._index.reserve(keys.challenges(new), code)
        return codes

    async def _reserve(self, key: str, code: str, most: int | None, belongs: Belongs) -> Reservation | None:
        """An entry; a list that is full is looked through first, for some of its tables may be no more."""
        made = await self._index.reserve(key, code, most)
        if made is None:
            await self._load_live(key, belongs)
            made = await self._index.reserve(key, code, most)
        return made

    @asynccontextmanager
    async def _undo_if_refused(self, key: str, code: str, made: Reservation) -> AsyncIterator[None]:
        try:
            yield
        except (TableError, CodeTaken):
            # The commit was refused. Where it is not known whether it came the entry stays, until somebody reads it.
            await self._index.undo_reservation(key, code, made)
            raise

    async def _load_live(self, key: str, belongs: Belongs) -> list[Table]:
        """The tables of a list that bear it out; the others are taken out of it. One that is set aside counts for
        nobody's limit; when it can be read, delivery makes its entries again. One that only this worker cannot read,
        which may be of another release than its owner, stays.
        """
        entries = await self._index.entries(key)
        # All at once, for the store is asked for them together.
        found = await asyncio.gather(*map(self._load_if_exists, entries))
        tables = []
        for (code, token), table in zip(entries.items(), found, strict=True):
            if table and not table.error and belongs(table):
                tables.append(table)
            elif table and table.error and not await self._is_set_aside(code):
                continue
            elif table is None or table.phase == "open":
                # A commit may be on its way that bears it out.
                await self._index.remove_if_settled(key, code, token)
            else:
                await self._index.remove_if_unchanged(key, code, token)
        return sorted(tables, key=lambda table: table.code)

    async def _is_set_aside(self, code: str) -> bool:
        return code in await self._store.set_aside_tables([keys.shard_of(code)])

    async def _load_if_exists(self, code: str) -> Table | None:
        try:
            return await self._load(code)
        except NoSuchTable:
            return None


def _sits_at(person: str, table: Table) -> bool:
    asks = any(chair.person == person for chair in table.asking.values())
    return table.phase in ("open", "playing") and (asks or table.seat_of(person) is not None)


def _is_shown_in(chat: str, table: Table) -> bool:
    return any(chat_of(place) == chat for place in table.hosts)


def _is_unfinished(table: Table) -> bool:
    return table.phase in ("open", "playing")


def _is_open_in(chat: str, table: Table) -> bool:
    return table.phase == "open" and _is_shown_in(chat, table)


def _lists_of(table: Table) -> Iterator[str]:
    """The lists that a table belongs in for as long as it lives."""
    for chair in (*table.chairs, *table.asking.values()):
        if chair and not chair.is_robot:
            yield keys.seated(chair.person)
    yield from map(keys.hosted, table.hosts)
