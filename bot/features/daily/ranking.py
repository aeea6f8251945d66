"""Rankings of a day's results, and people's streaks of days."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from bot.features.daily.results import DayResult


class RankedResult(NamedTuple):
    person: str
    result: DayResult
    rank: int | None  # from 1, shared by equal results; None if the deal was given up


@dataclass(frozen=True)
class Streak:
    now: int  # length of the run up to today or yesterday
    longest: int


def rank_results(results: Mapping[str, DayResult]) -> list[RankedResult]:
    """Rank results, best first. Given-up deals come last."""
    margins = sorted((result.margin for result in results.values() if result.margin is not None), reverse=True)
    lines = [
        RankedResult(person, result, None if result.margin is None else margins.index(result.margin) + 1)
        for person, result in results.items()
    ]
    return sorted(lines, key=lambda line: (line.rank or len(lines) + 1, line.person))


def rank_among(lines: Sequence[RankedResult], people: Collection[str]) -> list[RankedResult]:
    return rank_results({line.person: line.result for line in lines if line.person in people})


def streak_of(ordinals: Sequence[int], today: int) -> Streak:
    """Return the streak of a person who played on these days, in ascending order. All days are ordinals."""
    runs = [len(list(run)) for _, run in groupby(enumerate(ordinals), lambda numbered: numbered[1] - numbered[0])]
    return Streak(runs[-1] if runs and ordinals[-1] >= today - 1 else 0, max(runs, default=0))
