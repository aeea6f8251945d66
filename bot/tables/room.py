"""The room: a worker's tables in memory, and the commits that change them in the store.

Each action at a table is one commit. `bot.tables.challenges` has the actions before the game begins.

A press has exactly one result. Its move is made, or the same update has made it before, or it is refused with an error
(`TableError`, or the engine's `IllegalMove`). No action waits for a person. Several workers can change the same table.
The store accepts the first commit, and sends the other workers the entries that they lack.
"""

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import structlog
from cachetools import FIFOCache

from bot.cluster.shards import Shards
from bot.metrics import COMMITS
from bot.store import Appended, NewEntries, Removed, Store, keys
from bot.store.committed import CommitNotification
from bot.store.entries import Close, Deal, Entry, Flag, Late, Move, Nudge, Say, Stop, Wait
from bot.store.log import Log
from bot.store.naming import people_in
from bot.tables import checks
from bot.tables.clock import LATES_TO_FORFEIT
from bot.tables.codes import mark_of
from bot.tables.errors import NoSuchTable, NotPlaying, OldPanel, SaidEnough, SetAside
from bot.tables.limits import PHRASES_PER_DEAL
from bot.tables.table import Table
from bot.tables.table_lists import CodeTaken, TableLists
from engine.errors import NoClaims
from engine.shuffle import SECRET_BYTES

TABLES_CACHED = 25_000  # tables in memory, at some 10 kB each; any other costs a round trip and a replay
ROBOT_PAUSE = 1.0  # seconds before a robot moves; less is hard to follow

Decision = Callable[[Table], Table]  # returns the next table, or the same one for no change; raises refusals

log = structlog.get_logger()


class Commit(NamedTuple):
    """A commit to a table, by this worker or another.

    ``clock`` is the seconds until the table's clock rings, None if unchanged. ``details`` is the committer's note.
    ``is_known`` is whether this worker's memory has the commit.
    """

    code: str
    clock: float | None = None
    details: Any = None
    is_known: bool = True


