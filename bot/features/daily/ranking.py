"""Rankings of a day's results."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from bot.solo_deals.results import SoloResult


class RankedResult(NamedTuple):
    person: str
    result: SoloResult
    rank: int | None  # from 1, shared by equal results; None if the deal was given up


def rank_results(results: Mapping[str, SoloResult]) -> list[RankedResult]:
    """Rank results, best first. Given-up deals come last."""
    margins = sorted((result.margin for result in results.values() if result.margin is not None), reverse=True)
    finished_results = [
        RankedResult(person, result, None if result.margin is None else margins.index(result.margin) + 1)
        for person, result in results.items()
    ]
    return sorted(finished_results, key=lambda line: (line.rank or len(finished_results) + 1, line.person))


def rank_among(ranking: Sequence[RankedResult], people: Collection[str]) -> list[RankedResult]:
    return rank_results({line.person: line.result for line in ranking if line.person in people})
