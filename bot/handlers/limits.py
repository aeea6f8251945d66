"""How much one person and one chat may ask for.

Presses and commands are counted in the memory of each worker, by person and by group: whoever floods several workers
gets as much from each. Codes of tables that led nowhere are counted in the store, for all workers together.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum
from typing import Any

from bot.platform import Command, Person, Press, RateLimit, chat_of, is_private
from bot.ratelimit import RateLimiter
from bot.store import keys
from bot.store.lua import read_script
from bot.tables.errors import TableError
from engine.errors import EngineError

PRESSES_OF_PERSON = RateLimit(burst=60, interval=0.2)
PRESSES_IN_CHAT = RateLimit(burst=240, interval=0.05)
COMMANDS_OF_PERSON = RateLimit(burst=30, interval=2.0)
COMMANDS_IN_CHAT = RateLimit(burst=60, interval=1.0)
"""Far more than people do who play fast: a burst, and one more each so many seconds."""

BREAK_SECONDS = 30.0
"""Seconds for which commands are not answered after too many, once that has been said: answering a flood is one."""

TRIES = RateLimit(burst=5, interval=3600.0)
"""How many codes that lead nowhere a person may try."""

TAKE = read_script(__file__, "tries")


class Verdict(Enum):
    """What is to be done with a request."""

    ANSWER = "within the limits"
    REFUSE = "over them, which is to be said"
    DROP = "over them, which has been said"


class TooManyPresses(TableError):
    code = "too_many_presses"
    sentence = "Too fast for me: wait a moment and press again."


class TooManyCommands(TableError):
    code = "too_many_commands"
    sentence = "Too much at once: write again in {seconds} seconds."


class TooManyCodes(TableError):
    """``minutes`` is how long to wait."""

    code = "too_many_codes"
    sentence = "Too many wrong codes: try again in {minutes} minutes, or press the button on the challenge."

    def __init__(self, minutes: int) -> None:
        super().__init__(minutes=minutes)
        self.minutes = minutes


class Limits:
    """What this worker has heard of each person and group lately."""

    def __init__(self, *, on: bool = True) -> None:
        self._on = on
        self._presses, self._commands = RateLimiter(), RateLimiter()
        self._breaks, self._suggestions = RateLimiter(), RateLimiter()

    def check_press(self, press: Press) -> Verdict:
        """Whether a press is to be heard; one that is not gets a short word."""
        if not self._on:
            return Verdict.ANSWER
        if self._presses.take(press.person.id, PRESSES_OF_PERSON) > 0:
            return Verdict.REFUSE
        group = _group(press.place)
        if group and self._presses.take(group, PRESSES_IN_CHAT) > 0:
            return Verdict.REFUSE
        return Verdict.ANSWER

    def allows_suggestion(self, person: Person) -> bool:
        """Whether something is to be suggested to a person who writes: as often as they may press, counted apart."""
        return not self._on or self._suggestions.take(person.id, PRESSES_OF_PERSON) <= 0

    def check_command(self, command: Command) -> Verdict:
        """Whether a command is to be heard, and if not whether to say so: once a break."""
        if not self._on:
            return Verdict.ANSWER
        group = _group(command.place)
        once = RateLimit(1, BREAK_SECONDS)
        if any(self._breaks.wait_seconds(whose, once) > 0 for whose in (command.person.id, group) if whose):
            return Verdict.DROP
        for whose, rate_limit in ((command.person.id, COMMANDS_OF_PERSON), (group, COMMANDS_IN_CHAT)):
            if whose and self._commands.take(whose, rate_limit) > 0:
                self._breaks.take(whose, once)
                return Verdict.REFUSE
        return Verdict.ANSWER


def _group(place: str) -> str:
    """The key of a group; people have others. Empty in a private chat, and at an ephemeral place."""
    return "" if is_private(place) else f"group {chat_of(place)}"


class Tries:
    """Counts the codes that each person tries, in the store."""

    def __init__(self, client: Any) -> None:
        self._take = client.register_script(TAKE)

    async def take(self, person: Person) -> None:
        """Count one more, before the code is looked at, so that many at once are counted too; TooManyCodes if there
        were too many.
        """
        wait = await self._add(person, 1)
        if wait > 0:
            raise TooManyCodes(minutes=-(-wait // 60_000))

    @asynccontextmanager
    async def count_if_failed(self, person: Person, is_at_table: Callable[[], bool]) -> AsyncIterator[None]:
        """Count what is done here as a try, unless it is done, or ``is_at_table`` says that they had a right to try."""
        await self.take(person)
        try:
            yield
        except EngineError:
            if is_at_table():
                await self._add(person, -1)
            raise
        await self._add(person, -1)

    async def _add(self, person: Person, count: int) -> int:
        """Milliseconds to wait; 0 if it was counted."""
        interval = round(1000 * TRIES.interval)
        return int(await self._take(keys=[keys.tries(person.id)], args=[count, TRIES.burst, interval]))
