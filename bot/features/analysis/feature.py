"""The analysis feature."""

from collections.abc import Mapping

from bot.actions import BadPayload
from bot.core import Core
from bot.delivery.names import Result
from bot.feature import Feature
from bot.features.analysis.commands import AnalysisPages
from bot.features.analysis.completion import Completion
from bot.people import Profile
from bot.platform import Command, Press, Reply, SentMessage
from bot.replies import answer_place, private_reply, private_toast
from bot.table_policy import Outcome
from bot.tables.table import Table


class AnalysisFeature(Feature):
    """Accuracy in results, and analysis on request."""

    name = "analysis"
    private_pages = ("analysis",)

    def __init__(self, core: Core) -> None:
        self.analyses = AnalysisPages(core.archive, core.analysis_pool, core.viewers)
        self.commands = {"analyse": self._command}
        self.pages = {"analysis": self._page}
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

    async def _command(self, command: Command, profile: Profile) -> Reply:
        panel = await self.analyses.show_last_game(command.place, profile)
        return Reply(panel=panel, private=True, toast=private_toast(answer_place(command), profile.language))

    async def _page(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        if len(words) != 1:
            raise BadPayload()
        return private_reply(
            press.place, profile.language, await self.analyses.show_game(press.place, profile, words[0])
        )
