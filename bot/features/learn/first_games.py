"""The first game of each kind that a person plays against robots. In its first deal, hands show hints unasked.

The kinds are those of the courses: Tressette, packets, Spades. A game against robots is a person's first if none of
their last games was of that kind.
"""

from collections.abc import Mapping
from typing import Any

from bot.features.learn import keys
from bot.features.learn.courses import COURSES
from bot.finished.archive import Archive
from bot.tables.table import Table
from engine import Game, GameKind

TURNS_WITH_HINT = 5  # of each kind, such as bids or cards
GAMES_SEARCHED = 20  # of a person's last games
NO_TABLE = "-"  # instead of a table's code: the person knows the game, or wants no hints


class FirstGames:
    """The tables of first games, in the store. Every method can raise a store error."""

    def __init__(self, client: Any, archive: Archive) -> None:
        self._client, self._archive = client, archive

    async def shows_hint(self, table: Table, seat: int) -> bool:
        """Return whether a hand shows a hint unasked: in the first turns of a person's first game of a kind."""
        chair, game = table.chairs[seat], table.game
        if chair is None or game is None or not is_early(game, seat):
            return False
        course = course_of(game.kind)
        return await self._table_of_first_game(chair.person, course, table.code) == table.code

    async def _table_of_first_game(self, person: str, course: str, code: str) -> str:
        """Return the table of a person's first game. Until there is one, it is the table ``code``."""
        key = keys.first_games(course)
        found = await self._client.hget(key, person)
        if found is None:
            await self._client.hsetnx(key, person, NO_TABLE if await self._has_played(person, course) else code)
            found = await self._client.hget(key, person)
        return found.decode() if found else NO_TABLE

    async def _has_played(self, person: str, course: str) -> bool:
        numbers = await self._archive.numbers_of(person)
        games = await self._archive.games_by_number(numbers[-GAMES_SEARCHED:])
        return any(course_of(game.record.kind) == course for game in games)

    async def stop_hints(self, person: str) -> None:
        """Show no more hints unasked in any game."""
        for course in COURSES:
            await self._client.hset(keys.first_games(course), person, NO_TABLE)

    async def export(self, person: str) -> Mapping[str, str]:
        """Return the table of a person's first game by course, for /mydata."""
        found = {course: await self._client.hget(keys.first_games(course), person) for course in COURSES}
        return {course: code.decode() for course, code in found.items() if code}

    async def forget(self, person: str) -> None:
        for course in COURSES:
            await self._client.hdel(keys.first_games(course), person)


def course_of(kind: GameKind) -> str:
    if kind.layout == "packets":
        return "packets"
    return "tressette" if kind.is_tressette else "spades"


def is_early(game: Game, seat: int) -> bool:
    """Return whether a seat has made few moves of the kind that is next, in the first deal."""
    next_words = {move.split(" ")[0] for move in game.legal_moves(seat)} - {"resign"}
    made = [move for by, move in game.history(seat) if by == seat and move.split(" ")[0] in next_words]
    return game.deal_number == 1 and len(made) < TURNS_WITH_HINT
