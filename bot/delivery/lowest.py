"""Which table's hand stands lowest in a private chat: that is the one that somebody looks at who plays at several."""

from collections.abc import Callable

from bot.latest import Latest

PLACES_REMEMBERED = 100_000


class LowestHands:
    """What this worker knows, by what it sent and by what others tell; ``on_sent`` tells others.

    Where word of another worker's hand was lost, a hand may be edited that should have come anew, or the other way
    round; both show what they should.
    """

    def __init__(self) -> None:
        self._tables: Latest[str, str] = Latest(PLACES_REMEMBERED)
        self.on_sent: Callable[[str, str], None] = lambda _place, _code: None

    def sent(self, place: str, code: str) -> None:
        """This worker has sent a hand of a table to a private chat."""
        self.note(place, code)
        self.on_sent(place, code)

    def note(self, place: str, code: str) -> None:
        """A table's hand stands lowest in a private chat, whichever worker sent it."""
        self._tables.note(place, code)

    def is_lowest(self, place: str, code: str) -> bool:
        """Whether a table's hand stands lowest in a private chat, as far as is known."""
        return self._tables.get(place, code) == code
