"""Puzzles for web pages."""

from typing import Literal, NamedTuple

from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.commands import find_puzzle
from bot.features.puzzles.group_puzzles import GroupPuzzles, easy_puzzle
from bot.features.puzzles.next_puzzle import NextPuzzle
from bot.features.puzzles.pages import (
    QUESTION,
    PuzzleContext,
    PuzzleText,
    lines_panel,
    puzzle_panel,
    solution_panel,
    verdict,
)
from bot.features.puzzles.pictures import puzzle_scene
from bot.features.puzzles.puzzle_ratings import PuzzleStanding
from bot.panel import Panel
from bot.panel_picture import DECKS
from bot.people import People, Profile
from bot.pictures.scene import Scene
from bot.platform import Person
from bot.tables.errors import TableError
from bot.texts import texts
from bot.words.table_lines import capitalize


class PageCard(NamedTuple):
    """A card on a web page. ``drawn`` is the card in the reader's suits; ``light`` is its highlighting."""

    code: str
    drawn: str
    name: str
    light: Literal["playable", "dim", "best", "wrong"] = "dim"


class PageHand(NamedTuple):
    """A player's cards on a web page; in a trick, the one card that they played."""

    name: str
    cards: tuple[PageCard, ...]


class PuzzlePage(NamedTuple):
    """A puzzle for a web page.

    ``question`` asks for the best card. ``hands`` are by seat, the reader's first. ``verdict`` says whether the reader
    was right, and ``lines`` how the deal continues. Before an answer they are empty and None.
    """

    id: str
    game: str
    question: str
    panel: Panel
    verdict: str
    lines: Panel | None
    deck: str
    hands: tuple[PageHand, ...]
    trick: tuple[PageHand, ...]


class PuzzleSite:
    """Puzzles for web pages. The coroutines can raise store errors."""

    def __init__(self, people: People, groups: GroupPuzzles, next_puzzle: NextPuzzle) -> None:
        self._people, self._groups, self._ratings = people, groups, groups.ratings
        self._next_puzzle = next_puzzle

    async def page(self, person: str, language: str, id_: str = "") -> PuzzlePage | None:
        """Return the puzzle with this id; without an id, the person's next one.

        Return None for an unknown id, or after the last puzzle.
        ``person`` is empty for a stranger, who gets an easy puzzle. An answered puzzle is explained.
        """
        profile = await self._people.person(person) if person else Profile("")
        if id_:
            puzzle = all_puzzles().get(id_)
        elif person:
            puzzle = await self._next_puzzle.find(person)
        else:
            puzzle = easy_puzzle(self._groups.today())
        if puzzle is None:
            return None
        answer = await self._ratings.answer_of(person, puzzle.id) if person else ""
        if answer:
            standing = await self._ratings.standing(person)
            panel = solution_panel(language, profile.suits, puzzle, answer, None, standing, has_verdict=False)
        else:
            panel = puzzle_panel(language, profile.suits, puzzle, PuzzleContext())
        position = PuzzleText(language, profile.suits, puzzle)
        words, best = position.words, puzzle.pack.codes[puzzle.best]

        def card(code: str) -> PageCard:
            return PageCard(code, words.faces.drawn_code(code), words.card(code))

        def own(code: str) -> PageCard:
            if answer:
                return card(code)._replace(light="best" if code == best else "wrong" if code == answer else "dim")
            is_playable = puzzle.line(puzzle.pack.index[code]) is not None
            return card(code)._replace(light="playable" if is_playable else "dim")

        names = [capitalize(name) for name in position.names]
        others = [PageHand(names[seat], tuple(map(card, position.codes(seat)))) for seat in range(1, len(names))]
        return PuzzlePage(
            puzzle.id,
            puzzle.game,
            texts(language).gettext(QUESTION),
            panel,
            verdict(language, profile.suits, puzzle, answer) if answer else "",
            lines_panel(language, profile.suits, puzzle, answer, has_verdict=False) if answer else None,
            f"{words.faces.deck}-{profile.deck}",
            (PageHand(names[0], tuple(map(own, position.codes(0)))), *others),
            tuple(PageHand(capitalize(name), (card(code),)) for name, code in position.trick()),
        )

    async def rating_line(self, person: str, language: str) -> str:
        """Return a person's puzzle rating for the first page. ``person`` is empty for a stranger."""
        standing = await self._ratings.standing(person) if person else PuzzleStanding()
        return str(standing.rating) if standing.answered else texts(language).gettext("no rating yet")

    @staticmethod
    def scene(id_: str, language: str) -> Scene | None:
        """Return the picture of a puzzle, which has all hands open; None if no puzzle has this id."""
        puzzle = all_puzzles().get(id_)
        return puzzle_scene(language, *DECKS[0], puzzle) if puzzle else None

    @staticmethod
    def is_answer(id_: str, card: str) -> bool:
        """Return whether the puzzle exists and the card can be played in it."""
        try:
            find_puzzle(id_, card)
        except TableError:
            return False
        return True

    async def answer(self, person: Person, id_: str, card: str) -> None:
        """Rate a person's answer, for which `is_answer` must be true."""
        await self._people.meet(person)
        await self._ratings.take_answer(person.id, find_puzzle(id_, card), card)
