"""People's streaks of days with the deal of the day."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True)
class Streak:
    now: int  # length of the run that ends today or yesterday, otherwise 0
    longest: int


def streak_of(ordinals: Sequence[int], today: int) -> Streak:
    """Return the streak of a person who played on these days, in ascending order. All days are ordinals."""
    runs = [len(list(run)) for _, run in groupby(enumerate(ordinals), lambda pair: pair[1] - pair[0])]
    return Streak(runs[-1] if runs and ordinals[-1] >= today - 1 else 0, max(runs, default=0))
