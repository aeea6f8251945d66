"""The room with all tables: those that a worker has in memory, and the commits by which they grow in the store.

What people do at them is one commit each. What they do before the game begins stands in `bot.tables.challenges`.

A press is answered by exactly one of these: its move is made; it was made already, by the same update delivered twice;
or a `TableError` or an engine's `IllegalMove` says why not. Nothing here waits for anybody, and several workers may
have the same table in hand: the store takes the first and tells the others what they missed.
"""

import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import structlog

from bot.bounded_dict import BoundedDict
from bot.cluster.shards import Shards
from bot.metrics import COMMITS
from bot.store import Appended, NewEntries, Removed, Store, keys
from bot.store.committed import CommitNotification
from bot.store.entries import Close, Deal, Entry, Flag, Late, Move, Nudge, Say, Stop, Wait
from bot.store.log import Log
from bot.store.naming import people_in
from bot.tables import checks
from bot.tables.clock import next_alarm
from bot.tables.codes import mark_of
from bot.tables.errors import NoSuchTable, NotPlaying, OldPanel, SaidEnough, SetAside
from bot.tables.lists import CodeTaken, TableLists
from bot.tables.table import PHRASES_PER_DEAL, Table
from engine.errors import NoClaims
from engine.shuffle import SECRET_BYTES

TABLES_CACHED = 25_000
"""How many tables a worker keeps in memory, at some 10 kB each; a forgotten one costs a round trip and a replay."""

LATES_TO_FORFEIT = 3
"""Moves in a row that a strict clock may make for a player before it ends the game against them."""

ROBOT_PAUSE = 1.0
"""Seconds that a robot lets pass before its move: less is hard to follow."""

Decision = Callable[[Table], Table]
"""Given the table as it stands, the one that follows, or the same if nothing is to be done; raises what is wrong."""

log = structlog.get_logger()


class Commit(NamedTuple):
    """A commit to a table, by this worker or another.

    ``clock`` is in how many seconds the table's clock rings, None if that has not changed. ``about`` is what the
    committer says of it. ``is_known`` is whether this worker's memory has the commit.
    """

    code: str
    clock: float | None = None
    details: Any = None
    is_known: bool = True


