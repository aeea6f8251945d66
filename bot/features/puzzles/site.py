"""Puzzles for web pages."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.commands import find_puzzle
from bot.features.puzzles.group_puzzles import GroupPuzzles, easy_puzzle
from bot.features.puzzles.next_puzzle import NextPuzzle
from bot.features.puzzles.pages import QUESTION, lines_panel, standing_lines, verdict
from bot.features.puzzles.pictures import puzzle_scene
from bot.features.puzzles.puzzle_ratings import PuzzleStanding
from bot.features.puzzles.reasons import reason
from bot.features.puzzles.texts import PuzzleText
from bot.panel import Panel
from bot.panel_picture import DECKS
from bot.people import People, Profile
from bot.pictures.scene import Scene
from bot.platform import Person
from bot.tables.errors import TableError
from bot.texts import texts
from bot.words.table_lines import capitalize
from engine.puzzles.puzzle import Puzzle


class PageCard(NamedTuple):
    """A card on a web page. ``drawn`` is the card in the reader's suits; ``light`` is its highlighting."""

    code: str
    drawn: str
    name: str
    light: Literal["playable", "dim", "best", "wrong"] = "dim"


class PageHand(NamedTuple):
    """A player's cards on a web page; in a trick, the one card that they played. ``note``: their part in the trick."""

    name: str
    cards: tuple[PageCard, ...]
    note: str = ""


class PageFigure(NamedTuple):
    """A card and the points that it earns. ``mark`` says whether it was best, or the reader's choice."""

    card: str
    points: str
    mark: str


class PuzzlePage(NamedTuple):
    """A puzzle for a web page.

    ``question`` asks for the best card, ``order`` says who led, and ``facts`` are the points so far and what counts.
    ``hands`` are by seat, the reader's first; ``trick`` ends with the card before the reader's. After an answer,
    ``verdict`` says whether the reader was right, ``why`` what the best card brings, ``figures`` what each card earns,
    ``lines`` how the deal continues, and ``standing`` the reader's rating. Before it they are empty and None.
    """

    id: str
    game: str
    title: str
    question: str
    order: str
    facts: tuple[str, ...]
    deck: str
    hands: tuple[PageHand, ...]
    trick: tuple[PageHand, ...]
    verdict: str = ""
    why: str = ""
    figures_title: str = ""
    figures: tuple[PageFigure, ...] = ()
    lines: Panel | None = None
    standing: tuple[str, ...] = ()


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
        page = _unanswered_page(language, profile, puzzle, answer)
        if not answer:
            return page
        position = PuzzleText(language, profile.suits, puzzle)
        standing = await self._ratings.standing(person)
        return page._replace(
            verdict=verdict(language, profile.suits, puzzle, answer),
            why=reason(position, answer),
            figures_title=position.figures_title(),
            figures=tuple(_page_figures(position, answer)),
            lines=lines_panel(language, profile.suits, puzzle, answer, has_verdict=False),
            standing=tuple(standing_lines(language, None, standing)),
        )

    async def rating_line(self, person: str, language: str) -> str:
        """Return a person's puzzle rating for the first page, or the task. ``person`` is empty for a stranger."""
        _ = texts(language).gettext
        standing = await self._ratings.standing(person) if person else PuzzleStanding()
        return _("rating {rating}").format(rating=standing.rating) if standing.answered else _("find the best card")

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


def _unanswered_page(language: str, profile: Profile, puzzle: Puzzle, answer: str) -> PuzzlePage:
    """Return a puzzle without its solution, but with the reader's ``answer`` and the best card marked after one."""
    position = PuzzleText(language, profile.suits, puzzle)
    words, best = position.words, puzzle.pack.codes[puzzle.best]

    def card(code: str) -> PageCard:
        return PageCard(code, words.faces.drawn_code(code), words.card(code))

    def own(code: str) -> PageCard:
        if answer:
            return card(code)._replace(light="best" if code == best else "wrong" if code == answer else "dim")
        is_playable = puzzle.line(puzzle.pack.index[code]) is not None
        return card(code)._replace(light="playable" if is_playable else "dim")

    def hand(seat: int) -> PageHand:
        cards = map(card if seat else own, position.codes(seat))
        return PageHand(capitalize(position.names[seat]), tuple(cards), position.seat_note(seat))

    return PuzzlePage(
        id=puzzle.id,
        game=puzzle.game,
        title=position.title(),
        question=words.text(QUESTION),
        order=position.order(),
        facts=(position.taken_text(), position.scoring()),
        deck=f"{words.faces.deck}-{profile.deck}",
        hands=tuple(map(hand, range(len(position.names)))),
        trick=tuple(PageHand(capitalize(name), (card(code),)) for name, code in position.trick()),
    )


def _page_figures(position: PuzzleText, answer: str) -> Iterator[PageFigure]:
    _ = position.words.text
    for figure in position.figures(answer):
        marks = ((figure.is_best, _("best")), (figure.is_chosen, _("your card")))
        mark = ", ".join(text for applies, text in marks if applies)
        yield PageFigure(position.words.card(figure.code), figure.points, mark)
