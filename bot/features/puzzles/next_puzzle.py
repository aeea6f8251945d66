"""Chooses a person's next puzzle: from games that they know, easy ones first."""

from collections.abc import Container

from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.puzzle_ratings import PuzzleRatings
from bot.finished.archive import Archive
from engine import GAMES
from engine.puzzles.puzzle import Puzzle

GAMES_SEARCHED = 20  # games among this many of a person's last ones count as known


class NextPuzzle:
    """Chooses the next puzzle of a person. Every method can raise a store error."""

    def __init__(self, ratings: PuzzleRatings, archive: Archive) -> None:
        self._ratings, self._archive = ratings, archive

    async def find(self, person: str, game: str = "") -> Puzzle | None:
        """Return a person's next puzzle, of ``game`` if one is named. None if all are answered."""
        if game:
            return await self._ratings.next_puzzle(person, all_puzzles(), {game})
        return await self._ratings.next_puzzle(
            person, all_puzzles(), await self._known_games(person)
        ) or await self._ratings.next_puzzle(person, all_puzzles())

    async def _known_games(self, person: str) -> Container[str]:
        """Return the Tressette games, and every other game that the person has played or answered a puzzle of."""
        numbers = await self._archive.numbers_of(person)
        played = {game.record.game for game in await self._archive.games_by_number(numbers[-GAMES_SEARCHED:])}
        answered = {all_puzzles().game_of(id_) for id_ in await self._ratings.answered(person) if id_ in all_puzzles()}
        return {id_ for id_, kind in GAMES.items() if kind.is_tressette} | played | answered
