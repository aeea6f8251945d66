"""Rate limits for presses, commands and suggestions, by person and by group.

Each worker counts requests in its own memory. So a person who floods several workers gets the limit from each.
`bot.tables.code_guard` counts wrong table codes.
"""

from enum import Enum

from bot.platform import Command, Person, Press, chat_of, is_private
from bot.rate_limiter import RateLimit, RateLimiter
from bot.tables.errors import TableError

# These limits are far above what fast players need.
PRESSES_OF_PERSON = RateLimit(burst=60, interval=0.2)
PRESSES_IN_GROUP = RateLimit(burst=240, interval=0.05)
COMMANDS_OF_PERSON = RateLimit(burst=30, interval=2.0)
COMMANDS_IN_GROUP = RateLimit(burst=60, interval=1.0)

# After the reply "too many commands" the bot is silent for this long, because answering a flood would also be a flood.
BREAK_SECONDS = 30.0


class Verdict(Enum):
    """The decision on a request."""

    ANSWER = "within the limits"
    REFUSE = "above the limits, with a reply that says so"
    DROP = "above the limits, after a reply that said so"


class TooManyPresses(TableError):
    sentence = "Too fast for me: wait a moment and press again."


class TooManyCommands(TableError):
    sentence = "Too fast for me: write again in {seconds} seconds."


class RequestLimits:
    """Counts the recent requests of each person and group at this worker."""

    def __init__(self, *, on: bool) -> None:
        self._on = on
        self._presses, self._commands = RateLimiter(), RateLimiter()
        self._breaks, self._suggestions = RateLimiter(), RateLimiter()

    def check_press(self, press: Press) -> Verdict:
        if not self._on:
            return Verdict.ANSWER
        if self._presses.take(press.person.id, PRESSES_OF_PERSON) > 0:
            return Verdict.REFUSE
        group = _group(press.place)
        if group and self._presses.take(group, PRESSES_IN_GROUP) > 0:
            return Verdict.REFUSE
        return Verdict.ANSWER

    def allows_suggestion(self, person: Person) -> bool:
        """Return whether a person who types gets suggestions. These have the limit of presses, counted separately."""
        return not self._on or self._suggestions.take(person.id, PRESSES_OF_PERSON) <= 0

    def check_command(self, command: Command) -> Verdict:
        """Return whether to answer a command, refuse it, or drop it during the break after a refusal."""
        if not self._on:
            return Verdict.ANSWER
        group = _group(command.place)
        once = RateLimit(1, BREAK_SECONDS)
        if any(self._breaks.wait_seconds(sender, once) > 0 for sender in (command.person.id, group) if sender):
            return Verdict.DROP
        for sender, rate_limit in ((command.person.id, COMMANDS_OF_PERSON), (group, COMMANDS_IN_GROUP)):
            if sender and self._commands.take(sender, rate_limit) > 0:
                self._breaks.take(sender, once)
                return Verdict.REFUSE
        return Verdict.ANSWER


def _group(place: str) -> str:
    """Return a group's key, distinct from people's; empty in a private chat and at an ephemeral place."""
    return "" if is_private(place) else f"group {chat_of(place)}"
