"""The game of each day. It is stored when it is first needed, so that a new game in the list changes no past day.

| key | type | what |
|---|---|---|
| ``daily:drawn`` | hash | the game of each day, by its date |
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from bot.daily_draws import DailyDraws
from bot.store import keys
from engine import GAMES

FIRST_GAMES = ("pizzichino", "spizzichino", "metamazzo", "testa", "tressette", "tavolo", "spades")
"""The games of the releases that stored no day. Their days follow from this list: never change it."""


def unstored_game(day: date) -> str:
    """Return the game of a day that an earlier release played without storing it."""
    return FIRST_GAMES[day.toordinal() % len(FIRST_GAMES)]


def choose_game(day: date, drawn: Mapping[date, str]) -> str:
    """Choose the game of a new day: all games take turns. ``drawn`` are the games of other days.

    The first day that a store stores may have been begun by an earlier release.
    """
    return list(GAMES)[day.toordinal() % len(GAMES)] if drawn else unstored_game(day)


class DayGames:
    """The games of one store's days. Every method raises the store's errors."""

    def __init__(self, client: Any) -> None:
        self._drawn = DailyDraws(client, keys.DAILY_DRAWN)

    async def todays_game(self, today: date) -> str:
        """Return today's game, and store it if it is not stored yet."""
        return await self._drawn.draw(today, lambda drawn: choose_game(today, drawn))

    async def past_game(self, day: date) -> str:
        """Return the game of a day that is over."""
        return await self._drawn.get(day) or unstored_game(day)
