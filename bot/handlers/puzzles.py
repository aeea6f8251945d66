"""Puzzles: /puzzle, and the answers to them."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.actions import BadPayload
from bot.daily.reminders import HOURS
from bot.handlers.errors import NoSuchPuzzle
from bot.panel import Panel
from bot.panels.daily import OFF
from bot.panels.phrases import capital
from bot.panels.puzzles import Asked, Position, none_left_panel, puzzle_panel, solution_panel, verdict
from bot.people import Profile
from bot.pictures.cards import IN_FRENCH
from bot.platform import Reply, chat_of, is_private
from bot.puzzles.rounds import all_puzzles, puzzle_of, with_picture
from bot.texts import texts
from bot.viewers import Viewers
from bot.worker import Worker
from engine.puzzles.puzzle import Puzzle


class PageCard(NamedTuple):
    """A card on a page: its ``code``, the one that is ``drawn`` (a deck may wear other suits), what it is called, and
    whether it may be played.
    """

    code: str
    drawn: str
    name: str
    may_be_played: bool = False


class PageHand(NamedTuple):
    """Somebody's cards on a page; of a trick, the one card that they laid."""

    name: str
    cards: tuple[PageCard, ...]


class PuzzlePage(NamedTuple):
    """A puzzle for a page: ``hands`` by seat, the reader's first. ``is_solved`` is whether ``panel`` has the answer."""

    id: str
    panel: Panel
    deck: str
    hands: tuple[PageHand, ...]
    trick: tuple[PageHand, ...]
    is_solved: bool


class Puzzles:
    """Endings to solve: one's own, one after the other, and in a group the one of the day."""

    def __init__(self, worker: Worker) -> None:
        self._groups = worker.puzzles
        self._ladder = worker.puzzles.ladder
        self._viewers = Viewers(worker.people, worker.adapters)

    async def ask(self, place: str, profile: Profile) -> Reply:
        """The next one for somebody; in a group that of the day."""
        if is_private(place):
            return Reply(panel=await self._next(place, profile))
        return Reply(panel=await self._groups.panel(place))

    async def page(self, person: str, profile: Profile, id_: str = "") -> PuzzlePage | None:
        """A puzzle on a page of ours: that one, or the next for somebody; for a stranger, with an empty ``person``, the
        one that groups have today. What its reader has answered is explained. None if there is none.
        """
        found = all_puzzles().get(id_)
        if not id_:
            todays = puzzle_of(self._groups.today())
            found = await self._ladder.next_for(person, all_puzzles()) if person else todays
        if found is None:
            return None
        card = await self._ladder.answer_of(person, found.id) if person else ""
        look = (profile.language, profile.suits)
        panel = puzzle_panel(*look, found, Asked())
        if card:
            panel = solution_panel(*look, found, card, None, await self._ladder.solver(person))
        return _page(profile, found, panel, is_solved=bool(card))

    async def answer(self, place: str, profile: Profile, words: Sequence[str]) -> Reply:
        """A press on one of its pages."""
        match words:
            case ["next"] if is_private(place):
                return Reply(panel=await self._next(place, profile))
            case ["play", id_, card] if is_private(place):
                return await self._played(place, profile, puzzle_with(id_, card), card)
            case ["group", id_, card] if not is_private(place):
                return await self._in_group(place, profile, puzzle_with(id_, card), card)
            case ["hour", hour] if not is_private(place) and hour in (OFF, *map(str, HOURS)):
                await self._groups.hours.choose(place, None if hour == OFF else int(hour))
                return Reply(panel=await self._groups.panel(place))
        raise BadPayload()

    async def _next(self, place: str, profile: Profile) -> Panel:
        viewer = await self._viewers.at(place)
        puzzle = await self._ladder.next_for(profile.id, all_puzzles())
        if puzzle is None:
            return none_left_panel(viewer.language, await self._ladder.solver(profile.id))
        return with_picture(puzzle_panel(viewer.language, viewer.suits, puzzle, Asked()), viewer, puzzle)

    async def _played(self, place: str, profile: Profile, puzzle: Puzzle, card: str) -> Reply:
        """Somebody's answer; a later one to the same puzzle counts for nothing, and shows what the first was."""
        rating = await self._ladder.take(profile.id, puzzle, card)
        first = card if rating else await self._ladder.answer_of(profile.id, puzzle.id)
        viewer, solver = await self._viewers.at(place), await self._ladder.solver(profile.id)
        panel = solution_panel(viewer.language, viewer.suits, puzzle, first, rating, solver)
        return Reply(panel=with_picture(panel, viewer, puzzle))

    async def _in_group(self, place: str, profile: Profile, puzzle: Puzzle, card: str) -> Reply:
        """An answer in a group, of which only its giver reads whether it was right."""
        _ = texts(profile.language).gettext
        day = self._groups.today()
        is_todays = puzzle.id == puzzle_of(day).id
        if await self._ladder.take(profile.id, puzzle, card):
            told = verdict(profile.language, profile.suits, puzzle, card)
            if is_todays:
                is_right = card == puzzle.pack.codes[puzzle.best]
                await self._ladder.count_in(chat_of(place), day, is_right=is_right)
        else:
            first = await self._ladder.answer_of(profile.id, puzzle.id)
            told = _("You have answered that already.") + " " + verdict(profile.language, profile.suits, puzzle, first)
        # What stands there of a day gone by is left as it is.
        return Reply(told, await self._groups.panel(place) if is_todays else None)


def puzzle_with(id_: str, card: str) -> Puzzle:
    """A puzzle that somebody answers with a card. NoSuchPuzzle if there is none, BadPayload if the card may not be
    played there.
    """
    puzzle = all_puzzles().get(id_)
    if puzzle is None:
        raise NoSuchPuzzle()
    if card not in [puzzle.pack.codes[line.cards[0]] for line in puzzle.lines]:
        raise BadPayload()
    return puzzle


def _page(profile: Profile, puzzle: Puzzle, panel: Panel, *, is_solved: bool) -> PuzzlePage:
    position = Position(profile.language, profile.suits, puzzle)
    is_worn = profile.suits == "french" and puzzle.bids is None
    suits = "french" if is_worn or puzzle.bids else "italian"

    def card(code: str, *, is_own: bool = False) -> PageCard:
        may_be_played = is_own and not is_solved and puzzle.line(puzzle.pack.index[code]) is not None
        return PageCard(code, IN_FRENCH[code] if is_worn else code, position.words.card(code), may_be_played)

    return PuzzlePage(
        puzzle.id,
        panel,
        f"{suits}-{profile.deck}",
        tuple(
            PageHand(capital(name), tuple(card(code, is_own=seat == 0) for code in position.codes(seat)))
            for seat, name in enumerate(position.names)
        ),
        tuple(PageHand(capital(name), (card(code),)) for name, code in position.trick()),
        is_solved,
    )
