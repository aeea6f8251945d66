"""A worker's tables: those it has in memory, and the commits by which they grow in the store."""

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable

from cachetools import LRUCache

from bot.store import Appended, Behind, Gone, Store, keys
from bot.store.committed import Committed
from bot.store.log import Log
from bot.store.naming import people_in
from bot.tables.clock import next_alarm
from bot.tables.errors import NoSuchTable, SetAside
from bot.tables.table import Table

TABLES_REMEMBERED = 25_000
"""How many tables a worker keeps in memory, at some 10 kB each; a forgotten one costs a round trip and a replay."""

ROBOT_PAUSE = 1.0
"""Seconds that a robot lets pass before its move: less is hard to follow."""

Decision = Callable[[Table], Table]
"""Given the table as it stands, the one that follows, or the same if nothing is to be done; raises what is wrong."""


class Ledger:
    """Tables of one store. Several workers may have the same table in memory; the store takes the first who writes."""

    def __init__(
        self,
        store: Store,
        new_secret: Callable[[int], bytes] = secrets.token_bytes,
        robot_pause: float = ROBOT_PAUSE,
    ) -> None:
        self.store = store
        self.robot_pause = robot_pause
        self.watchers: list[Callable[[Table, float | None], None]] = []
        """Called after each commit with the table and in how many seconds its clock rings, if that has changed."""
        self.delivers: Callable[[str], bool] = lambda _code: False
        """Whether this worker delivers a table. Who else does is told by the commit itself (`bot.store.committed`)."""
        self.on_unreadable: Callable[[Table], Awaitable[None]] | None = None
        """Called with a table that the rules refuse whenever it is loaded: nothing is done about it here."""
        self._new_secret = new_secret
        self._remembered: LRUCache[str, Table] = LRUCache(TABLES_REMEMBERED)

    async def table(self, code: str) -> Table:
        """A table as the store has it, to decide by; NoSuchTable if there is none, SetAside if it cannot be read."""
        return self._readable(await self.load(code))

    async def cached(self, code: str) -> Table:
        """A table as this worker last saw it, to draw by: it may be a little old. NoSuchTable if there is none."""
        return self._remembered.get(code) or await self.load(code)

    async def load(self, code: str, *, confirmed: bool = False) -> Table:
        """A table as the store has it, whether all of it can be read or not; NoSuchTable if there is none.

        Of a table that is in memory only what came since is fetched and read. ``confirmed`` if replicas are to have it.
        """
        table = self._remembered.get(code) or Table(code)
        try:
            behind = await self.store.since(code, table.log, confirmed=confirmed)
        except ValueError:
            return await self._noted(Table.unreadable(code, "it is not a log"))
        return await self._caught_up(table, behind)

    async def _caught_up(self, table: Table, behind: Behind) -> Table:
        """A table with what it lacked."""
        if behind.whole:
            self.forget(table.code)
            table = Table.from_log(table.code, Log(behind.entries), table)
        elif behind.entries:
            table = table.caught_up(behind.entries)
        if not table.exists:
            self.forget(table.code)
            raise NoSuchTable(code=table.code)
        return await self._noted(table)

    async def _noted(self, table: Table) -> Table:
        """Keep a table in memory; of one that cannot be read whoever minds it is told."""
        if table.error and self.on_unreadable:
            await self.on_unreadable(table)
        return self._remember(table)

    @staticmethod
    def _readable(table: Table) -> Table:
        if table.error:
            raise SetAside(code=table.code)
        return table

    def remembered(self, code: str) -> Table | None:
        """A table as this worker last saw it, if it has it in memory."""
        return self._remembered.get(code)

    def remembers(self, code: str) -> bool:
        """Whether this worker has the table in memory."""
        return code in self._remembered

    def is_playing_at(self, code: str, version: int) -> bool:
        """Whether a table in memory has this version, and a game under way."""
        table = self._remembered.get(code)
        return table is not None and table.version == version and table.phase == "playing"

    def by_phase(self) -> Counter[str]:
        """How many of the tables in memory are open, and how many are being played at."""
        return Counter(table.phase for table in self._remembered.values())

    def forget(self, code: str) -> None:
        """Drop a table from memory; the store keeps it."""
        self._remembered.pop(code, None)

    def follow(self, told: Committed) -> bool:
        """Add to a table in memory what another worker has committed.

        False where that is not the very next thing there, or this version cannot read it: then it is to be loaded.
        """
        table = self._remembered.get(told.code) or Table(told.code)
        if table.error or (table.version, table.log.last) != (told.version, told.last):
            return False
        after = table.caught_up(told.entries)
        if after.error:
            return False
        self._remember(after)
        return True

    async def _commit(self, code: str, update: str, decide: Decision, about: object = None) -> Table:
        """Decide on the table and write what follows; ``about`` as for `Store.append`.

        A table in memory may be old, and is good for deciding what to write, for the store refuses what is behind. That
        nothing is to be written, or something is wrong, is decided on the store's latest.
        """
        table = self._remembered.get(code)
        is_latest = table is None
        if table is None:
            table = await self.load(code, confirmed=True)
        while True:
            fault: Exception | None = None
            after = table
            if not table.log.has_seen(update):
                try:
                    after = decide(self._readable(table))
                except Exception as error:  # noqa: BLE001  it is raised below, if it is still so
                    fault = error
            if after.version > table.version:
                result = await self._write(table, after, about)
                if isinstance(result, Table):
                    return result
                # A table that has a log is never gone: that is told to who opens one.
                assert isinstance(result, Behind)
                table, is_latest = await self._caught_up(table, result), True
                continue
            if not is_latest:
                latest = await self.load(code, confirmed=True)
                is_latest = True
                if latest is not table:
                    table = latest
                    continue
            if fault:
                raise fault
            return self._remember(table)

    async def _write(self, table: Table, after: Table, about: object = None) -> Table | Behind | Gone:
        """Have a table go on; why it could not, where the store's has gone on otherwise."""
        entries = after.log.entries[table.version :]
        alarm = next_alarm(table, after, self.robot_pause)
        # Before the commit: a crash in between leaves one name too many, never one too few.
        people = people_in(entries)
        new = {person for person in people if await self.store.client.sadd(keys.named(person), table.code)}
        tell = not self.delivers(table.code)
        result = await self.store.append(table.code, table.log, entries, clock=alarm, tell=tell, about=about)
        if not isinstance(result, Appended):
            await self._take_back(table, new, result)
            return result
        for person in people - new:
            # Another worker may have entered them, been refused, and taken them out meanwhile.
            await self.store.client.sadd(keys.named(person), table.code)
        self._remember(after)
        for watcher in self.watchers:
            watcher(after, alarm)
        return after

    async def _take_back(self, table: Table, people: set[str], refused: Behind | Gone) -> None:
        """Take out the names that this worker entered for a commit that was refused, but for those the log has."""
        if isinstance(refused, Behind):
            before = () if refused.whole else table.log.entries
            people = people - people_in([*before, *refused.entries])
        for person in people:
            await self.store.client.srem(keys.named(person), table.code)

    async def rewrite(self, table: Table, log: Log) -> bool:
        """Put another log in place of a table's, as `Store.rewrite` does; False if the table has gone on meanwhile."""
        after = Table.from_log(table.code, log)
        alarm = None if after.error else next_alarm(table, after, self.robot_pause)
        tell = not self.delivers(table.code)
        if not await self.store.rewrite(table.code, table.log, log, clock=alarm, tell=tell):
            return False
        self._remember(after)
        for watcher in self.watchers:
            watcher(after, alarm)
        return True

    def _remember(self, table: Table) -> Table:
        """Keep the newest table that this worker knows under its code."""
        known = self._remembered.get(table.code)
        newest = known if known and known.version > table.version else table
        self._remembered[table.code] = newest
        return newest
