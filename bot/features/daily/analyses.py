"""Background analyses of yesterday's games, so that players need not request them."""

from datetime import timedelta

from bot.cluster.shards import Shards
from bot.features.daily.days import Days
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive

POLL_SECONDS = 30.0


class DayAnalyses:
    """Analyses yesterday's games one after the other, while the robot pool is idle."""

    def __init__(self, shards: Shards, days: Days, archive: Archive, analysis_pool: AnalysisPool) -> None:
        self._shards, self._days = shards, days
        self._archive, self._analysis_pool = archive, analysis_pool
        self._failed: set[str] = set()

    async def run(self) -> None:
        await self._shards.while_leader(POLL_SECONDS, self.work)

    async def work(self) -> None:
        """Analyse the games of yesterday that have no analysis. Failed games are not retried."""
        lines = await self._days.results.lines_of_play(self._days.today() - timedelta(days=1))
        known = await self._analysis_pool.stored_verdicts([line.game for line in lines.values()])
        for line in lines.values():
            if line.game in known or line.game in self._failed:
                continue
            game = await self._archive.get(line.game)
            if game is None or await self._analysis_pool.analyse_when_idle(game) is None:
                self._failed.add(line.game)
