"""The feature object of analysis."""

from collections.abc import Mapping

from bot.core import Core
from bot.delivery.names import Result
from bot.feature import Feature
from bot.features.analysis.commands import AnalysisPages
from bot.features.analysis.completion import Completion
from bot.platform import SentMessage
from bot.table_policy import Outcome
from bot.tables.table import Table


class AnalysisFeature(Feature):
    """Accuracy in results, and analysis on request."""

    name = "analysis"
    private_pages = ("analysis",)

    def __init__(self, core: Core) -> None:
        analyses = AnalysisPages(core.archive, core.analysis_pool, core.viewers)
        self.commands = {"analyse": analyses.show_last_game}
        self.pages = {"analysis": analyses.show_game}
        self.completion = Completion(
            core.archive,
            core.analysis_pool,
            core.viewers,
            core.picture_pool,
            core.adapters,
            core.delivery.answers,
            core.policies,
        )
        self._analyses_games = core.analyses_games

    def stop(self) -> None:
        self.completion.stop()

    def on_results_shown(self, table: Table, outcome: Outcome, messages: Mapping[Result, SentMessage]) -> None:
        if self._analyses_games:
            self.completion.start(table, outcome, messages)
