"""The room with all tables: what people do at them, each thing one commit in the store.

What is done before the game begins stands in `bot.tables.challenges`.

A press is answered by exactly one of these: its move is made; it was made already, by the same update delivered twice;
or a `TableError` or an engine's `IllegalMove` says why not. Nothing here waits for anybody, and several workers may
have the same table in hand: the store takes the first and tells the others what they missed.
"""

from collections.abc import Sequence

from bot.store import keys
from bot.store.entries import Close, Deal, Entry, Flag, Late, Move, Nudge, Stop, Wait
from bot.store.naming import people_in
from bot.tables import checks
from bot.tables.challenges import Challenges
from bot.tables.codes import mark_of
from bot.tables.errors import NotPlaying, OldPanel
from bot.tables.table import Table
from engine.shuffle import SECRET_BYTES

LATES_TO_FORFEIT = 3


class Room(Challenges):
    """The tables of one store, for one worker: `Challenges`, and what is done at a game under way."""

    async def remove(self, table: Table) -> None:
        """A table is over, or no game came of it, and all has been shown: forget it."""
        await self.store.remove(table.code, mark_of(table.opener.person))
        self.forget(table.code)
        await self.lists.removed(table)
        for person in people_in(table.log.entries):
            await self.store.client.srem(keys.named(person), table.code)

    async def close(self, code: str, update: str) -> Table:
        """Whoever hosts the bot ends a table: a challenge is taken back, a game is cancelled and nobody wins."""

        def decide(table: Table) -> Table:
            if table.phase == "open":
                return table.after([Close("cancelled")], update)
            return table.after([Stop("cancelled")], update) if table.phase == "playing" else table

        return await self._commit(code, update, decide)

    async def press(self, code: str, person: str, version: int, move: str, update: str, about: object = None) -> Table:
        """A move from a panel of this version. When it ends a deal, the next is dealt in the same commit.

        ``about`` is what the worker that delivers the table is told of the press, where that is another one.
        """

        def decide(table: Table) -> Table:
            seat = checks.seat_of(table, person)
            if table.game is None:
                raise NotPlaying()
            if table.is_old(seat, version):
                raise OldPanel()
            return self._moved(table, [Move(seat, move)], update)

        return await self._commit(code, update, decide, about)

    async def move_for(self, code: str, seat: int, version: int, move: str, update: str) -> Table:
        """A robot's move: its own, or for a player whose time is up. OldPanel if the table has gone on since.

        Where the clock is strict, the third in a row that is made for a player ends the game against them.
        """

        def decide(table: Table) -> Table:
            if table.game is None or table.version != version or table.game.turn != seat:
                raise OldPanel()
            chair = table.chairs[seat]
            if chair and chair.is_robot:
                return self._moved(table, [Move(seat, move)], update)
            if table.strict and table.lates[seat] + 1 >= LATES_TO_FORFEIT:
                return table.after([Late(seat), Stop("timeout", 1 - (seat & 1))], update)
            return self._moved(table, [Late(seat), Move(seat, move)], update)

        return await self._commit(code, update, decide)

    async def claim_on_time(self, code: str, person: str, update: str) -> Table:
        """The others claim the win from a player whose time is up."""

        def decide(table: Table) -> Table:
            late = checks.check_flagged(table, person)
            return table.after([Stop("timeout", 1 - (late & 1))], update)

        return await self._commit(code, update, decide)

    async def wait(self, code: str, person: str, update: str) -> Table:
        """The others give a player whose time is up the same time again."""

        def decide(table: Table) -> Table:
            checks.check_flagged(table, person)
            return table.after([Wait()], update)

        return await self._commit(code, update, decide)

    async def check_flagged(self, code: str, person: str, update: str) -> Table:
        """The table, if the time of a player is up about whose move this person may decide, or this update did so."""
        table = await self.table(code)
        if not table.log.has_seen(update):
            checks.check_flagged(table, person)
        return table

    async def time_passed(self, code: str, version: int) -> Table:
        """The table's clock has rung at this version; nothing happens if the table has gone on since."""

        update = f"clock:{version}"

        def decide(table: Table) -> Table:
            if table.version != version:
                raise OldPanel()
            if table.phase == "open":
                return table.after([Close("expired")], update)
            if table.phase == "playing" and table.clock and table.alarm != "flagged":
                return table.after([Flag() if table.alarm else Nudge()], update)
            return table

        return await self._commit(code, update, decide)

    def _moved(self, table: Table, entries: Sequence[Entry], update: str) -> Table:
        """The table with a move, which is the last of the entries; where it ends a deal, with the next one."""
        after = table.after(entries, update)
        return (
            after.after([Deal(self._new_secret(SECRET_BYTES))], update)
            if after.game and after.game.needs_deal
            else after
        )
