"""The room with all tables: what people do at them, each thing one commit in the store.

A press is answered by exactly one of these: its move is made; it was made already, by the same update delivered twice;
or a `TableFault` or an engine's `IllegalMove` says why not. Nothing here waits for anybody, and several workers may
have the same table in hand: the store takes the first and tells the others what they missed.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Sequence

from bot.store import Behind, Store
from bot.store.log import Log, stamped
from bot.tables.faults import (
    AlreadyPlaying,
    AlreadySeated,
    ChairTaken,
    NoSuchChair,
    NoSuchTable,
    NotAtThisTable,
    NotPlaying,
    OldPanel,
    OnlyTheChallenger,
    TableIsFull,
)
from bot.tables.table import Table, plain_name
from engine import game_kind
from engine.rules import parse, spell
from engine.shuffle import SECRET_BYTES

CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Letters and digits that nobody mistakes for one another."""

CODE_LENGTH = 4
TABLES_REMEMBERED = 2000
"""How many tables a worker keeps in memory; a forgotten one costs a round trip."""

Decision = Callable[[Table], Sequence[str]]
"""Given the table as it stands, the entries to add; raises what is wrong."""


class Room:
    """The tables of one store, for one worker."""

    def __init__(self, store: Store, new_secret: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self.store = store
        self._new_secret = new_secret
        self._remembered: OrderedDict[str, Table] = OrderedDict()

    async def table(self, code: str) -> Table:
        """A table as the store has it; NoSuchTable if there is none."""
        return self._remember(self._existing(Table.of(code, await self.store.load(code))))

    async def open_table(self, game: str, person: str, name: str, update: str) -> Table:
        """A new table, opened by this person, who takes its first chair. UnknownGame lists the games there are."""
        game_kind(game)
        chair = f"{person} {plain_name(name)}"
        entries = [stamped(f"open {game} {chair}", update), stamped(f"sit 0 {chair}", update)]
        while True:
            code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
            if not isinstance(await self.store.append(code, Log([]), entries), Behind):
                return self._remember(Table(code).after(entries))

    async def choose_game(self, code: str, person: str, game: str, update: str) -> Table:
        """Another game, at its defaults; for who opened the table, before the game begins."""
        game_kind(game)

        def decide(table: Table) -> list[str]:
            self._check_opener(table, person)
            if any(table.chairs[game_kind(game).seats :]):
                raise TableIsFull()
            return self._begin_if_full(table, [f"game {game}"])

        return await self._commit(code, update, decide)

    async def choose_rule(self, code: str, person: str, word: str, update: str) -> Table:
        """An option, as ``name=value``; for who opened the table, before the game begins. BadRules names the values."""

        def decide(table: Table) -> list[str]:
            self._check_opener(table, person)
            chosen = parse(game_kind(table.game_id).rules, [word])
            return [f"rule {name} {spell(value)}" for name, value in chosen.items()]

        return await self._commit(code, update, decide)

    async def sit(self, code: str, person: str, name: str, update: str, seat: int | None = None) -> Table:
        """Take a chair, by default the first that is free. With the last one the game begins."""

        def decide(table: Table) -> list[str]:
            if table.phase != "open":
                raise AlreadyPlaying()
            if table.seat_of(person) is not None and not person.startswith("robot:"):
                raise AlreadySeated()
            chosen = seat if seat is not None else self._free_chair(table)
            if chosen not in range(len(table.chairs)):
                raise NoSuchChair()
            if taken := table.chairs[chosen]:
                raise ChairTaken(name=taken.name)
            return self._begin_if_full(table, [f"sit {chosen} {person} {plain_name(name)}"])

        return await self._commit(code, update, decide)

    async def stand(self, code: str, person: str, update: str) -> Table:
        """Give one's chair back, before the game begins."""

        def decide(table: Table) -> list[str]:
            if table.phase != "open":
                raise AlreadyPlaying()
            return [f"stand {self._seat_of(table, person)}"]

        return await self._commit(code, update, decide)

    async def press(self, code: str, person: str, version: int, move: str, update: str) -> Table:
        """A move from a panel of this version. When it ends a deal, the next is dealt in the same commit."""

        def decide(table: Table) -> list[str]:
            seat = self._seat_of(table, person)
            if table.game is None:
                raise NotPlaying()
            if table.is_old(seat, version):
                raise OldPanel()
            tried = table.game.copy()
            tried.play(seat, move)
            entries = [f"{seat} {move}"]
            return [*entries, self._deal()] if tried.needs_deal else entries

        return await self._commit(code, update, decide)

    async def _commit(self, code: str, update: str, decide: Decision) -> Table:
        """Decide on the table as it is remembered, and again on the table as it is if that was not the latest."""
        table = self._remembered.get(code) or await self.table(code)
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
            result = await self.store.append(code, table.log, entries)
            if not isinstance(result, Behind):
                return self._remember(table.after(entries))
            table = self._existing(Table.of(code, result.log))

    def _begin_if_full(self, table: Table, entries: list[str]) -> list[str]:
        after = table.after([text.encode() for text in entries])
        return [*entries, self._deal()] if after.is_full else entries

    def _deal(self) -> str:
        return f"deal {self._new_secret(SECRET_BYTES).hex()}"

    @staticmethod
    def _existing(table: Table) -> Table:
        if not table.exists:
            raise NoSuchTable(code=table.code)
        return table

    @staticmethod
    def _check_opener(table: Table, person: str) -> None:
        if table.phase != "open":
            raise AlreadyPlaying()
        if person != table.opener.person:
            raise OnlyTheChallenger(name=table.opener.name)

    @staticmethod
    def _seat_of(table: Table, person: str) -> int:
        seat = table.seat_of(person)
        if seat is None:
            raise NotAtThisTable(code=table.code)
        return seat

    @staticmethod
    def _free_chair(table: Table) -> int:
        for seat, chair in enumerate(table.chairs):
            if chair is None:
                return seat
        raise TableIsFull()

    def _remember(self, table: Table) -> Table:
        """Keep the newest table that this worker knows under its code."""
        known = self._remembered.get(table.code)
        newest = known if known and known.version > table.version else table
        self._remembered[table.code] = newest
        self._remembered.move_to_end(table.code)
        if len(self._remembered) > TABLES_REMEMBERED:
            self._remembered.popitem(last=False)
        return newest
