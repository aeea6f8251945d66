"""The command /analyse and the button that shows a game's analysis."""

from bot.actions import BadPayload
from bot.features.analysis.errors import NothingToAnalyse, TooManyAnalyses
from bot.features.analysis.pages import analysis_page
from bot.finished.analysis_pool import AnalysisPool
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.identity.pseudonyms import localize_name
from bot.panel import Panel
from bot.people import Profile
from bot.pictures.results import game_sheet
from bot.platform import Command, Press, Reply, chat_of
from bot.replies import answer_place, private_reply, private_toast
from bot.tables.errors import GameNotKept
from bot.viewers import Viewers, with_picture
from engine.robots.findings import summarize


class AnalysisPages:
    def __init__(self, archive: Archive, analysis_pool: AnalysisPool, viewers: Viewers) -> None:
        self._archive, self._analysis_pool, self._viewers = archive, analysis_pool, viewers

    async def show_game(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        if len(words) != 1:
            raise BadPayload()
        game = await self._archive.get(words[0])
        if game is None:
            raise GameNotKept()
        return private_reply(press.place, profile.language, await self._draw_page(game, press.place, profile))

    async def show_last_game(self, command: Command, profile: Profile) -> Reply:
        """Show the analysis of the game that this person finished last, or else of this chat's last game."""
        place, archive = command.place, self._archive
        game = await archive.last_game(profile.id) or await archive.last_game(chat_of(place))
        if game is None:
            raise NothingToAnalyse()
        panel = await self._draw_page(game, place, profile)
        return Reply(panel=panel, private=True, toast=private_toast(answer_place(command), profile.language))

    async def _draw_page(self, game: FinishedGame, place: str, profile: Profile) -> Panel:
        found = await self._analysis_pool.analyse(game)
        if found is None:
            raise TooManyAnalyses()
        viewer = await self._viewers.viewer_at(place)
        panel = analysis_page(game, found.verdicts, found.deals, viewer.language, profile.suits, viewer.pages_url)
        if not viewer.deck or found.deals < len(game.record.deals):
            return panel
        names = [localize_name(name, viewer.language) for name in game.record.seats]
        summaries = [summarize(found.verdicts, seat) for seat in range(len(names))]
        sheet = game_sheet(game.record, game.code, names, viewer.language, ended=game.ended, summaries=summaries)
        return with_picture(panel, sheet, viewer.language)
