"""The feature of /analyse, and of accuracy in results."""

from collections.abc import Mapping
from dataclasses import replace

from bot.actions import SEPARATE, BadPayload
from bot.core import Core
from bot.delivery.surface_names import Result
from bot.feature import Feature
from bot.features.analysis.completion import Completion
from bot.features.analysis.pages import analysis_page
from bot.finished.game import FinishedGame
from bot.identity.pseudonyms import localize_name
from bot.panel import Panel
from bot.people import Profile
from bot.pictures.results import game_sheet
from bot.platform import Command, Press, Reply, SentMessage, chat_of
from bot.private_replies import answer_place, private_reply, private_toast
from bot.table_policy import Outcome
from bot.tables.errors import TableError
from bot.tables.table import Table
from bot.viewers import with_picture
from engine.robots.verdicts import summarize


class NothingToAnalyse(TableError):
    sentence = "You have no finished game yet: start one with /challenge."


class TooManyAnalyses(TableError):
    sentence = "I’m busy with other games: ask again in a few minutes."


class AnalysisFeature(Feature):
    """Accuracy in results, and analysis on request."""

    name = "analysis"
    private_pages = ("analysis",)

    def __init__(self, core: Core) -> None:
        self._archive, self._analysis_pool, self._viewers = core.archive, core.analysis_pool, core.viewers
        self.commands = {"analyse": self._show_last_game}
        self.pages = {"analysis": self._show_game}
        viewers, answers = core.viewers, core.delivery.answers
        self.completion = Completion(
            core.archive, core.analysis_pool, viewers, core.picture_pool, core.adapters, answers, core.policies
        )
        self._analyses_games = core.analyses_games

    def stop(self) -> None:
        self.completion.stop()

    def on_results_shown(self, table: Table, outcome: Outcome, messages: Mapping[Result, SentMessage]) -> None:
        if self._analyses_games:
            self.completion.start(table, outcome, messages)

    async def _show_game(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        """Return a game's analysis. For a button below a result it is a new message, so that the result stays."""
        if words[1:] not in ([], [SEPARATE]):
            raise BadPayload()
        game = await self._archive.require(words[0])
        reply = private_reply(press.place, profile.language, await self._draw_page(game, press.place, profile))
        return replace(reply, private=True) if words[1:] else reply

    async def _show_last_game(self, command: Command, profile: Profile) -> Reply:
        """Show the analysis of this person's last game, or of this chat's last game if the person has none."""
        place, archive = command.place, self._archive
        game = await archive.last_game(profile.id) or await archive.last_game(chat_of(place))
        if game is None:
            raise NothingToAnalyse()
        panel = await self._draw_page(game, place, profile)
        return Reply(panel=panel, private=True, toast=private_toast(answer_place(command), profile.language))

    async def _draw_page(self, game: FinishedGame, place: str, profile: Profile) -> Panel:
        analysis = await self._analysis_pool.analyse(game)
        if analysis is None:
            raise TooManyAnalyses()
        viewer = await self._viewers.viewer_at(place)
        found_so_far = (analysis.verdicts, analysis.deals, viewer.language, profile.suits)
        panel = analysis_page(game, *found_so_far, viewer.pages_url, profile.id)
        if not viewer.deck or analysis.deals < len(game.record.deals):
            return panel
        names = [localize_name(name, viewer.language) for name in game.record.seats]
        summaries = [summarize(analysis.verdicts, seat) for seat in range(len(names))]
        sheet = game_sheet(game.record, game.code, names, viewer.language, ended=game.ended, summaries=summaries)
        return with_picture(panel, sheet, viewer.language)
