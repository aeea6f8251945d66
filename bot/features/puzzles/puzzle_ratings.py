"""Ratings of solvers and puzzles. Each answer is a game between the two.

Ratings are openskill's, shown like the ratings of players (`bot.finished.ratings`). A puzzle's first rating depends on
how many simple players missed it. Only a person's first answer to a puzzle counts.
"""

import json
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, NamedTuple

from openskill.models import PlackettLuce

from bot.features.puzzles import keys
from bot.finished.rating_formula import BEGINNER, SCALE
from bot.store.lua import read_script
from engine.puzzles.puzzle import Puzzle

MODEL = PlackettLuce()
# a new puzzle's mu if 0 or 100 percent miss it, and its sigma
EASIEST_MU, HARDEST_MU, INITIAL_SIGMA = 15.0, 35.0, 4.0
KEPT_SECONDS = 3 * 86400  # lifetime of a group's counts of answers

ANSWER = read_script(__file__, "answer")


@dataclass(frozen=True)
class PuzzleStanding:
    """A person's rating and counts. ``mu`` and ``sigma`` are openskill's; ``run`` counts right answers in a row."""

    mu: float = MODEL.mu
    sigma: float = MODEL.sigma
    answered: int = 0
    solved: int = 0
    run: int = 0
    longest: int = 0

    @property
    def rating(self) -> int:
        """The displayed rating: a whole number, 1000 for a beginner."""
        return round(BEGINNER + SCALE * (self.mu - 3 * self.sigma))


class StandingChange(NamedTuple):
    old_standing: PuzzleStanding
    new_standing: PuzzleStanding


class AnswerCounts(NamedTuple):
    right: int
    wrong: int


class PuzzleRatings:
    """All ratings and answers in the store. Every method can raise a store error."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._answer = client.register_script(ANSWER)

    async def standing(self, person: str) -> PuzzleStanding:
        text = await self._client.hget(keys.PEOPLE, person)
        return PuzzleStanding(**json.loads(text)) if text else PuzzleStanding()

    async def answer_of(self, person: str, puzzle: str) -> str:
        """Return the card that a person chose in a puzzle, or an empty string if they have not answered."""
        card = await self._client.hget(keys.answers(person), puzzle)
        return card.decode() if card else ""

    async def answered_ids(self, person: str) -> set[str]:
        """Return the ids of the puzzles that a person has answered."""
        return {id_.decode() for id_ in await self._client.hkeys(keys.answers(person))}

    async def next_id(self, person: str) -> str:
        """Return the id of the puzzle that was chosen for a person, or an empty string."""
        return (await self._client.hget(keys.NEXT, person) or b"").decode()

    async def set_next_id(self, person: str, puzzle: str) -> None:
        await self._client.hset(keys.NEXT, person, puzzle)

    async def mu_of_rated(self) -> dict[str, float]:
        """Return openskill's mu of every puzzle that someone has answered, by its id."""
        ratings = await self._client.hgetall(keys.RATINGS)
        return {id_.decode(): _parse_rating(text)[0] for id_, text in ratings.items()}

    async def take_answer(
        self, person: str, puzzle: Puzzle, card: str, group: tuple[str, date] | None = None
    ) -> StandingChange | None:
        """Rate an answer, and count it for a ``group`` (its chat and the day). Return None for a second answer."""
        is_right = card == puzzle.pack.codes[puzzle.best]
        count_field = ("right" if is_right else "wrong") if group else ""
        answers = keys.answers(person)
        while True:
            known_text = (await self._client.hget(keys.PEOPLE, person) or b"").decode()
            text = await self._client.hget(keys.RATINGS, puzzle.id)
            old_standing = PuzzleStanding(**json.loads(known_text)) if known_text else PuzzleStanding()
            rating = _parse_rating(text) if text else (initial_mu(puzzle.missed), INITIAL_SIGMA)
            now, (mu, sigma) = rate_answer(old_standing, rating, is_right=is_right)
            new_texts = known_text, json.dumps(asdict(now)), f"{mu} {sigma}"
            outcome = await self._answer(
                keys=[answers, keys.PEOPLE, keys.RATINGS, keys.chat_answers(*group) if group else answers],
                args=[puzzle.id, card, person, *new_texts, count_field, KEPT_SECONDS],
            )
            if outcome >= 0:
                return StandingChange(old_standing, now) if outcome else None

    # In groups

    async def count_answers(self, chat: str, day: date) -> AnswerCounts:
        """Count the answers to a day's puzzle in a group."""
        right_count, wrong_count = await self._client.hmget(keys.chat_answers(chat, day), "right", "wrong")
        return AnswerCounts(int(right_count or 0), int(wrong_count or 0))

    async def move_chat(self, old_id: str, new_id: str, day: date) -> None:
        """Move a day's answers to a chat's new id, unless the new id has answers."""
        if await self._client.exists(keys.chat_answers(old_id, day)):
            await self._client.renamenx(keys.chat_answers(old_id, day), keys.chat_answers(new_id, day))

    # Export and deletion

    async def export(self, person: str) -> dict[str, Any]:
        answers = await self._client.hgetall(keys.answers(person))
        if not answers:
            return {}
        return {
            "solver": asdict(await self.standing(person)),
            "answers": {puzzle.decode(): card.decode() for puzzle, card in answers.items()},
        }

    async def forget(self, person: str) -> None:
        await self._client.hdel(keys.PEOPLE, person)
        await self._client.hdel(keys.NEXT, person)
        await self._client.delete(keys.answers(person))


def _parse_rating(text: bytes) -> tuple[float, float]:
    mu, sigma = text.split()
    return float(mu), float(sigma)


def initial_mu(missed: int) -> float:
    """Return the mu of a puzzle without answers. ``missed`` is `Puzzle.missed`, in percent."""
    return EASIEST_MU + (HARDEST_MU - EASIEST_MU) * missed / 100


def rate_answer(
    solver: PuzzleStanding, puzzle: tuple[float, float], *, is_right: bool
) -> tuple[PuzzleStanding, tuple[float, float]]:
    """Return the person's and the puzzle's new ratings; ``puzzle`` is a mu and a sigma."""
    person = MODEL.rating(mu=solver.mu, sigma=solver.sigma)
    other = MODEL.rating(mu=puzzle[0], sigma=puzzle[1])
    [[person], [other]] = MODEL.rate([[person], [other]], ranks=[0, 1] if is_right else [1, 0])
    run = solver.run + 1 if is_right else 0
    answered, solved, longest = solver.answered + 1, solver.solved + is_right, max(solver.longest, run)
    mu, sigma = round(person.mu, 4), round(person.sigma, 4)
    now = PuzzleStanding(mu, sigma, answered, solved, run, longest)
    return now, (round(other.mu, 4), round(other.sigma, 4))
