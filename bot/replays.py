"""Pages about finished games: a deal trick by trick, and the proof of its shuffle."""

from bot.actions import BadPayload
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.panel import Panel
from bot.panels.pages import fair_page, replay_page
from bot.people import Profile
from bot.tables.errors import GameNotKept
from bot.viewers import Viewers


class Replays:
    """Pages about archived games. ``deal`` is a number from 1, as text. Raises GameNotKept for an unknown game."""

    def __init__(self, archive: Archive, viewers: Viewers) -> None:
        self._archive, self._viewers = archive, viewers

    async def replay(self, place: str, profile: Profile, game_id: str, deal: str) -> Panel:
        """Return a deal trick by trick, in a place's language and a person's suits."""
        game, number = await self._deal_of(game_id, deal)
        return replay_page(game, number, (await self._viewers.viewer_at(place)).language, profile.suits)

    async def fair(self, place: str, game_id: str, deal: str) -> Panel:
        game, number = await self._deal_of(game_id, deal)
        return fair_page(game, number, (await self._viewers.viewer_at(place)).language)

    async def _deal_of(self, game_id: str, deal: str) -> tuple[FinishedGame, int]:
        game = await self._archive.get(game_id)
        if game is None:
            raise GameNotKept()
        if not deal.isdecimal() or not 1 <= int(deal) <= len(game.record.deals):
            raise BadPayload()
        return game, int(deal)
