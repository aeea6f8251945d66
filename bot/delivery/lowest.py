"""Which table's hand is lowest in a private chat: the one that a player at several tables sees."""

from collections.abc import Callable

from bot.bounded_dict import BoundedDict

PLACES_CACHED = 100_000


class LowestHands:
    """What this worker knows, from what it sent and from what other workers tell.

    If their word is lost, a hand may be edited that should have come as a new message, or the other way round. Both
    show what they should.
    """

    def __init__(self, on_sent: Callable[[str, str], None] | None = None) -> None:
        """``on_sent`` tells other workers of the place and the table of a hand that this one sent."""
        self._tables: BoundedDict[str, str] = BoundedDict(PLACES_CACHED)
        self._on_sent = on_sent

    def record_sent(self, place: str, code: str) -> None:
        """Note a hand that this worker sent."""
        self.record(place, code)
        if self._on_sent:
            self._on_sent(place, code)

    def record(self, place: str, code: str) -> None:
        """Note the table whose hand is lowest in a private chat, whichever worker sent it."""
        self._tables.put(place, code)

    def is_lowest(self, place: str, code: str) -> bool:
        """Whether a table's hand stands lowest in a private chat, as far as is known."""
        return self._tables.get(place, code) == code
