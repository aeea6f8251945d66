"""The tables in a worker's memory, kept up to date with the store."""

from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import structlog

from bot.cluster.shards import Shards
from bot.store import NewEntries, Store
from bot.store.commit_notification import CommitNotification
from bot.store.log import Log
from bot.tables.errors import NoSuchTable, SetAside
from bot.tables.table import Table

TABLES_CACHED = 25_000  # tables in memory, about 10 kB each; loading any other costs a round trip and a replay

log = structlog.get_logger()


class Commit(NamedTuple):
    """A commit to a table, by this worker or another.

    ``clock`` is the number of seconds until the table's clock rings, or None if unchanged. ``details`` is the
    committer's note. ``is_known``: this worker's memory has the commit.
    """

    code: str
    clock: float | None = None
    details: Any = None
    is_known: bool = True


class TableMemory:
    """The tables of one store, for one worker.

    ``watchers`` are called after each commit of this worker, and after other workers' commits to tables that this one
    delivers. Without ``shards`` other workers deliver all tables.
    """

    def __init__(self, store: Store, shards: Shards | None = None) -> None:
        self.store, self._shards = store, shards
        self.watchers: list[Callable[[Commit], None]] = []
        self._tables: OrderedDict[str, Table] = OrderedDict()  # the least recently loaded or changed comes first

    async def table(self, code: str) -> Table:
        """Load the current state of a table, to change it or to check a rule.

        Raises NoSuchTable if it does not exist, SetAside if it is unreadable.
        """
        return self.require_readable(await self.load(code))

    async def load_cached(self, code: str) -> Table:
        """Return a table to draw, from memory if possible: it can be slightly old.

        Raises NoSuchTable if it does not exist.
        """
        return self._tables.get(code) or await self.load(code)

    async def load(self, code: str, *, confirmed: bool = False) -> Table:
        """Load a table from the store, even if it is unreadable. Raises NoSuchTable if it does not exist.

        For a table in memory only newer entries are fetched and read. With ``confirmed``, replicas must have them.
        """
        table = self._tables.get(code) or Table(code)
        try:
            new_entries = await self.store.entries_since(code, table.log, confirmed=confirmed)
        except ValueError:
            # An unreadable table has a low version, and `_keep_newest` keeps the higher one.
            self.forget(code)
            return await self._cache(Table.unreadable(code, "it is not a log"))
        return await self._apply_new_entries(table, new_entries)

    async def load_recent(self, code: str) -> Table:
        """Load a table for a spectator. A removed table is still found for a minute.

        Another worker can remove a table before this worker has shown its end.
        """
        try:
            return await self.load(code)
        except NoSuchTable:
            log = await self.store.removed_log(code)
            if not log.entries:
                raise
            return Table.from_log(code, log)

    async def _apply_new_entries(self, table: Table, new_entries: NewEntries) -> Table:
        if new_entries.whole:
            self.forget(table.code)
            table = Table.from_log(table.code, Log(new_entries.entries), table)
        elif new_entries.entries:
            table = table.with_stored_entries(new_entries.entries)
        if not table.exists:
            self.forget(table.code)
            raise NoSuchTable(code=table.code)
        return await self._cache(table)

    async def _cache(self, table: Table) -> Table:
        """Keep a table in memory. Its owner's release decides whether it is unreadable and must be set aside."""
        if table.error and self._shards:
            if not self._shards.owns(table.code):
                await self._shards.notify({"code": table.code})
            elif await self.store.set_aside(table.code, table.version):
                log.error("table_set_aside", table=table.code, why=table.error)
                self._notify_watchers(Commit(table.code))
        return self._keep_newest(table)

    async def resume(self, code: str) -> None:
        """Resume a table that was set aside, if this release can read it."""
        with suppress(NoSuchTable):
            table = await self.load(code)
            if not table.error:
                await self.store.resume(code, table.version)
                self._notify_watchers(Commit(code))

    @staticmethod
    def require_readable(table: Table) -> Table:
        if table.error:
            raise SetAside(code=table.code)
        return table

    def cached_table(self, code: str) -> Table | None:
        return self._tables.get(code)

    def is_playing_at(self, code: str, version: int) -> bool:
        """Return whether a table in memory has this version and a running game."""
        table = self._tables.get(code)
        return table is not None and table.version == version and table.phase == "playing"

    def count_by_phase(self) -> Counter[str]:
        return Counter(table.phase for table in self._tables.values())

    def forget(self, code: str) -> None:
        """Drop a table from memory. The store still has it."""
        self._tables.pop(code, None)

    def handle_commit(self, notification: CommitNotification) -> None:
        """Handle another worker's commit to a table that this worker delivers."""
        # Commits that replicas have not confirmed can be lost, so they are not applied.
        is_known = not self.store.replicas and self.apply_commit(notification)
        self._notify_watchers(Commit(notification.code, notification.clock, notification.details, is_known))

    def apply_commit(self, notification: CommitNotification) -> bool:
        """Add another worker's commit to a table in memory.

        Return False if entries before it are missing or this version cannot read it. Then the table must be loaded.
        """
        table = self._tables.get(notification.code) or Table(notification.code)
        if table.error or (table.version, table.log.last_entry) != (notification.version, notification.last):
            return False
        new_table = table.with_stored_entries(notification.entries)
        if new_table.error:
            return False
        self._keep_newest(new_table)
        return True

    def _notify_watchers(self, commit: Commit) -> None:
        for watcher in self.watchers:
            watcher(commit)

    def _keep_newest(self, table: Table) -> Table:
        cached = self._tables.get(table.code)
        newest = cached if cached and cached.version > table.version else table
        self._tables[table.code] = newest
        self._tables.move_to_end(table.code)
        if len(self._tables) > TABLES_CACHED:
            self._tables.popitem(last=False)
        return newest
