"""A person's first game of each kind.

In it, hands explain the letters on cards. Against robots they also show hints unasked. The kinds are those of the
courses: Tressette, packets, Spades. A game is a person's first if none of their last games was of that kind.
"""

from typing import Any

from bot.features.learn import keys
from bot.features.learn.courses import COURSES
from bot.finished.archive import Archive
from bot.hints import UnaskedHints
from bot.tables.table import Table
from engine import Game, GameKind

TURNS_WITH_HINT = 5  # number of turns with a hint, for each kind of move
GAMES_SEARCHED = 20  # number of a person's last games to search


class FirstGames:
    """The stored people who know each kind of game. Every method can raise a store error."""

    def __init__(self, client: Any, archive: Archive) -> None:
        self._client, self._archive = client, archive

    async def is_first_game(self, table: Table, seat: int) -> bool:
        """Return whether a seat's player does not know the table's kind of game (`knows`)."""
        chair, game = table.chairs[seat], table.game
        return chair is not None and game is not None and not await self.knows(chair.person, game.kind)

    async def unasked_hints(self, table: Table, seat: int) -> UnaskedHints:
        """Return whether a hand shows hints unasked: in the first turns of a person's first game of a kind."""
        unasked = hints_in(table.game, seat) if table.game else UnaskedHints.NONE
        if unasked is UnaskedHints.NONE or not await self.is_first_game(table, seat):
            return UnaskedHints.NONE
        return unasked

    async def knows(self, person: str, kind: GameKind) -> bool:
        """Return whether a person has finished a game of this kind, or has stopped the hints."""
        course = course_of(kind)
        if await self._client.sismember(keys.known_games(course), person):
            return True
        numbers = await self._archive.numbers_of(person)
        games = await self._archive.games_by_number(numbers[-GAMES_SEARCHED:])
        if any(course_of(game.record.kind) == course for game in games):
            await self._client.sadd(keys.known_games(course), person)
            return True
        return False

    async def stop_hints(self, person: str) -> None:
        """Stop unasked hints in all games."""
        for course in COURSES:
            await self._client.sadd(keys.known_games(course), person)

    async def export(self, person: str) -> list[str]:
        """Return the courses whose games a person knows, for /mydata."""
        return [course for course in COURSES if await self._client.sismember(keys.known_games(course), person)]

    async def forget(self, person: str) -> None:
        for course in COURSES:
            await self._client.srem(keys.known_games(course), person)


def course_of(kind: GameKind) -> str:
    if kind.layout == "packets":
        return "packets"
    return "tressette" if kind.is_tressette else "spades"


def hints_in(game: Game, seat: int) -> UnaskedHints:
    """Return whether a first game shows a hint at a seat's turn.

    In the first deal, the first turns with each kind of move show one. Playing cards is the last kind of move. So the
    first turn to play a card without a hint returns ENDED.
    """
    next_words = {move.split(" ")[0] for move in game.legal_moves(seat)} - {"resign"}
    if "play" in next_words:
        next_words = {"play"}
    own_moves = [move for mover, move in game.history(seat) if mover == seat and move.split(" ")[0] in next_words]
    if game.deal_number > 1 or len(own_moves) > TURNS_WITH_HINT:
        return UnaskedHints.NONE
    if len(own_moves) < TURNS_WITH_HINT:
        return UnaskedHints.SHOWN
    return UnaskedHints.ENDED if next_words == {"play"} else UnaskedHints.NONE
