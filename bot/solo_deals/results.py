"""Robots and results of a deal that each person plays alone.

Both follow from the game and the deal's secret. Players who make the same moves at the same times get the same replies.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bot.words.duplicate_results import deal_result
from engine import Record

SEAT = 0  # seat of the person who plays the deal
LEVEL = "strong"


def seed_for_move(secret: bytes, moves: int) -> int:
    return int.from_bytes(sha256(secret + b"robot" + moves.to_bytes(4, "big")).digest()[:8], "big")


@dataclass(frozen=True)
class SoloResult:
    """A person's result in a deal."""

    points: tuple[int, int] | None  # own and other side's, in the table's units; None if the deal was given up
    tricks: str  # a digit for each trick: 1 taken by this side, 0 by the other

    @property
    def margin(self) -> int | None:
        """The lead over the other side in points, or None if the deal was given up."""
        return self.points[0] - self.points[1] if self.points else None

    @classmethod
    def parse(cls, fields: dict[str, Any]) -> "SoloResult":
        points = fields["points"]
        return cls((points[0], points[1]) if points else None, fields["tricks"])


def result_of(record: Record) -> SoloResult:
    """Return the result of a game of one deal. An unfinished deal counts as given up."""
    deal = deal_result(record)
    own_tricks = "".join("1" if side == str(SEAT) else "0" for side in deal.tricks)
    return SoloResult(deal.points if deal.ending == "played" else None, own_tricks)
