"""Tables at which programs play."""

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager, suppress

from bot.handlers.live_hands import LiveHand, LiveHands
from bot.identity.programs import Program, ProgramError, Programs
from bot.people import People
from bot.platform import Person, private_place
from bot.site.api_models import OwnTable, own_table
from bot.site.idempotency import UsedKeys
from bot.store.entries import CutOption, Rule, Setup
from bot.store.outage import begin_request
from bot.tables.challenges import Challenges
from bot.tables.checks import check_not_banned
from bot.tables.code_guard import CodeGuard, TooManyCodes
from bot.tables.errors import AlreadySeated, Banned, NoSuchTable, NotAtThisTable, OldPanel, SetAside
from bot.tables.room import Room
from bot.texts import error_text
from engine import game_kind
from engine.errors import EngineError
from engine.options import Value, resolve


@contextmanager
def _raise_program_errors() -> Iterator[None]:
    """Convert errors with sentences for players to `ProgramError`."""
    try:
        yield
    except (NotAtThisTable, NoSuchTable, SetAside) as error:
        raise ProgramError("missing", error_text(error, "en")) from None
    except TooManyCodes as error:
        raise ProgramError("too_often", error_text(error, "en"), 60.0 * error.minutes) from None
    except OldPanel as error:
        raise ProgramError("outdated", error_text(error, "en")) from None
    except EngineError as error:
        raise ProgramError("invalid", error_text(error, "en")) from None


@contextmanager
def _hide_missing_table(code: str) -> Iterator[None]:
    """Report a missing table and another program's table with the same error, because codes can be guessed."""
    try:
        yield
    except NoSuchTable:
        raise NotAtThisTable(code=code) from None


class ProgramTables:
    """The tables as programs use them. Every method can raise `ProgramError` or a store error."""

    def __init__(self, room: Room, people: People, challenges: Challenges, hands: LiveHands, guard: CodeGuard) -> None:
        self._room, self._people, self._challenges = room, people, challenges
        self._hands, self._guard = hands, guard
        self.programs = Programs(room.store.client)
        self._used_keys = UsedKeys(room.store.client)

    def check_not_banned(self, program: Program) -> None:
        """Raise ProgramError if the program, or the person who made its token, is banned."""
        try:
            for person in filter(None, (program.person, program.owner)):
                check_not_banned(self._room.store.levers, person)
        except Banned as error:
            raise ProgramError("banned", error_text(error, "en")) from None

    async def tables(self, person: str) -> list[OwnTable]:
        """Return the tables at which a program sits or asks for a chair."""
        return [own_table(table, person) for table in await self._room.lists.tables_of(person)]

    async def table(self, code: str, person: str) -> OwnTable:
        """Return a program's table, also for a minute after an ended table is removed."""
        room = self._room
        with _raise_program_errors(), _hide_missing_table(code):
            table = room.require_readable(await room.load_recent(code))
            if person not in table.people:
                raise NotAtThisTable(code=code)
            return own_table(table, person)

    async def claim_key(self, program: Program, key: str, request: str) -> None:
        """Reserve a key for the request with this fingerprint. Raises ProgramError if another request has used it."""
        if not await self._used_keys.claim(program.id, key, request):
            raise ProgramError("invalid", "This Idempotency-Key belongs to another request: send a new key.")

    async def open(
        self,
        program: Program,
        game: str,
        rules: Mapping[str, Value],
        robots: str | None,
        key: str,
        *,
        has_cuts: bool = False,
    ) -> OwnTable:
        """Open a table. ``robots`` is the level of the robots in all other chairs, None for free chairs.

        Each ``key`` opens one table. It cannot be used again after that table is gone.
        """
        begin_request()
        await self._meet(program)
        with _raise_program_errors():
            kind, update = game_kind(game), _update(program, key)
            resolve(kind.rules, rules)
            setup: list[Setup] = [Rule(name, value) for name, value in rules.items()]
            if has_cuts:
                setup.append(CutOption(True))
            opener = kind.id, program.person, program.name
            try:
                if robots:
                    table = await self._challenges.open_practice(*opener, robots, update, setup=setup)
                else:
                    table = await self._challenges.open_table(*opener, update, setup=setup)
            except NoSuchTable:
                raise ProgramError("outdated", "The table opened with this key is gone: send a new key.") from None
        return own_table(table, program.person)

    async def sit(self, program: Program, code: str, seat: int | None, key: str) -> OwnTable:
        """Take a chair or ask for it, like /join. Wrong codes count as guesses."""
        begin_request()
        person = await self._meet(program)
        with _raise_program_errors(), suppress(AlreadySeated):
            async with self._guard.count_guess(person, private_place(person.id), code):
                await self._challenges.sit(code, person.id, person.name, _update(program, key), seat)
        return await self.table(code, program.person)

    async def move(self, program: Program, code: str, version: int, move: str, key: str) -> OwnTable:
        """Make a move at a table that the program saw in this ``version``."""
        begin_request()
        room, update = self._room, _update(program, key)
        with _raise_program_errors(), _hide_missing_table(code):
            try:
                table = await room.make_move(code, program.person, version, move, update)
            except NoSuchTable:
                # This move might have ended the game and its reply might have been lost.
                table = room.require_readable(await room.load_recent(code))
                if not table.log.has_update(update):
                    raise
        return own_table(table, program.person)

    async def cut(self, program: Program, code: str, version: int, text: str, key: str) -> OwnTable:
        """Cut the pack that waits at a table that the program saw in this ``version``."""
        begin_request()
        with _raise_program_errors(), _hide_missing_table(code):
            table = await self._room.cut(code, program.person, version, text, _update(program, key))
        return own_table(table, program.person)

    async def states(self, code: str, person: str) -> AsyncGenerator[bytes]:
        """Yield a program's table as JSON, now and after each change until the game ends; no bytes mean no change."""
        hand: LiveHand | None = await self._hands.open_hand(code, person, or_ended=True)
        if hand is None:
            return
        last_state = b""
        try:
            async for table in hand.tables():
                state = own_table(table, person).model_dump_json().encode()
                # An unchanged state only keeps the connection open.
                yield b"" if state == last_state else state
                last_state = state
        finally:
            hand.close()

    async def _meet(self, program: Program) -> Person:
        person = Person(program.person, program.name, "", "en")
        await self._people.meet(person, private_place(person.id))
        return person


def _update(program: Program, key: str) -> str:
    return f"{program.person}:{key}"
