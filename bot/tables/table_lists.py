"""Lists of tables, by person and by chat, and of the open challenges in a chat.

The lists follow from the tables' logs. An entry is made before its commit (`bot.store.index`), so no table can be lost.
A reader removes entries that their table does not confirm. Delivery restores entries from the log (`restore_entries`)
each time a person has taken a chair.
"""

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from cachetools import TTLCache

from bot.http.addresses import NETWORK_FACTOR, Visitor
from bot.identity.programs import is_web_guest
from bot.platform import chat_of, is_private
from bot.store import Store, keys
from bot.tables import errors
from bot.tables.checks import check_not_banned
from bot.tables.limits import MAX_CHALLENGES, MAX_FROM_ADDRESS, MAX_TABLES, MAX_TABLES_OF_GUEST
from bot.tables.table import Table

FULL_REMEMBERED, FULL_SECONDS = 10_000, 10.0
# Lifetime of an address's list after its last entry. A guest's table of a duel lives up to two weeks.
ADDRESS_KEPT_SECONDS = 15 * 86400

Belongs = Callable[[Table], bool]

FROM_LOG = "0.log"  # token of an entry that was restored from a table's log


class TableLists:
    """The lists of one store, checked against its tables."""

    def __init__(self, store: Store, load: Callable[[str], Awaitable[Table]]) -> None:
        """``load`` reads a table from the store, or raises NoSuchTable."""
        self._store, self._load = store, load
        self._index = store.index
        # Addresses that were over their limit a moment ago. Checking all their tables is expensive.
        self._full: TTLCache[str, None] = TTLCache(FULL_REMEMBERED, FULL_SECONDS)

    async def tables_of(self, person: str) -> list[Table]:
        """Load the live tables with a person in a chair, or asking for one."""
        return await self._load_live(keys.tables_of_person(person), partial(_sits_at, person))

    async def tables_at(self, place: str) -> list[Table]:
        """Load the tables that a chat shows, in any of its topics."""
        return await self._load_live(keys.tables_of_chat(place), partial(_is_shown_in, chat_of(place)))

    async def has_table(self, person: str, place: str, code: str) -> bool:
        """Return whether a table is in the list of a person or a group, without loading the table."""
        lists = [keys.tables_of_person(person)]
        if not is_private(place):
            lists.append(keys.tables_of_chat(place))
        return any(await asyncio.gather(*(self._index.has(key, code) for key in lists)))

    @asynccontextmanager
    async def reserve_chair(self, person: str, code: str, *, is_limited: bool = True) -> AsyncIterator[None]:
        """Reserve an entry while a person takes a chair.

        Raises Banned. If ``is_limited``, raises TooManyTables at the person's limit.
        """
        if person.startswith("robot:"):
            yield
            return
        check_not_banned(self._store.levers, person)
        key = keys.tables_of_person(person)
        limit = MAX_TABLES_OF_GUEST if is_web_guest(person) else MAX_TABLES
        load_live = partial(self._load_live, key, partial(_sits_at, person))
        error = errors.TooManyTables(most=limit)
        async with self._index.reserve_for_commit(key, code, limit if is_limited else None, load_live, error):
            yield
        # `remove_person` for an earlier chair here might have removed the entry. From now on, a new token protects it.
        await self._index.reserve(key, code)

    @asynccontextmanager
    async def reserve_for_visitor(self, visitor: Visitor | None, code: str) -> AsyncIterator[None]:
        """Reserve entries while a guest opens a table.

        Raises TooManyFromAddress if their address or its network has too many. The store has a keyed digest of each,
        not the address itself.
        """
        async with AsyncExitStack() as reserved:
            for place, limit in zip(visitor or (), (MAX_FROM_ADDRESS, NETWORK_FACTOR * MAX_FROM_ADDRESS), strict=False):
                digest = hmac.digest(await self._store.secret(), place.encode(), "sha256").hex()[:24]
                key = keys.tables_from_address(digest)
                load_live = (
                    None if key in self._full else partial(self._load_live, key, lambda table: table.is_unfinished)
                )
                reservation = self._index.reserve_for_commit(key, code, limit, load_live, errors.TooManyFromAddress())
                try:
                    await reserved.enter_async_context(reservation)
                except errors.TooManyFromAddress:
                    self._full[key] = None
                    raise
                await self._store.client.expire(key, ADDRESS_KEPT_SECONDS)
            yield

    @asynccontextmanager
    async def reserve_host(self, place: str, code: str, *, is_challenge: bool = False) -> AsyncIterator[None]:
        """Reserve an entry while a chat begins to show a table. Raises TooManyChallenges if a group is at its limit."""
        if not place:
            yield
            return
        if is_challenge and not is_private(place):
            key = keys.challenges(place)
            load_live = partial(self._load_live, key, partial(_is_open_in, chat_of(place)))
            error = errors.TooManyChallenges(most=MAX_CHALLENGES)
            reservation = self._index.reserve_for_commit(key, code, MAX_CHALLENGES, load_live, error)
            async with reservation, self.reserve_host(place, code):
                yield
            return
        async with self._index.reserve_for_commit(keys.tables_of_chat(place), code):
            yield

    async def read_token(self, person: str, code: str) -> str:
        """Return the token of a person's entry, or an empty string. Read it before they give back their chair."""
        return (await self._index.entries(keys.tables_of_person(person))).get(code, "")

    async def remove_person(self, person: str, table: Table, token: str) -> None:
        """Remove the entry of a person who gave back their chair, perhaps some time ago.

        Keep it if they sit there again. ``table`` is the table after they gave back the chair, or later. ``token`` is
        the entry's token from before that.
        """
        if not (table.error or _sits_at(person, table)):
            await self._index.remove_if_unchanged(keys.tables_of_person(person), table.code, token)

    async def restore_entries(self, table: Table) -> None:
        """Restore missing entries from a live table's log."""
        async with self._store.client.pipeline(transaction=False) as pipe:
            for key in _lists_of(table):
                pipe.hsetnx(key, table.code, FROM_LOG)
            await pipe.execute()

    async def remove_table(self, table: Table) -> None:
        async with self._store.client.pipeline(transaction=False) as pipe:
            for key in (*_lists_of(table), *map(keys.challenges, table.hosts)):
                pipe.hdel(key, table.code)
            await pipe.execute()

    async def move_chat(self, old_id: str, new_id: str) -> list[str]:
        """Copy the entries of a chat to its new id. Return the codes of the tables that it shows."""
        codes = list(await self._index.entries(keys.tables_of_chat(old_id)))
        for code in codes:
            await self._index.reserve(keys.tables_of_chat(new_id), code)
        for code in await self._index.entries(keys.challenges(old_id)):
            await self._index.reserve(keys.challenges(new_id), code)
        return codes

    async def _load_live(self, key: str, belongs: Belongs) -> list[Table]:
        """Return the tables that confirm their entry, and remove the other entries.

        A table that is set aside counts toward no limit. Delivery restores its entries once the table can be read. The
        entry stays if only this worker cannot read the table, because its owner can have a different release.
        """
        entries = await self._index.entries(key)
        # Do this all at once, so that the store gets one combined request.
        found = await asyncio.gather(*map(self._load_if_exists, entries))
        tables = []
        for (code, token), table in zip(entries.items(), found, strict=True):
            if table and not table.error and belongs(table):
                tables.append(table)
            elif table and table.error and code not in await self._store.set_aside_tables([keys.shard_of(code)]):
                continue
            elif table is None or table.phase == "open":
                # A commit that confirms the entry can be pending.
                await self._index.remove_if_settled(key, code, token)
            else:
                await self._index.remove_if_unchanged(key, code, token)
        return sorted(tables, key=lambda table: table.code)

    async def _load_if_exists(self, code: str) -> Table | None:
        try:
            return await self._load(code)
        except errors.NoSuchTable:
            return None


def _sits_at(person: str, table: Table) -> bool:
    return table.is_unfinished and person in table.people


def _is_shown_in(chat: str, table: Table) -> bool:
    return any(chat_of(place) == chat for place in table.hosts)


def _is_open_in(chat: str, table: Table) -> bool:
    return table.phase == "open" and _is_shown_in(chat, table)


def _lists_of(table: Table) -> Iterator[str]:
    for chair in (*table.chairs, *table.asking.values()):
        if chair and not chair.is_robot:
            yield keys.tables_of_person(chair.person)
    yield from map(keys.tables_of_chat, table.hosts)
