"""The room with all tables: what people do at them, each thing one commit in the store.

A press is answered by exactly one of these: its move is made; it was made already, by the same update delivered twice;
or a `TableError` or an engine's `IllegalMove` says why not. Nothing here waits for anybody, and several workers may
have the same table in hand: the store takes the first and tells the others what they missed.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import count
from typing import Any

from bot.store import Behind, Gone, keys
from bot.store.log import Log
from bot.store.naming import people_in
from bot.tables import checks
from bot.tables.chairs import Invited, plain_name
from bot.tables.errors import (
    ChairTaken,
    NobodyAsks,
    NoSuchChair,
    NoSuchClock,
    NoSuchTable,
    NotPlaying,
    NotYoursToDecide,
    OldPanel,
    TableIsFull,
    TooManyChallenges,
    TooManyChanges,
    TooManyTables,
)
from bot.tables.ledger import Ledger
from bot.tables.lists import CodeTaken, TableLists
from bot.tables.table import CLOCKS, Table, deal_entry
from engine import game_kind
from engine.rules import Rules, parse, resolve, spell
from engine.shuffle import SECRET_BYTES

CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that nobody mistakes for one another."""

CODE_LENGTH = 6
"""Letters of a new table's code. Tables opened by older releases have four."""

LATES_TO_FORFEIT = 3
MOST_CHANGES = 300
"""Entries of a challenge after which its game, options and clock are changed no more."""


def _code(seed: str, secret: bytes) -> str:
    """A code that follows from a seed, for those alone who know the secret."""
    number = int.from_bytes(blake2b(seed.encode(), key=secret, digest_size=16).digest())
    letters = []
    for _ in range(CODE_LENGTH):
        number, place = divmod(number, len(CODE_LETTERS))
        letters.append(CODE_LETTERS[place])
    return "".join(letters)


def _mark_of(person: str) -> str:
    """What is remembered of who opened a table that was removed: enough to tell them from others, no more."""
    return blake2b(person.encode(), digest_size=6).hexdigest()


