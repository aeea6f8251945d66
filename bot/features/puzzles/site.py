"""Puzzles for web pages."""

from dataclasses import replace

from bot.features.puzzles.commands import PuzzlePage, Puzzles, find_puzzle
from bot.people import People, Profile
from bot.platform import Person
from bot.tables.errors import TableError


class PuzzleSite:
    """Puzzles for web pages. Every method except `is_answer` can raise a store error."""

    def __init__(self, people: People, puzzles: Puzzles) -> None:
        self._people, self._puzzles = people, puzzles

    async def page(self, person: str, language: str, id_: str = "") -> PuzzlePage | None:
        profile = await self._people.person(person) if person else Profile("")
        return await self._puzzles.page(replace(profile, language=language), id_)

    @staticmethod
    def is_answer(id_: str, card: str) -> bool:
        """Return whether the puzzle exists and the card can be played in it."""
        try:
            find_puzzle(id_, card)
        except TableError:
            return False
        return True

    async def answer(self, person: Person, id_: str, card: str) -> None:
        """Rate a person's answer. Check it first with `is_answer`."""
        await self._people.meet(person)
        await self._puzzles.ladder.take_answer(person.id, find_puzzle(id_, card), card)
