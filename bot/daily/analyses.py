"""Analyses of a day's games, made in the background once the day is over, so that nobody has to ask for them."""

import asyncio
from datetime import timedelta

from bot.analysis_pool import AnalysisPool
from bot.cluster.shards import LEADER_SHARD, Shards
from bot.daily.days import Days
from bot.finished.archive import Archive
from bot.store import Store

POLL_SECONDS = 30.0
"""How often it is looked whether there are games that were not looked at."""


class DayAnalyses:
    """Has every game of yesterday's analysed, one after the other, while nobody wants anything else."""

    def __init__(self, store: Store, shards: Shards, days: Days, archive: Archive, analysis_pool: AnalysisPool) -> None:
        self._store, self._shards, self._days = store, shards, days
        self._archive, self._analysis_pool = archive, analysis_pool
        self._failed: set[str] = set()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if LEADER_SHARD in self._shards.mine:
                with self._store.outage.noted():
                    await self.work()
            await asyncio.sleep(POLL_SECONDS)

    async def work(self) -> None:
        """Have all games of yesterday's analysed that are not; one that cannot be is not tried again."""
        lines = await self._days.results.lines_of_play(self._days.today() - timedelta(days=1))
        known = await self._analysis_pool.kept([line.game for line in lines.values()])
        for line in lines.values():
            if line.game in known or line.game in self._failed:
                continue
            game = await self._archive.get(line.game)
            if game is None or await self._analysis_pool.when_idle(game) is None:
                self._failed.add(line.game)
