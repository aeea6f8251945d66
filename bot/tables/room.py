"""The room: the commits that change tables in the store, and the actions during a game.

Each action at a table is one commit. `bot.tables.challenges` has the actions before the game begins, and
`bot.tables.table_memory` the tables in this worker's memory.

A press has exactly one result. Its move is made, or the same update has made it before, or it is refused with an error
(`TableError`, or the engine's `IllegalMove`). No action waits for a person. Several workers can change the same table.
The store accepts the first commit, and returns to the other workers the entries that they lack.
"""

import secrets
from collections.abc import Awaitable, Callable, Sequence

from bot.cluster.shards import Shards
from bot.metrics import COMMITS
from bot.robots.pace import PACES, Pace
from bot.store import Appended, NewEntries, Removed, Store, keys
from bot.store.entries import Close, CutPack, Deal, Entry, FirstDeal, Move, Say, SayTo, Seal, Stop, Wait
from bot.store.index import CodeTaken
from bot.store.log import Log
from bot.store.people_in_logs import people_in
from bot.tables import checks, errors
from bot.tables.blocks import Blocks
from bot.tables.clock import entries_at_alarm, entries_of_late_move, next_alarm
from bot.tables.codes import mark_of
from bot.tables.cutting import find_cutter
from bot.tables.limits import PHRASES_PER_DEAL
from bot.tables.table import Table
from bot.tables.table_lists import TableLists
from bot.tables.table_memory import Commit, TableMemory
from engine import game_kind
from engine.errors import NoClaims
from engine.options import RELEASE, resolve
from engine.shuffle import SECRET_BYTES

ROBOT_PAUSE = 1.0  # seconds before a robot moves; less is hard to follow

Decision = Callable[[Table], Sequence[Entry]]  # returns the entries to write, if any; raises refusals


