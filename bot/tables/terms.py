"""The terms of a challenge: its game, options and clock. The opener changes them before the first deal."""

from collections.abc import Sequence
from typing import Protocol

from bot.store.entries import ChangeGame, Clock, CutOption, Entry, Rule
from bot.tables import checks, errors
from bot.tables.clock import CLOCKS
from bot.tables.limits import MAX_CHANGES
from bot.tables.room import Decision, Room
from bot.tables.table import Table
from engine import game_kind
from engine.options import parse_options


class Terms(Protocol):
    """A game with its options. ``changes`` returns the entries that give the options to a table with this game."""

    @property
    def game(self) -> str: ...

    def changes(self, table: Table) -> Sequence[Entry]: ...


class TermsEditor:
    """Changes the terms of open tables; a base of `bot.tables.challenges.Challenges`. Each change is one commit."""

    _room: Room

    async def choose_game(self, code: str, person: str, game: str, update: str) -> Table:
        """Choose another game, with its defaults. Only the opener can do so, before the game begins."""

        def decide(table: Table) -> Sequence[Entry]:
            _check_seats(table, person, game)
            return [] if table.game_id == game and not table.rules else [ChangeGame(game)]

        return await self._change_terms(code, person, update, decide)

    async def choose_terms(self, code: str, person: str, terms: Terms, update: str) -> Table:
        """Set the game and all its options in one step. Only the opener can do so. Raises the errors of ``terms``."""

        def decide(table: Table) -> Sequence[Entry]:
            if table.game_id == terms.game:
                return terms.changes(table)
            _check_seats(table, person, terms.game)
            return [ChangeGame(terms.game), *terms.changes(table)]

        return await self._change_terms(code, person, update, decide)

    async def choose_rule(self, code: str, person: str, word: str, update: str) -> Table:
        """Set an option, as ``name=value``. Only the opener can, before the game. Raises BadRules for a wrong value."""

        def decide(table: Table) -> Sequence[Entry]:
            options = parse_options(game_kind(table.game_id).rules, [word])
            return [Rule(name, value) for name, value in options.items() if table.rules.get(name) != value]

        return await self._change_terms(code, person, update, decide)

    async def choose_clock(self, code: str, person: str, seconds: int, strict: bool, update: str) -> Table:
        """Set the seconds for a move and whether the clock is strict. Only the opener can do so."""
        if seconds not in CLOCKS:
            raise errors.NoSuchClock()

        def decide(table: Table) -> Sequence[Entry]:
            return [] if (table.clock, table.strict) == (seconds, strict) else [Clock(seconds, strict)]

        return await self._change_terms(code, person, update, decide)

    async def choose_cuts(self, code: str, person: str, is_on: bool, update: str) -> Table:
        """Set whether packs are cut at this table. Only the opener can do so, before the game begins."""
        return await self._change_terms(
            code, person, update, lambda table: [] if table.has_cuts == is_on else [CutOption(is_on)]
        )

    async def _change_terms(self, code: str, person: str, update: str, decide: Decision) -> Table:
        """Commit a change by the opener. Raises TooManyChanges after more changes than any person would make."""

        def decide_for_opener(table: Table) -> Sequence[Entry]:
            checks.check_open(table)
            checks.check_opener(table, person)
            entries = decide(table)
            if entries and table.version >= MAX_CHANGES:
                raise errors.TooManyChanges()
            return entries

        return await self._room.commit(code, update, decide_for_opener)


def _check_seats(table: Table, person: str, game: str) -> None:
    """Check that a game has a chair for each player, and does not begin without the others' consent."""
    seats = game_kind(game).seats
    kept_chairs, removed_chairs = table.chairs[:seats], table.chairs[seats:]
    has_others = any(chair and not chair.is_robot and chair.person != person for chair in kept_chairs)
    # A full table begins its game at once, and the other people have not agreed to the new game.
    if any(removed_chairs) or (has_others and len(kept_chairs) == seats and all(kept_chairs)):
        raise errors.OthersAreSeated()
