"""A team's matches so far, and the seats of two teams that meet, by article 5.2 of FIDE Handbook C.04.3.

White is the first seat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

WHITE, BLACK = "white", "black"

STRONG = 2  # strength of a due seat after one more match in the other seat
ABSOLUTE = 3  # strength after two more matches in the other seat, or two in a row


@dataclass
class TeamRecord:
    """A team's matches so far. ``colours`` leaves out matches without cards; ``floats`` has every round."""

    score: Fraction = Fraction(0)
    colours: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    met: set[int] = field(default_factory=set)
    byes: int = 0
    forfeit_wins: int = 0

    @property
    def balance(self) -> int:
        """Number of matches in the first seat minus those in the second."""
        return self.colours.count(WHITE) - self.colours.count(BLACK)

    @property
    def due(self) -> str | None:
        """The colour that the team should have next; None before its first match."""
        if not self.colours:
            return None
        if self.balance:
            return BLACK if self.balance > 0 else WHITE
        return BLACK if self.colours[-1] == WHITE else WHITE

    @property
    def strength(self) -> int:
        """The strength of ``due``: `ABSOLUTE`, `STRONG`, 1 to alternate, 0 before the first match."""
        if abs(self.balance) > 1 or self.colours[-2:] in ([WHITE, WHITE], [BLACK, BLACK]):
            return ABSOLUTE
        return STRONG if self.balance else int(bool(self.colours))


def order_seats(records: Mapping[int, TeamRecord], first: int, second: int) -> tuple[int, int]:
    """Return two teams that meet, the one with the first seat first.

    The higher score ranks higher; if scores are equal, the lower number does.
    """
    higher, lower = sorted((first, second), key=lambda team: (-records[team].score, team))
    is_first = _has_first_seat(records[higher], records[lower], is_odd=higher % 2 == 0)
    return (higher, lower) if is_first else (lower, higher)


def _has_first_seat(high: TeamRecord, low: TeamRecord, *, is_odd: bool) -> bool:
    """Return whether the higher ranked team has the first seat. ``is_odd``: its number, counted from 1, is odd."""
    if high.due and low.due and high.due != low.due:
        return high.due == WHITE
    for higher_value, lower_value in ((high.strength, low.strength), (abs(high.balance), abs(low.balance))):
        if higher_value != lower_value:
            return high.due == WHITE if higher_value > lower_value else low.due == BLACK
    for colour, opposite in zip(reversed(high.colours), reversed(low.colours), strict=False):
        if colour != opposite:
            return colour == BLACK
    return high.due == WHITE if high.due else is_odd