class Room(TableMemory):
    """The tables of one store, for one worker. ``lists`` finds tables by person and by chat."""

    def __init__(
        self,
        store: Store,
        new_secret: Callable[[int], bytes] = secrets.token_bytes,
        robot_pause: float = ROBOT_PAUSE,
        before_removal: Callable[[Table], Awaitable[None]] | None = None,
        shards: Shards | None = None,
    ) -> None:
        """``before_removal`` is called before a table is removed. Without ``shards`` this worker delivers no table."""
        super().__init__(store, shards)
        self.new_secret, self._robot_pause, self._before_removal = new_secret, robot_pause, before_removal
        self._paces: dict[str, Pace] = {}
        self.lists, self._blocks = TableLists(store, self.load), Blocks(store.client)

    async def commit(self, code: str, update: str, decide: Decision, details: object = None) -> Table:
        """Write the entries that ``decide`` returns, and the deal that they begin.

        ``details`` are as for `Store.append`. A table in memory can be old. That is enough to decide what to write,
        because the store refuses commits to old versions. An error, or a decision to write nothing, is checked against
        the store's latest version.
        """
        table = self._tables.get(code)
        is_latest = table is None
        if table is None:
            table = await self.load(code, confirmed=True)
        while True:
            failure: Exception | None = None
            new_table = table
            if not table.log.has_update(update):
                try:
                    if entries := decide(self.require_readable(table)):
                        new_table = self.with_next_deal(table.with_entries(entries, update), update)
                except Exception as error:  # noqa: BLE001  raised below, if it still applies
                    failure = error
            if new_table.version > table.version:
                result = await self._write(table, new_table, details)
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
            if failure:
                raise failure
            if details:
                # The update was written already, for example before a crash that lost the record of it.
                self._notify_watchers(Commit(code, details=details))
            return self._keep_newest(table)

    async def open(self, new_table: Table, update: str, mark: str) -> Table:
        """Write a new table, unless this update has done so already.

        Raises NoSuchTable if that table is gone and ``mark`` belongs to its opener. Raises CodeTaken if another table
        has the code.
        """
        empty = Table(new_table.code)
        result = await self._write(empty, new_table)
        if isinstance(result, Table):
            return result
        if isinstance(result, Removed) and result.whose == mark:
            raise errors.NoSuchTable(code=new_table.code)
        if isinstance(result, NewEntries) and Log(result.entries).was_opened_by(update):
            return await self._apply_new_entries(empty, result)
        raise CodeTaken()

    def with_next_deal(self, table: Table, update: str, secret: bytes = b"") -> Table:
        """Add the deal that is due: the first at a full table, or the one after a finished deal.

        At a table with cuts the pack is sealed first, and dealt after the cut. ``secret`` is the first deal's secret.
        If it is empty, the secret is random; a pack with a given secret is not cut. A duplicate ends after its deal.
        """
        is_due = table.game.needs_deal if table.game else table.is_full and table.phase == "open"
        if not is_due:
            return table
        if table.game and table.is_duplicate:
            return table.with_entries([Stop("cancelled")], update)
        if table.sealed:
            return table.with_entries(_deal_entries(table, table.sealed), update) if table.cut else table
        deal_secret = secret or self.new_secret(SECRET_BYTES)
        if table.has_cuts and not secret and find_cutter(table, deal_secret) is not None:
            return table.with_entries([Seal(deal_secret)], update)
        return table.with_entries(_deal_entries(table, deal_secret), update)

    async def _write(self, table: Table, new_table: Table, details: object = None) -> Table | NewEntries | Removed:
        """Write the new entries of ``new_table``. If the stored table has changed since, return the store's answer."""
        entries = new_table.log.entries[table.version :]
        alarm = next_alarm(new_table, table, self._pause_at(new_table))
        # Do this before the commit: a crash in between can leave an extra name, never a missing one.
        people = people_in(entries)
        added_people = {
            person for person in people if await self.store.client.sadd(keys.tables_naming(person), table.code)
        }
        tell = self._must_notify(table.code)
        result = await self.store.append(table.code, table.log, entries, clock=alarm, tell=tell, details=details)
        if not isinstance(result, Appended):
            await self._remove_names(table, added_people, result)
            return result
        for person in people - added_people:
            # Another worker might have added them and, after a refused commit, removed them.
            await self.store.client.sadd(keys.tables_naming(person), table.code)
        self._finish_commit(new_table, alarm, details)
        return new_table

    async def _remove_names(self, table: Table, people: set[str], answer: NewEntries | Removed) -> None:
        """Remove the table from the lists of people whom only the refused commit names (`keys.tables_naming`)."""
        if isinstance(answer, NewEntries):
            earlier_entries = () if answer.whole else table.log.entries
            people = people - people_in([*earlier_entries, *answer.entries])
        for person in people:
            await self.store.client.srem(keys.tables_naming(person), table.code)

    async def rewrite(self, table: Table, log: Log) -> bool:
        """Replace a table's log, as `Store.rewrite` does. Return False if the table has changed since."""
        new_table = Table.from_log(table.code, log)
        alarm = None if new_table.error else next_alarm(new_table, table, self._pause_at(new_table))
        if not await self.store.rewrite(table.code, table.log, log, clock=alarm, tell=self._must_notify(table.code)):
            return False
        for person in people_in(table.log.entries) - people_in(log.entries):
            await self.store.client.srem(keys.tables_naming(person), table.code)
        self._finish_commit(new_table, alarm)
        return True

    def set_pace(self, code: str, pace: Pace) -> None:
        """Set how fast robots move at a practice table, after moves that this worker commits."""
        if pace == "normal":
            self._paces.pop(code, None)
        else:
            self._paces[code] = pace

    def _pause_at(self, table: Table) -> float:
        pace = self._paces.get(table.code, "normal") if table.is_practice else "normal"
        return self._robot_pause * PACES[pace]

    def _finish_commit(self, table: Table, alarm: float | None, details: object = None) -> None:
        """Keep a committed table in memory and call the watchers."""
        self._keep_newest(table)
        COMMITS.inc()
        for watcher in self.watchers:
            watcher(Commit(table.code, alarm, details))

    def _must_notify(self, code: str) -> bool:
        """Return whether a commit must notify the worker that delivers the table (`bot.store.commit_notification`)."""
        return self._shards is None or not self._shards.owns(code)

    async def remove(self, table: Table) -> None:
        """Remove a table that is over or closed and fully shown. Only `load_recent` still finds it."""
        if self._before_removal:
            await self._before_removal(table)
        # Do this first, because the log with the names is deleted next.
        for person in people_in(table.log.entries):
            await self.store.client.srem(keys.tables_naming(person), table.code)
        await self.store.remove(table.code, mark_of(table.opener.person), keep_log=not table.error)
        self.forget(table.code)
        await self.lists.remove_table(table)

    async def close(self, code: str, update: str) -> Table:
        """End a table from outside: close its challenge, or end its game without a winner."""

        def decide(table: Table) -> Sequence[Entry]:
            if table.phase == "open":
                return [Close("cancelled")]
            return [Stop("cancelled")] if table.phase == "playing" else []

        return await self.commit(code, update, decide)

    async def resign_for(self, code: str, seat: int, update: str) -> Table:
        """Resign a seat, even out of turn, because its player has left the tournament.

        This has no effect after the game.
        """
        return await self.commit(code, update, lambda table: [Move(seat, "resign")] if table.phase == "playing" else [])

    async def end_overdue(self, code: str, update: str) -> Table:
        """End a game that has reached its time limit: the player to move loses. Nothing happens if it is over."""

        def decide(table: Table) -> Sequence[Entry]:
            turn = table.game.turn if table.game else None
            return [] if turn is None else [Stop("timeout", 1 - (turn & 1))]

        return await self.commit(code, update, decide)

    async def make_move(
        self, code: str, person: str, version: int, move: str, update: str, details: object = None
    ) -> Table:
        """Make a move from a panel of this version. If it ends a deal, the same commit deals the next one.

        ``details`` is as for `Store.append`.
        """

        def decide(table: Table) -> Sequence[Entry]:
            seat = checks.require_seat(table, person)
            checks.check_begun(table)
            if table.is_old(seat, version):
                raise errors.OldPanel()
            if move == "claim" and table.is_duplicate:
                raise NoClaims()
            return [Move(seat, move)]

        return await self.commit(code, update, decide, details)

    async def make_moves_for(self, code: str, seat: int, version: int, moves: Sequence[str], update: str) -> Table:
        """Make a robot's moves, for itself or for a late player. Raises OldPanel if the table has changed since.

        ``moves`` are all that belong to the player's decision. A strict clock can end the game instead.
        """

        def decide(table: Table) -> Sequence[Entry]:
            if table.game is None or table.version != version or table.game.turn != seat:
                raise errors.OldPanel()
            chair, made = table.chairs[seat], [Move(seat, move) for move in moves]
            return made if chair and chair.is_robot else entries_of_late_move(table, seat, made)

        return await self.commit(code, update, decide)

    async def cut(self, code: str, person: str, version: int, text: str, update: str) -> Table:
        """Cut the pack that waits at this version. The same commit deals it."""

        def decide(table: Table) -> Sequence[Entry]:
            seat = checks.require_seat(table, person)
            if not table.awaits_cut or not table.sealed_at <= version <= table.version:
                raise errors.OldPanel()
            if seat != table.cutter:
                raise errors.NotYoursToCut()
            return [CutPack(seat, text)]

        return await self.commit(code, update, decide)

    async def claim_on_time(self, code: str, person: str, update: str) -> Table:
        """Claim the win from a late player. Only an opponent can do so."""

        def decide(table: Table) -> Sequence[Entry]:
            late_seat = checks.check_flagged(table, person)
            return [Stop("timeout", 1 - (late_seat & 1))]

        return await self.commit(code, update, decide)

    async def give_time(self, code: str, person: str, update: str) -> Table:
        """Give a late player the same time again. Only an opponent can do so."""

        def decide(table: Table) -> Sequence[Entry]:
            checks.check_flagged(table, person)
            return [Wait()]

        return await self.commit(code, update, decide)

    async def say(self, code: str, person: str, phrase: str, update: str) -> Table:
        """Say a phrase to the other players. Raise TooManyPhrases at the limit of a deal, OldPanel without phrases.

        People who have blocked each other do not read it. The speaker does not learn that.
        """
        people_with_block = await self._blocks.apart_from(person, (await self.table(code)).people)

        def decide(table: Table) -> Sequence[Entry]:
            seat = checks.require_seat(table, person)
            if table.phase != "playing" or not table.has_phrases:
                raise errors.OldPanel()
            if table.phrase_counts[seat] >= PHRASES_PER_DEAL:
                raise errors.TooManyPhrases(most=PHRASES_PER_DEAL)
            if not people_with_block & table.people:
                return [Say(seat, phrase)]
            reader_seats = [
                number for number, chair in enumerate(table.chairs) if chair and chair.person not in people_with_block
            ]
            return [SayTo(seat, phrase, "".join(map(str, reader_seats)))]

        return await self.commit(code, update, decide)

    async def check_flagged(self, code: str, person: str, update: str) -> Table:
        """Return the table if this person can decide about a late move, or has done so with this update."""
        table = await self.table(code)
        if not table.log.has_update(update):
            checks.check_flagged(table, person)
        return table

    async def handle_alarm(self, code: str, version: int) -> Table:
        """Write what follows when the table's clock rings at this version.

        Raises OldPanel if the table has changed since.
        """
        update = f"clock:{version}"

        def decide(table: Table) -> Sequence[Entry]:
            if table.version != version:
                raise errors.OldPanel()
            if table.awaits_cut:
                return _deal_entries(table, table.sealed)
            return entries_at_alarm(table)

        return await self.commit(code, update, decide)


def _deal_entries(table: Table, secret: bytes) -> list[Entry]:
    """Return the entry that deals with this secret. The first deal fixes the rules."""
    if table.game:
        return [Deal(secret)]
    rules = resolve(game_kind(table.game_id).rules, table.rules)
    return [FirstDeal(secret, RELEASE, rules.model_dump())]
