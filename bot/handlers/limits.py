"""Rate limits for people and chats.

Each worker counts presses and commands in its own memory, by person and by group. So a person who floods several
workers gets the limit from each. Wrong table codes are counted in the store, across all workers.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum
from typing import Any

from bot.platform import Command, Person, Press, chat_of, is_private
from bot.rate_limits import RateLimit, RateLimiter
from bot.store import keys
from bot.store.lua import read_script
from bot.tables.errors import TableError
from engine.errors import EngineError

# Far above what fast players need.
PRESSES_OF_PERSON = RateLimit(burst=60, interval=0.2)
PRESSES_IN_CHAT = RateLimit(burst=240, interval=0.05)
COMMANDS_OF_PERSON = RateLimit(burst=30, interval=2.0)
COMMANDS_IN_CHAT = RateLimit(burst=60, interval=1.0)

BREAK_SECONDS = 30.0  # of silence after the reply "too many commands": answering a flood would be a flood too
TRIES = RateLimit(burst=5, interval=3600.0)  # wrong table codes of a person

TAKE = read_script(__file__, "tries")


class Verdict(Enum):
    """The decision on a request."""

    ANSWER = "within the limits"
    REFUSE = "above the limits, with a reply that says so"
    DROP = "above the limits, after such a reply"


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
    """Counts the recent requests of each person and group at this worker."""

    def __init__(self, *, on: bool = True) -> None:
        self._on = on
        self._presses, self._commands = RateLimiter(), RateLimiter()
        self._breaks, self._suggestions = RateLimiter(), RateLimiter()

    def check_press(self, press: Press) -> Verdict:
        """Return whether to answer a press or refuse it."""
        if not self._on:
            return Verdict.ANSWER
        if self._presses.take(press.person.id, PRESSES_OF_PERSON) > 0:
            return Verdict.REFUSE
        group = _group(press.place)
        if group and self._presses.take(group, PRESSES_IN_CHAT) > 0:
            return Verdict.REFUSE
        return Verdict.ANSWER

    def allows_suggestion(self, person: Person) -> bool:
        """Return whether a person who types gets suggestions, as many as presses but counted separately."""
        return not self._on or self._suggestions.take(person.id, PRESSES_OF_PERSON) <= 0

    def check_command(self, command: Command) -> Verdict:
        """Return whether to answer a command, refuse it, or drop it during the break after a refusal."""
        if not self._on:
            return Verdict.ANSWER
        group = _group(command.place)
        once = RateLimit(1, BREAK_SECONDS)
        if any(self._breaks.wait_seconds(sender, once) > 0 for sender in (command.person.id, group) if sender):
            return Verdict.DROP
        for sender, rate_limit in ((command.person.id, COMMANDS_OF_PERSON), (group, COMMANDS_IN_CHAT)):
            if sender and self._commands.take(sender, rate_limit) > 0:
                self._breaks.take(sender, once)
                return Verdict.REFUSE
        return Verdict.ANSWER


def _group(place: str) -> str:
    """Return a group's key, distinct from people's; empty in a private chat and at an ephemeral place."""
    return "" if is_private(place) else f"group {chat_of(place)}"


class Tries:
    """Counts the codes that each person tries, in the store."""

    def __init__(self, client: Any) -> None:
        self._take = client.register_script(TAKE)

    async def take(self, person: Person) -> None:
        """Count a try before the code is checked, so that parallel tries count too. TooManyCodes above the limit."""
        wait = await self._add(person, 1)
        if wait > 0:
            raise TooManyCodes(minutes=-(-wait // 60_000))

    @asynccontextmanager
    async def count_if_failed(self, person: Person, is_at_table: Callable[[], bool]) -> AsyncIterator[None]:
        """Count the body as a try unless it succeeds, or ``is_at_table`` returns True after an EngineError."""
        await self.take(person)
        try:
            yield
        except EngineError:
            if is_at_table():
                await self._add(person, -1)
            raise
        await self._add(person, -1)

    async def _add(self, person: Person, count: int) -> int:
        """Return the milliseconds to wait; 0 if the try was counted."""
        interval = round(1000 * TRIES.interval)
        return int(await self._take(keys=[keys.tries(person.id)], args=[count, TRIES.burst, interval]))
