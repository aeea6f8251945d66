"""The lowest hand in each private chat, which is the hand that a player at several tables sees."""

from collections.abc import Callable

from cachetools import FIFOCache

PLACES_CACHED = 100_000


class LowestHands:
    """The table of the lowest hand in each private chat, from this worker's sends and other workers' notifications.

    If a notification is lost, a hand is edited instead of sent again, or the other way round. Its content is right.
    """

    def __init__(self, on_sent: Callable[[str, str], None] | None = None) -> None:
        """``on_sent`` notifies other workers of the place and the table of a hand that this worker sent."""
        self._tables: FIFOCache[str, str] = FIFOCache(PLACES_CACHED)
        self._on_sent = on_sent

    def record_sent(self, place: str, code: str) -> None:
        """Note a hand that this worker sent, and notify the other workers."""
        self.record(place, code)
        if self._on_sent:
            self._on_sent(place, code)

    def record(self, place: str, code: str) -> None:
        """Note the table of the lowest hand in a private chat."""
        self._tables[place] = code

    def is_lowest(self, place: str, code: str) -> bool:
        """Return whether a table's hand is lowest in a private chat; True if unknown."""
        return self._tables.get(place, code) == code
