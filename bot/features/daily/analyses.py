"""Analyses of a day's games, made in the background once the day is over, so that nobody has to ask for them."""

from datetime import timedelta

from bot.cluster.shards import Shards
from bot.features.daily.days import Days
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive

POLL_SECONDS = 30.0
"""How often it is looked whether there are games that were not looked at."""


class DayAnalyses:
    """Has every game of yesterday's analysed, one after the other, while nobody wants anything else."""

    def __init__(self, shards: Shards, days: Days, archive: Archive, analysis_pool: AnalysisPool) -> None:
        self._shards, self._days = shards, days
        self._archive, self._analysis_pool = archive, analysis_pool
        self._failed: set[str] = set()

    async def run(self) -> None:
        """Have games analysed, until cancelled."""
        await self._shards.while_leader(POLL_SECONDS, self.work)

    async def work(self) -> None:
        """Have all games of yesterday's analysed that are not; one that cannot be is not tried again."""
        lines = await self._days.results.lines_of_play(self._days.today() - timedelta(days=1))
        known = await self._analysis_pool.stored_verdicts([line.game for line in lines.values()])
        for line in lines.values():
            if line.game in known or line.game in self._failed:
                continue
            game = await self._archive.get(line.game)
            if game is None or await self._analysis_pool.analyse_when_idle(game) is None:
                self._failed.add(line.game)
