"""A worker's tables: those it has in memory, and the commits by which they grow in the store."""

import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence

from bot.store import Behind, Store
from bot.store.log import stamped
from bot.tables.clock import next_alarm
from bot.tables.faults import NoSuchTable
from bot.tables.table import Table

TABLES_REMEMBERED = 25_000
"""How many tables a worker keeps in memory, at some 10 kB each; a forgotten one costs a round trip and a replay."""

ROBOT_PAUSE = 1.0
"""Seconds that a robot lets pass before its move: less is hard to follow."""

Decision = Callable[[Table], Sequence[str]]
"""Given the table as it stands, the entries to add; raises what is wrong."""


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
        self._new_secret = new_secret
        self._remembered: OrderedDict[str, Table] = OrderedDict()

    async def table(self, code: str) -> Table:
        """A table as the store has it; NoSuchTable if there is none."""
        return self._remember(self._existing(Table.of(code, await self.store.load(code))))

    async def known(self, code: str) -> Table:
        """A table as this worker last saw it, which may be a little old; NoSuchTable if there is none."""
        return self._remembered.get(code) or await self.table(code)

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

    async def _commit(self, code: str, update: str, decide: Decision) -> Table:
        """Decide on the table as it is remembered, and again on the table as it is if that was not the latest."""
        table = await self.known(code)
        while True:
            if table.log.has_seen(update):
                return self._remember(table)
            try:
                entries = [stamped(text, update) for text in decide(table)]
            except Exception:
                # What is wrong with a remembered table may be right by now.
                latest = await self.table(code)
                if latest.version == table.version:
                    raise
                table = latest
                continue
            if not entries:
                return table
            result = await self._write(table, entries)
            if isinstance(result, Table):
                return result
            table = self._existing(Table.of(code, result.log))

    async def _write(self, table: Table, entries: Sequence[bytes]) -> Table | Behind:
        after = table.after(entries)
        alarm = next_alarm(table, after, self.robot_pause)
        result = await self.store.append(table.code, table.log, entries, clock=alarm)
        if isinstance(result, Behind):
            return result
        self._remember(after)
        for watcher in self.watchers:
            watcher(after, alarm)
        return after

    @staticmethod
    def _existing(table: Table) -> Table:
        if not table.exists:
            raise NoSuchTable(code=table.code)
        return table

    def _remember(self, table: Table) -> Table:
        """Keep the newest table that this worker knows under its code."""
        known = self._remembered.get(table.code)
        newest = known if known and known.version > table.version else table
        self._remembered[table.code] = newest
        self._remembered.move_to_end(table.code)
        if len(self._remembered) > TABLES_REMEMBERED:
            self._remembered.popitem(last=False)
        return newest
