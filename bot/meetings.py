"""The places where people meet, so that they can block each other from there.

A place is named by words such as ``duel 5RQA2G``, which say nothing about people. The feature that owns it finds the
other person, under the name that the asking person knows.
"""

from collections.abc import Awaitable, Callable, Sequence

from bot import actions
from bot.panel import Button
from bot.people import Profile
from bot.tables.chairs import Chair
from bot.texts import texts

# Finds the other person in a place; None if the asking person met nobody there.
Finder = Callable[[Profile, Sequence[str]], Awaitable[Chair | None]]


class Meetings:
    def __init__(self) -> None:
        self._finders: dict[str, Finder] = {}

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self._finders)

    def add(self, kind: str, find: Finder) -> None:
        """Add a kind of place, which is its first word."""
        self._finders[kind] = find

    async def find(self, profile: Profile, place: Sequence[str]) -> Chair | None:
        """Return the person whom somebody met in a place; None if they met nobody there."""
        kind, *words = place
        return await self._finders[kind](profile, words) if kind in self._finders else None


def block_button(language: str, *place: object) -> Button:
    """Return a button that asks whether to block the person met in a place."""
    return Button(texts(language).gettext("🚫 Block"), actions.page("block", "ask", *place))