class Room:
    """The tables of one store, for one worker. ``lists`` are the tables by person and by chat."""

    def __init__(
        self,
        store: Store,
        new_secret: Callable[[int], bytes] = secrets.token_bytes,
        robot_pause: float = ROBOT_PAUSE,
        before_removal: Callable[[Table], Awaitable[None]] | None = None,
        shards: Shards | None = None,
    ) -> None:
        """``before_removal`` is called with a table before it is forgotten. Without ``shards`` others deliver all."""
        self.store = store
        self.robot_pause = robot_pause
        self.lists = TableLists(store, self.load)
        self.watchers: list[Callable[[Commit], None]] = []
        """Called after each commit of this worker, and after those of others to tables that this one delivers."""
        self._before_removal, self._shards = before_removal, shards
        self.new_secret = new_secret
        self._tables: BoundedDict[str, Table] = BoundedDict(TABLES_CACHED)

    async def table(self, code: str) -> Table:
        """A table as the store has it, to decide by; NoSuchTable if there is none, SetAside if it cannot be read."""
        return self.require_readable(await self.load(code))

    async def load_cached(self, code: str) -> Table:
        """A table as this worker last saw it, to draw by: it may be a little old. NoSuchTable if there is none."""
        return self._tables.get(code) or await self.load(code)

    async def load(self, code: str, *, confirmed: bool = False) -> Table:
        """A table as the store has it, whether all of it can be read or not; NoSuchTable if there is none.

        Of a table that is in memory only what came since is fetched and read. ``confirmed`` if replicas are to have it.
        """
        table = self._tables.get(code) or Table(code)
        try:
            behind = await self.store.entries_since(code, table.log, confirmed=confirmed)
        except ValueError:
            # It has a lower version than the table that this worker may remember.
            self.forget(code)
            return await self._cache(Table.unreadable(code, "it is not a log"))
        return await self._apply_new_entries(table, behind)

    async def load_recent(self, code: str) -> Table:
        """A table for who looks on: as `load` has it, or for a minute after it was removed as it ended. Another worker
        removes it as soon as its end is shown where it is delivered.
        """
        try:
            return await self.load(code)
        except NoSuchTable:
            log = await self.store.removed_log(code)
            if not log.entries:
                raise
            return Table.from_log(code, log)

    async def _apply_new_entries(self, table: Table, behind: NewEntries) -> Table:
        """A table with what it lacked."""
        if behind.whole:
            self.forget(table.code)
            table = Table.from_log(table.code, Log(behind.entries), table)
        elif behind.entries:
            table = table.with_stored_entries(behind.entries)
        if not table.exists:
            self.forget(table.code)
            raise NoSuchTable(code=table.code)
        return await self._cache(table)

    async def _cache(self, table: Table) -> Table:
        """Keep a table in memory; if it cannot be read, see that its owner sets it aside."""
        if table.error and self._shards:
            await self._set_aside(table, self._shards)
        return self._keep_newest(table)

    async def _set_aside(self, table: Table, shards: Shards) -> None:
        """Set an unreadable table aside, once. Another owner decides for itself: it may be of another release."""
        if not shards.owns(table.code):
            await shards.notify({"code": table.code})
        elif await self.store.set_aside(table.code, table.version):
            log.error("table_set_aside", table=table.code, why=table.error)
            self._notify_watchers(Commit(table.code))

    async def resume(self, code: str) -> None:
        """Take back a table that was set aside, if this release can read it."""
        with suppress(NoSuchTable):
            table = await self.load(code)
            if not table.error:
                await self.store.resume(code, table.version)
                self._notify_watchers(Commit(code))

    @staticmethod
    def require_readable(table: Table) -> Table:
        """The table; SetAside if it cannot be read."""
        if table.error:
            raise SetAside(code=table.code)
        return table

    def cached_table(self, code: str) -> Table | None:
        """A table as this worker last saw it, if it has it in memory."""
        return self._tables.get(code)

    def is_playing_at(self, code: str, version: int) -> bool:
        """Whether a table in memory has this version, and a game under way."""
        table = self._tables.get(code)
        return table is not None and table.version == version and table.phase == "playing"

    def count_by_phase(self) -> Counter[str]:
        """How many of the tables in memory are open, and how many are being played at."""
        return Counter(table.phase for table in self._tables.values())

    def forget(self, code: str) -> None:
        """Drop a table from memory; the store keeps it."""
        self._tables.pop(code, None)

    def handle_commit(self, told: CommitNotification) -> None:
        """Heed a commit of another worker to a table that this one delivers."""
        # Commits that replicas have yet to confirm may be lost, so they are not followed.
        is_known = not self.store.replicas and self.apply_commit(told)
        self._notify_watchers(Commit(told.code, told.clock, told.details, is_known))

    def apply_commit(self, told: CommitNotification) -> bool:
        """Add to a table in memory what another worker has committed.

        False where that is not the very next thing there, or this version cannot read it: then it is to be loaded.
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
        """Decide on the table and write what follows; ``about`` as for `Store.append`.

        A table in memory may be old, and is good for deciding what to write, for the store refuses what is behind. That
        nothing is to be written, or something is wrong, is decided on the store's latest.
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
                except Exception as error:  # noqa: BLE001  it is raised below, if it is still so
                    fault = error
            if after.version > table.version:
                result = await self._write(table, after, about)
                if isinstance(result, Table):
                    return result
                # A table that has a log is never gone: that is told to who opens one.
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
                # It was written already: before a crash, perhaps, that left untold what it is about.
                self._notify_watchers(Commit(code, details=about))
            return self._keep_newest(table)

    async def open(self, opened: Table, update: str, mark: str) -> Table:
        """Write a new table, unless this update has done so. NoSuchTable if that one is gone, by the ``mark`` of whose
        it was; CodeTaken where it is another's code.
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
        """Have a table go on; why it could not, where the store's has gone on otherwise."""
        entries = after.log.entries[table.version :]
        alarm = next_alarm(table, after, self.robot_pause)
        # Before the commit: a crash in between leaves one name too many, never one too few.
        people = people_in(entries)
        new = {person for person in people if await self.store.client.sadd(keys.named(person), table.code)}
        tell = not self._delivers(table.code)
        result = await self.store.append(table.code, table.log, entries, clock=alarm, tell=tell, about=about)
        if not isinstance(result, Appended):
            await self._remove_names(table, new, result)
            return result
        for person in people - new:
            # Another worker may have entered them, been refused, and taken them out meanwhile.
            await self.store.client.sadd(keys.named(person), table.code)
        self._keep_newest(after)
        COMMITS.inc()
        self._notify_watchers(Commit(table.code, alarm, about))
        return after

    async def _remove_names(self, table: Table, people: set[str], refused: NewEntries | Removed) -> None:
        """Take out the names that this worker entered for a commit that was refused, but for those the log has."""
        if isinstance(refused, NewEntries):
            before = () if refused.whole else table.log.entries
            people = people - people_in([*before, *refused.entries])
        for person in people:
            await self.store.client.srem(keys.named(person), table.code)

    async def rewrite(self, table: Table, log: Log) -> bool:
        """Put another log in place of a table's, as `Store.rewrite` does; False if the table has gone on meanwhile."""
        after = Table.from_log(table.code, log)
        alarm = None if after.error else next_alarm(table, after, self.robot_pause)
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
        """Return whether this worker delivers a table. The commit tells other owners (`bot.store.committed`)."""
        return self._shards is not None and self._shards.owns(code)

    def _notify_watchers(self, commit: Commit) -> None:
        for watcher in self.watchers:
            watcher(commit)

    def _keep_newest(self, table: Table) -> Table:
        """Keep the newest table that this worker knows under its code."""
        known = self._tables.get(table.code)
        newest = known if known and known.version > table.version else table
        self._tables.put(table.code, newest)
        return newest

    async def remove(self, table: Table) -> None:
        """A table is over, or no game came of it, and all has been shown: forget it, but for `followed`."""
        if self._before_removal:
            await self._before_removal(table)
        # First, for afterwards nothing tells any more whom it named.
        for person in people_in(table.log.entries):
            await self.store.client.srem(keys.named(person), table.code)
        await self.store.remove(table.code, mark_of(table.opener.person), keep_log=not table.error)
        self.forget(table.code)
        await self.lists.remove_table(table)

    async def close(self, code: str, update: str) -> Table:
        """Whoever hosts the bot ends a table: a challenge is taken back, a game is cancelled and nobody wins."""

        def decide(table: Table) -> Table:
            if table.phase == "open":
                return table.with_entries([Close("cancelled")], update)
            return table.with_entries([Stop("cancelled")], update) if table.phase == "playing" else table

        return await self.commit(code, update, decide)

    async def resign_for(self, code: str, seat: int, update: str) -> Table:
        """Who sits there has left the tournament that a table plays for: they resign, whoever's turn it is. Nothing
        happens where the game is over.
        """

        def decide(table: Table) -> Table:
            return table.with_entries([Move(seat, "resign")] if table.phase == "playing" else [], update)

        return await self.commit(code, update, decide)

    async def end_overdue(self, code: str, update: str) -> Table:
        """The time is over for which a game may last: who is to move loses it. Nothing happens where it is over."""

        def decide(table: Table) -> Table:
            turn = table.game.turn if table.game else None
            return table.with_entries([] if turn is None else [Stop("timeout", 1 - (turn & 1))], update)

        return await self.commit(code, update, decide)

    async def make_move(
        self, code: str, person: str, version: int, move: str, update: str, about: object = None
    ) -> Table:
        """A move from a panel of this version. When it ends a deal, the next is dealt in the same commit.

        ``about`` is what the worker that delivers the table is told of the press, where that is another one.
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
        """What a robot does: its own move, or all that belongs to that of a player whose time is up. OldPanel if the
        table has gone on since.

        Where the clock is strict, the third in a row that is made for a player ends the game against them.
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
        """The others claim the win from a player whose time is up."""

        def decide(table: Table) -> Table:
            late = checks.check_flagged(table, person)
            return table.with_entries([Stop("timeout", 1 - (late & 1))], update)

        return await self.commit(code, update, decide)

    async def give_time(self, code: str, person: str, update: str) -> Table:
        """The others give a player whose time is up the same time again."""

        def decide(table: Table) -> Table:
            checks.check_flagged(table, person)
            return table.with_entries([Wait()], update)

        return await self.commit(code, update, decide)

    async def say(self, code: str, person: str, phrase: str, update: str) -> Table:
        """A player says one of the phrases to strangers; SaidEnough where they have done so often enough."""

        def decide(table: Table) -> Table:
            seat = checks.require_seat(table, person)
            if table.phase != "playing" or not table.are_strangers:
                raise NotPlaying()
            if table.phrase_counts[seat] >= PHRASES_PER_DEAL:
                raise SaidEnough(most=PHRASES_PER_DEAL)
            return table.with_entries([Say(seat, phrase)], update)

        return await self.commit(code, update, decide)

    async def check_flagged(self, code: str, person: str, update: str) -> Table:
        """The table, if the time of a player is up about whose move this person may decide, or this update did so."""
        table = await self.table(code)
        if not table.log.has_update(update):
            checks.check_flagged(table, person)
        return table

    async def handle_alarm(self, code: str, version: int) -> Table:
        """The table's clock has rung at this version; nothing happens if the table has gone on since."""

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
        """The table with a move, which is the last of the entries; where it ends a deal, with the next one."""
        after = table.with_entries(entries, update)
        if not (after.game and after.game.needs_deal):
            return after
        next_one = Stop("cancelled") if after.is_duplicate else Deal(self.new_secret(SECRET_BYTES))
        return after.with_entries([next_one], update)