class Room:
    """The tables of one store, for one worker. ``lists`` finds tables by person and by chat."""

    def __init__(
        self,
        store: Store,
        new_secret: Callable[[int], bytes] = secrets.token_bytes,
        robot_pause: float = ROBOT_PAUSE,
        before_removal: Callable[[Table], Awaitable[None]] | None = None,
        shards: Shards | None = None,
    ) -> None:
        """``before_removal`` is called before a table is removed. Without ``shards`` others deliver all tables."""
        self.store = store
        self.robot_pause = robot_pause
        self.lists = TableLists(store, self.load)
        # called after each commit of this worker, and after commits of others to tables that this one delivers
        self.watchers: list[Callable[[Commit], None]] = []
        self._before_removal, self._shards = before_removal, shards
        self.new_secret = new_secret
        self._tables: FIFOCache[str, Table] = FIFOCache(TABLES_CACHED)

    async def table(self, code: str) -> Table:
        """Load a table to decide by. NoSuchTable if it does not exist, SetAside if it is unreadable."""
        return self.require_readable(await self.load(code))

    async def load_cached(self, code: str) -> Table:
        """Return a table to draw, from memory if possible: it can be slightly old. NoSuchTable if it does not exist."""
        return self._tables.get(code) or await self.load(code)

    async def load(self, code: str, *, confirmed: bool = False) -> Table:
        """Load a table from the store, even if it is unreadable. NoSuchTable if it does not exist.

        For a table in memory only newer entries are fetched and read. With ``confirmed``, replicas must have them.
        """
        table = self._tables.get(code) or Table(code)
        try:
            missing = await self.store.entries_since(code, table.log, confirmed=confirmed)
        except ValueError:
            # An unreadable table has a low version, and `_keep_newest` keeps the higher one.
            self.forget(code)
            return await self._cache(Table.unreadable(code, "it is not a log"))
        return await self._apply_new_entries(table, missing)

    async def load_recent(self, code: str) -> Table:
        """Load a table for a spectator. After it has ended and was removed, it is still found for a minute.

        Another worker removes it as soon as its deliveries show the end.
        """
        try:
            return await self.load(code)
        except NoSuchTable:
            log = await self.store.removed_log(code)
            if not log.entries:
                raise
            return Table.from_log(code, log)

    async def _apply_new_entries(self, table: Table, missing: NewEntries) -> Table:
        if missing.whole:
            self.forget(table.code)
            table = Table.from_log(table.code, Log(missing.entries), table)
        elif missing.entries:
            table = table.with_stored_entries(missing.entries)
        if not table.exists:
            self.forget(table.code)
            raise NoSuchTable(code=table.code)
        return await self._cache(table)

    async def _cache(self, table: Table) -> Table:
        """Keep a table in memory. If it is unreadable, have its owner set it aside."""
        if table.error and self._shards:
            await self._set_aside(table, self._shards)
        return self._keep_newest(table)

    async def _set_aside(self, table: Table, shards: Shards) -> None:
        """Set an unreadable table aside, once. Another owner decides itself, because its release can differ."""
        if not shards.owns(table.code):
            await shards.notify({"code": table.code})
        elif await self.store.set_aside(table.code, table.version):
            log.error("table_set_aside", table=table.code, why=table.error)
            self._notify_watchers(Commit(table.code))

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
        """Return whether a table in memory has this version and a game under way."""
        table = self._tables.get(code)
        return table is not None and table.version == version and table.phase == "playing"

    def count_by_phase(self) -> Counter[str]:
        return Counter(table.phase for table in self._tables.values())

    def forget(self, code: str) -> None:
        """Drop a table from memory; the store keeps it."""
        self._tables.pop(code, None)

    def handle_commit(self, told: CommitNotification) -> None:
        """Handle another worker's commit to a table that this worker delivers."""
        # Commits that replicas have not confirmed can be lost, so they are not followed.
        is_known = not self.store.replicas and self.apply_commit(told)
        self._notify_watchers(Commit(told.code, told.clock, told.details, is_known))

    def apply_commit(self, told: CommitNotification) -> bool:
        """Add another worker's commit to a table in memory.

        Return False if entries before it are missing or this version cannot read it. Then the table must be loaded.
        """
        table = self._tables.get(told.code) or Table(told.code)
        if table.error or (table.version, table.log.last) != (told.version, told.last):
            return False
        after = table.with_stored_entries(told.entries)
        if after.error:
            return False
        self._keep_newest(after)
        return True

    async def commit(self, code: str, update: str, decide: Decision, about: object = None) -> Table:
        """Decide on the table and write the result; ``about`` is as for `Store.append`.

        A table in memory can be old. It is good enough to decide what to write, because the store refuses commits to
        old versions. An error, or a decision to write nothing, is checked against the store's latest version.
        """
        table = self._tables.get(code)
        is_latest = table is None
        if table is None:
            table = await self.load(code, confirmed=True)
        while True:
            fault: Exception | None = None
            after = table
            if not table.log.has_update(update):
                try:
                    after = decide(self.require_readable(table))
                except Exception as error:  # noqa: BLE001  raised below, if it still applies
                    fault = error
            if after.version > table.version:
                result = await self._write(table, after, about)
                if isinstance(result, Table):
                    return result
                # `Removed` only answers an attempt to open a new table.
                assert isinstance(result, NewEntries)
                table, is_latest = await self._apply_new_entries(table, result), True
                continue
            if not is_latest:
                latest = await self.load(code, confirmed=True)
                is_latest = True
                if latest is not table:
                    table = latest
                    continue
            if fault:
                raise fault
            if about:
                # It was written already, perhaps before a crash that lost this note.
                self._notify_watchers(Commit(code, details=about))
            return self._keep_newest(table)

    async def open(self, opened: Table, update: str, mark: str) -> Table:
        """Write a new table, unless this update has done so already.

        NoSuchTable if that table is gone and ``mark`` is its opener's. CodeTaken if another table has the code.
        """
        empty = Table(opened.code)
        result = await self._write(empty, opened)
        if isinstance(result, Table):
            return result
        if isinstance(result, Removed) and result.whose == mark:
            raise NoSuchTable(code=opened.code)
        if isinstance(result, NewEntries) and Log(result.entries).was_opened_by(update):
            return await self._apply_new_entries(empty, result)
        raise CodeTaken()

    async def _write(self, table: Table, after: Table, about: object = None) -> Table | NewEntries | Removed:
        """Write the new entries of ``after``. If the stored table has changed meanwhile, return the store's answer."""
        entries = after.log.entries[table.version :]
        alarm = after.next_alarm(table, self.robot_pause)
        # Before the commit: a crash in between can leave an extra name, never a missing one.
        people = people_in(entries)
        new = {person for person in people if await self.store.client.sadd(keys.named(person), table.code)}
        tell = not self._delivers(table.code)
        result = await self.store.append(table.code, table.log, entries, clock=alarm, tell=tell, about=about)
        if not isinstance(result, Appended):
            await self._remove_names(table, new, result)
            return result
        for person in people - new:
            # Another worker can have added and, after a refused commit, removed them meanwhile.
            await self.store.client.sadd(keys.named(person), table.code)
        self._keep_newest(after)
        COMMITS.inc()
        self._notify_watchers(Commit(table.code, alarm, about))
        return after

    async def _remove_names(self, table: Table, people: set[str], refused: NewEntries | Removed) -> None:
        """Remove the names that this worker entered for a refused commit. Keep names in the log."""
        if isinstance(refused, NewEntries):
            before = () if refused.whole else table.log.entries
            people = people - people_in([*before, *refused.entries])
        for person in people:
            await self.store.client.srem(keys.named(person), table.code)

    async def rewrite(self, table: Table, log: Log) -> bool:
        """Replace a table's log, as `Store.rewrite` does. Return False if the table has changed meanwhile."""
        after = Table.from_log(table.code, log)
        alarm = None if after.error else after.next_alarm(table, self.robot_pause)
        tell = not self._delivers(table.code)
        if not await self.store.rewrite(table.code, table.log, log, clock=alarm, tell=tell):
            return False
        for person in people_in(table.log.entries) - people_in(log.entries):
            await self.store.client.srem(keys.named(person), table.code)
        self._keep_newest(after)
        COMMITS.inc()
        self._notify_watchers(Commit(table.code, alarm))
        return True

    def _delivers(self, code: str) -> bool:
        """Return whether this worker delivers a table. The commit notifies other owners (`bot.store.committed`)."""
        return self._shards is not None and self._shards.owns(code)

    def _notify_watchers(self, commit: Commit) -> None:
        for watcher in self.watchers:
            watcher(commit)

    def _keep_newest(self, table: Table) -> Table:
        known = self._tables.get(table.code)
        newest = known if known and known.version > table.version else table
        self._tables[table.code] = newest
        return newest

    async def remove(self, table: Table) -> None:
        """Remove a table that is over or closed and fully shown. Only `load_recent` still finds it."""
        if self._before_removal:
            await self._before_removal(table)
        # First, because afterwards its log, with the names, is lost.
        for person in people_in(table.log.entries):
            await self.store.client.srem(keys.named(person), table.code)
        await self.store.remove(table.code, mark_of(table.opener.person), keep_log=not table.error)
        self.forget(table.code)
        await self.lists.remove_table(table)

    async def close(self, code: str, update: str) -> Table:
        """End a table for the host: cancel its challenge, or its game without a winner."""

        def decide(table: Table) -> Table:
            if table.phase == "open":
                return table.with_entries([Close("cancelled")], update)
            return table.with_entries([Stop("cancelled")], update) if table.phase == "playing" else table

        return await self.commit(code, update, decide)

    async def resign_for(self, code: str, seat: int, update: str) -> Table:
        """Resign a seat, also out of turn, because its player has left the tournament.

        Nothing happens if the game is over.
        """

        def decide(table: Table) -> Table:
            return table.with_entries([Move(seat, "resign")] if table.phase == "playing" else [], update)

        return await self.commit(code, update, decide)

    async def end_overdue(self, code: str, update: str) -> Table:
        """End a game that has reached its time limit: the player to move loses. Nothing happens if it is over."""

        def decide(table: Table) -> Table:
            turn = table.game.turn if table.game else None
            return table.with_entries([] if turn is None else [Stop("timeout", 1 - (turn & 1))], update)

        return await self.commit(code, update, decide)

    async def make_move(
        self, code: str, person: str, version: int, move: str, update: str, about: object = None
    ) -> Table:
        """Make a move from a panel of this version. If it ends a deal, the same commit deals the next one.

        ``about`` is sent to the worker that delivers the table, if that is another one.
        """

        def decide(table: Table) -> Table:
            seat = checks.require_seat(table, person)
            if table.game is None:
                raise NotPlaying()
            if table.is_old(seat, version):
                raise OldPanel()
            if move == "claim" and table.is_duplicate:
                raise NoClaims()
            return self._apply_moves(table, [Move(seat, move)], update)

        return await self.commit(code, update, decide, about)

    async def make_moves_for(self, code: str, seat: int, version: int, moves: Sequence[str], update: str) -> Table:
        """Make a robot's moves, for itself or for a late player. OldPanel if the table has changed since.

        ``moves`` are all that belong to the player's decision. Under a strict clock, the third decision in a row that a
        robot makes for a player ends the game against them.
        """

        def decide(table: Table) -> Table:
            if table.game is None or table.version != version or table.game.turn != seat:
                raise OldPanel()
            chair, made = table.chairs[seat], [Move(seat, move) for move in moves]
            if chair and chair.is_robot:
                return self._apply_moves(table, made, update)
            if table.strict and table.lates[seat] + 1 >= LATES_TO_FORFEIT:
                return table.with_entries([Late(seat), Stop("timeout", 1 - (seat & 1))], update)
            return self._apply_moves(table, [Late(seat), *made], update)

        return await self.commit(code, update, decide)

    async def claim_on_time(self, code: str, person: str, update: str) -> Table:
        """Claim the win from a late player. Only an opponent can."""

        def decide(table: Table) -> Table:
            late = checks.check_flagged(table, person)
            return table.with_entries([Stop("timeout", 1 - (late & 1))], update)

        return await self.commit(code, update, decide)

    async def give_time(self, code: str, person: str, update: str) -> Table:
        """Give a late player the same time again. Only an opponent can."""

        def decide(table: Table) -> Table:
            checks.check_flagged(table, person)
            return table.with_entries([Wait()], update)

        return await self.commit(code, update, decide)

    async def say(self, code: str, person: str, phrase: str, update: str) -> Table:
        """Say one of the phrases to strangers. SaidEnough at the limit of a deal."""

        def decide(table: Table) -> Table:
            seat = checks.require_seat(table, person)
            if table.phase != "playing" or not table.are_strangers:
                raise NotPlaying()
            if table.phrase_counts[seat] >= PHRASES_PER_DEAL:
                raise SaidEnough(most=PHRASES_PER_DEAL)
            return table.with_entries([Say(seat, phrase)], update)

        return await self.commit(code, update, decide)

    async def check_flagged(self, code: str, person: str, update: str) -> Table:
        """Return the table if this person can decide about a late move, or did so by this update."""
        table = await self.table(code)
        if not table.log.has_update(update):
            checks.check_flagged(table, person)
        return table

    async def handle_alarm(self, code: str, version: int) -> Table:
        """Apply the ring of the table's clock at this version. OldPanel if the table has changed since."""
        update = f"clock:{version}"

        def decide(table: Table) -> Table:
            if table.version != version:
                raise OldPanel()
            if table.phase == "open":
                return table.with_entries([Close("expired")], update)
            if table.phase == "playing" and table.is_practice:
                return table.with_entries([Stop("cancelled")], update)
            if table.phase == "playing" and table.clock and table.alarm != "flagged":
                return table.with_entries([Flag() if table.alarm else Nudge()], update)
            if table.phase == "playing" and table.is_of_guests:
                return table.with_entries([Stop("cancelled")], update)
            return table

        return await self.commit(code, update, decide)

    def _apply_moves(self, table: Table, entries: Sequence[Entry], update: str) -> Table:
        """Add a move, the last of the entries. If it ends a deal, also add the next deal, or the end of a duplicate."""
        after = table.with_entries(entries, update)
        if not (after.game and after.game.needs_deal):
            return after
        next_entry = Stop("cancelled") if after.is_duplicate else Deal(self.new_secret(SECRET_BYTES))
        return after.with_entries([next_entry], update)
