"""Chooses a person's next puzzle: from games that they know, easy ones first."""

from collections.abc import Container
from heapq import nsmallest
from random import choice

from bot.features.puzzles.collection import Collection, all_puzzles
from bot.features.puzzles.puzzle_ratings import PuzzleRatings, initial_mu
from bot.features.puzzles.stars import ONE_STAR
from bot.finished.archive import Archive
from engine import GAMES
from engine.puzzles.puzzle import Puzzle

GAMES_SEARCHED = 20  # number of a person's last finished tables; their games count as known
CANDIDATES = 25  # number of unanswered puzzles near a person's rating, from which one is chosen
EASY_ANSWERS = 3  # a person with fewer answers gets puzzles with one star


class NextPuzzle:
    """Chooses the next puzzle of a person. Every method can raise a store error."""

    def __init__(self, ratings: PuzzleRatings, archive: Archive) -> None:
        self._ratings, self._archive = ratings, archive

    async def find(self, person: str, game: str = "") -> Puzzle | None:
        """Return a person's next puzzle, of ``game`` if one is named. Return None if all are answered."""
        ratings, puzzles = self._ratings, all_puzzles()
        if game:
            return await choose_next(ratings, person, puzzles, {game})
        puzzle = await choose_next(ratings, person, puzzles, await self._known_games(person))
        return puzzle or await choose_next(ratings, person, puzzles)

    async def _known_games(self, person: str) -> Container[str]:
        """Return the games that the person has played or answered a puzzle of, and the Tressette games for two.

        Newcomers know no partner and no packets.
        """
        numbers = await self._archive.numbers_of(person)
        played_games = {game.record.game for game in await self._archive.games_by_number(numbers[-GAMES_SEARCHED:])}
        answered = {
            all_puzzles().game_of(id_) for id_ in await self._ratings.answered_ids(person) if id_ in all_puzzles()
        }
        return {id_ for id_, kind in GAMES.items() if kind.layout == "stock"} | played_games | answered


async def choose_next(
    ratings: PuzzleRatings, person: str, puzzles: Collection, games: Container[str] = tuple(GAMES)
) -> Puzzle | None:
    """Return a puzzle of ``games`` that suits a person's rating, the same one until they answer it.

    A person's first puzzles have one star. Return None if all are answered. Raises store errors.
    """
    next_id, answered = await ratings.next_id(person), await ratings.answered_ids(person)
    if next_id in puzzles.keys() - answered and puzzles.game_of(next_id) in games:
        return puzzles[next_id]
    solver, mu_by_puzzle = await ratings.standing(person), await ratings.mu_of_rated()

    def distance(id_: str) -> tuple[bool, float, str]:
        mu = mu_by_puzzle[id_] if id_ in mu_by_puzzle else initial_mu(puzzles.missed_by(id_))
        is_too_hard = solver.answered < EASY_ANSWERS and puzzles.missed_by(id_) >= ONE_STAR
        return is_too_hard, abs(mu - solver.mu), id_

    unanswered_ids = (id_ for id_ in puzzles if id_ not in answered and puzzles.game_of(id_) in games)
    nearest_ids = nsmallest(CANDIDATES, unanswered_ids, key=distance)
    if not nearest_ids:
        return None
    next_id = choice(nearest_ids)
    await ratings.set_next_id(person, next_id)
    return puzzles[next_id]
