"""The game of each day. It is stored on first use, so adding a game changes no past day."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from bot.days.draws import DailyDraws
from bot.features.daily import keys
from engine import GAMES

FIRST_GAMES = ("pizzichino", "spizzichino", "metamazzo", "testa", "tressette", "tavolo", "spades")
"""The games of releases that did not store each day's game. Never change this list: it determines those days."""


def unstored_game(day: date) -> str:
    return FIRST_GAMES[day.toordinal() % len(FIRST_GAMES)]


def choose_game(day: date, games: Mapping[date, str]) -> str:
    """Choose the game of a new day in rotation; ``games`` are the games of other days.

    If no day is stored, an early release might have started this day. So the day gets that release's game.
    """
    return list(GAMES)[day.toordinal() % len(GAMES)] if games else unstored_game(day)


class DayGames:
    def __init__(self, client: Any) -> None:
        self._drawn = DailyDraws(client, keys.DRAWN)

    async def todays_game(self, today: date) -> str:
        return await self._drawn.draw(today, lambda games: choose_game(today, games))

    async def past_game(self, day: date) -> str:
        return await self._drawn.get(day) or unstored_game(day)