class Room(Ledger):
    """The tables of one store, for one worker. ``lists`` are the tables by person and by chat."""

    def __init__(self, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        self.lists = TableLists(self)

    async def remove(self, table: Table) -> None:
        """A table is over, or no game came of it, and all has been shown: forget it."""
        await self.store.remove(table.code, _mark_of(table.opener.person))
        self.forget(table.code)
        await self.lists.removed(table)
        for person in people_in(table.log.entries):
            await self.store.client.srem(keys.named(person), table.code)

    async def open_table(
        self,
        game: str,
        person: str,
        name: str,
        update: str,
        *,
        host: str = "",
        invited: Invited | None = None,
        setup: Sequence[str] = (),
        seat: int = 0,
        again: bool = False,
    ) -> Table:
        """A new table, opened by this person, who takes a chair of it. UnknownGame lists the games there are.

        ``host`` is the place of its first board, ``setup`` more entries for its log. The code follows from the update,
        so that one delivered twice opens one table; nobody outside can work it out, for updates are counted. With
        ``again`` the update is a wish that several may have, one after the other: when its table is no more it opens
        another.
        """
        game_kind(game)
        chair = f"{person} {plain_name(name)}"
        texts = [f"open {game} {chair}", *([f"host {host}"] if host else []), *setup, f"sit {seat} {chair}"]
        if invited:
            texts.append(f"invite {invited.person or '-'} {invited.handle or '-'} {plain_name(invited.name)}")
        secret = await self.store.secret()
        for attempt in count():
            empty = Table(_code(f"{update} {attempt}", secret))
            opened = self._begin_if_full(empty, texts, update)
            try:
                async with (
                    self.lists.taking_chair(person, empty.code),
                    self.lists.showing(host, empty.code, is_challenge=True),
                ):
                    return await self._open(empty, opened, update, "" if again else _mark_of(person))
            except CodeTaken:
                continue
            except (TooManyTables, TooManyChallenges):
                # What was done already is answered as done.
                with suppress(NoSuchTable):
                    found = await self.load(empty.code)
                    if found.log.was_begun_by(update):
                        return found
                raise
        raise AssertionError

    async def has_opened(self, update: str) -> bool:
        """Whether a table was opened by this update that is there still."""
        secret = await self.store.secret()
        with suppress(NoSuchTable):
            for attempt in count():
                table = await self.load(_code(f"{update} {attempt}", secret))
                if table.log.was_begun_by(update):
                    return True
        return False

    async def _open(self, empty: Table, opened: Table, update: str, mark: str) -> Table:
        result = await self._write(empty, opened)
        if isinstance(result, Table):
            return result
        if isinstance(result, Gone) and result.whose == mark:
            raise NoSuchTable(code=empty.code)
        if isinstance(result, Behind) and Log(result.entries).was_begun_by(update):
            return await self._caught_up(empty, result)
        raise CodeTaken()

    async def choose_game(self, code: str, person: str, game: str, update: str) -> Table:
        """Another game, at its defaults; for who opened the table, before the game begins."""
        game_kind(game)

        def decide(table: Table) -> Table:
            checks.check_opener(table, person)
            if any(table.chairs[game_kind(game).seats :]):
                raise TableIsFull()
            if table.game_id == game and not table.rules:
                return table
            return self._changed(table, [f"game {game}"], update)

        return await self._commit(code, update, decide)

    def _changed(self, table: Table, entries: list[str], update: str) -> Table:
        """A challenge with these entries, unless it was changed so often that only a machine can want it."""
        if entries and table.version >= MOST_CHANGES:
            raise TooManyChanges()
        return self._begin_if_full(table, entries, update)

    async def choose_rule(self, code: str, person: str, word: str, update: str) -> Table:
        """An option, as ``name=value``; for who opened the table, before the game begins. BadRules names the values."""

        def decide(table: Table) -> Table:
            checks.check_opener(table, person)
            chosen = parse(game_kind(table.game_id).rules, [word])
            changed = {name: value for name, value in chosen.items() if table.rules.get(name) != value}
            return self._changed(table, [f"rule {name} {spell(value)}" for name, value in changed.items()], update)

        return await self._commit(code, update, decide)

    async def choose_clock(self, code: str, person: str, seconds: int, strict: bool, update: str) -> Table:
        """How long a move may take, and whether the clock is strict; for who opened the table."""
        if seconds not in CLOCKS:
            raise NoSuchClock()

        def decide(table: Table) -> Table:
            checks.check_opener(table, person)
            if (table.clock, table.strict) == (seconds, strict):
                return table
            return self._changed(table, [f"clock {seconds} {'strict' if strict else 'lax'}"], update)

        return await self._commit(code, update, decide)

    async def sit(
        self,
        code: str,
        person: str,
        name: str,
        update: str,
        seat: int | None = None,
        *,
        handle: str = "",
        host: str = "",
    ) -> Table:
        """Take a chair, by default the first that is free. With the last one the game begins.

        At a `tavolo` the first at a side is asked for the chair opposite; then the chair is asked for, not taken.
        ``host`` is another place that shows the table from then on.
        """

        def decide(table: Table) -> Table:
            checks.check_free_to_sit(table, person, handle)
            chosen = seat if seat is not None else checks.free_chair(table)
            if chosen not in range(len(table.chairs)):
                raise NoSuchChair()
            if taken := table.chairs[chosen] or table.asking.get(chosen):
                raise ChairTaken(name=taken.name)
            hosting = checks.hosting(table, host)
            ruler = table.ruler_of(chosen)
            chair = f"{chosen} {person} {plain_name(name)}"
            if ruler is not None:
                return table.after([*hosting, f"ask {chair}"], update)
            return self._begin_if_full(table, [*hosting, f"sit {chair}"], update)

        async with self.lists.taking_chair(person, code), self.lists.showing(host, code):
            return await self._commit(code, update, decide)

    async def add_robot(self, code: str, person: str, level: str, names: Sequence[str], update: str) -> Table:
        """Who opened the table gives the first free chair to a robot, by the first of the names that nobody there has.

        Nobody is asked but a ruler across.
        """

        def decide(table: Table) -> Table:
            checks.check_opener(table, person)
            taken = {chair.name for chair in (*table.chairs, *table.asking.values()) if chair}
            name = next((one for one in names if one not in taken), names[0])
            seat = checks.free_chair(table)
            word = "ask" if table.ruler_of(seat) is not None else "sit"
            return self._begin_if_full(table, [f"{word} {seat} robot:{level} {plain_name(name)}"], update)

        return await self._commit(code, update, decide)

    async def host(self, code: str, place: str, update: str) -> Table:
        """Have a board of the table in one more place."""
        async with self.lists.showing(place, code):
            return await self._commit(code, update, lambda table: table.after(checks.hosting(table, place), update))

    async def rehost(self, code: str, old: str, new: str, update: str) -> Table:
        """A chat that hosts the table has another id from now on."""

        def decide(table: Table) -> Table:
            return table.after([f"rehost {table.hosts.index(old)} {new}"] if old in table.hosts else [], update)

        return await self._commit(code, update, decide)

    async def answer(self, code: str, person: str, seat: int, accept: bool, update: str) -> Table:
        """The first at a side of a `tavolo` accepts or refuses who asks for the chair opposite."""

        def decide(table: Table) -> Table:
            if table.phase != "open" or seat not in table.asking:
                raise NobodyAsks()
            ruler = table.ruler_of(seat)
            if ruler is None or checks.seat_of(table, person) != ruler:
                raise NotYoursToDecide()
            if not accept:
                return table.after([f"refuse {seat}"], update)
            asking = table.asking[seat]
            return self._begin_if_full(table, [f"sit {seat} {asking.person} {asking.name}"], update)

        return await self._commit(code, update, decide)

    async def stand(self, code: str, person: str, update: str) -> Table:
        """Give one's chair back, before the game begins; who opened the table cancels it by that."""

        def decide(table: Table) -> Table:
            checks.check_open(table)
            seat = checks.seat_of(table, person)
            gone = person == table.opener.person
            return table.after(["close cancelled"] if gone else table.standing(seat), update)

        token = await self.lists.entry(person, code)
        table = await self._commit(code, update, decide)
        await self.lists.left(person, table, token)
        return table

    async def cancel(self, code: str, person: str, update: str) -> Table:
        """Who opened the table takes the challenge back."""

        def decide(table: Table) -> Table:
            checks.check_opener(table, person)
            return table.after(["close cancelled"], update)

        return await self._commit(code, update, decide)

    async def close(self, code: str, update: str) -> Table:
        """Whoever hosts the bot ends a table: a challenge is taken back, a game is cancelled and nobody wins."""

        def decide(table: Table) -> Table:
            if table.phase == "open":
                return table.after(["close cancelled"], update)
            return table.after(["stop cancelled -"], update) if table.phase == "playing" else table

        return await self._commit(code, update, decide)

    async def decline(self, code: str, person: str, handle: str, update: str) -> Table:
        """Who was challenged by name does not want to."""

        def decide(table: Table) -> Table:
            checks.check_open(table)
            if not table.invites(person, handle):
                raise NotYoursToDecide()
            return table.after(["close declined"], update)

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
            return self._moved(table, [f"{seat} {move}"], update)

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
                return self._moved(table, [f"{seat} {move}"], update)
            if table.strict and table.lates[seat] + 1 >= LATES_TO_FORFEIT:
                return table.after([f"late {seat}", f"stop timeout {1 - (seat & 1)}"], update)
            return self._moved(table, [f"late {seat}", f"{seat} {move}"], update)

        return await self._commit(code, update, decide)

    async def claim_on_time(self, code: str, person: str, update: str) -> Table:
        """The others claim the win from a player whose time is up."""

        def decide(table: Table) -> Table:
            late = checks.check_flagged(table, person)
            return table.after([f"stop timeout {1 - (late & 1)}"], update)

        return await self._commit(code, update, decide)

    async def wait(self, code: str, person: str, update: str) -> Table:
        """The others give a player whose time is up the same time again."""

        def decide(table: Table) -> Table:
            checks.check_flagged(table, person)
            return table.after(["wait"], update)

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
                return table.after(["close expired"], update)
            if table.phase == "playing" and table.clock and table.alarm != "flagged":
                return table.after(["flag" if table.alarm else "nudge"], update)
            return table

        return await self._commit(code, update, decide)

    def _moved(self, table: Table, entries: list[str], update: str) -> Table:
        """The table with a move, which is the last of the entries; where it ends a deal, with the next one."""
        after = table.after(entries, update)
        return after.after([self._deal()], update) if after.game and after.game.needs_deal else after

    def _begin_if_full(self, table: Table, entries: list[str], update: str) -> Table:
        """The table with the entries; with the last chair also the first deal, which says by what rules they play."""
        after = table.after(entries, update)
        if not (after.is_full and after.phase == "open"):
            return after
        return after.after([self._deal(resolve(game_kind(after.game_id).rules, after.rules))], update)

    def _deal(self, rules: Rules | None = None) -> str:
        return deal_entry(self._new_secret(SECRET_BYTES), rules)
