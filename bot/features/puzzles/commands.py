"""/puzzle, and the answers to puzzles."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from bot.actions import BadPayload
from bot.days.chosen_hours import parse_hour
from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.errors import NoSuchPuzzle
from bot.features.puzzles.groups import GroupPuzzles, easy_puzzle, with_position_picture
from bot.features.puzzles.pages import (
    PuzzleContext,
    PuzzleText,
    all_answered_panel,
    puzzle_panel,
    solution_panel,
    verdict,
)
from bot.panel import Panel
from bot.people import Profile
from bot.platform import Reply, can_write_anytime, chat_of, is_private, private_place
from bot.texts import texts
from bot.viewers import Viewers
from bot.words.phrases import capitalize
from engine.puzzles.puzzle import Puzzle


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

    ``hands`` are by seat, the reader's first. ``verdict`` says whether the reader was right, empty before they answer.
    """

    id: str
    game: str
    panel: Panel
    verdict: str
    deck: str
    hands: tuple[PageHand, ...]
    trick: tuple[PageHand, ...]


class Puzzles:
    """Puzzles one after the other in private chats, and the puzzle of the day in groups."""

    def __init__(self, groups: GroupPuzzles, viewers: Viewers) -> None:
        self._groups, self.ladder, self._viewers = groups, groups.ladder, viewers

    async def ask(self, place: str, profile: Profile) -> Reply:
        if is_private(place):
            return Reply(panel=await self._next_panel(place, profile))
        return Reply(panel=await self._groups.panel(place))

    async def page(self, profile: Profile, id_: str = "") -> PuzzlePage | None:
        """Return a puzzle for a web page: the one with this id, or the person's next, or None.

        A profile without an id, of a stranger, gets an easy one. A puzzle that was answered is explained.
        """
        if id_:
            found = all_puzzles().get(id_)
        elif profile.id:
            found = await self.ladder.next_puzzle(profile.id, all_puzzles())
        else:
            found = easy_puzzle(self._groups.today())
        if found is None:
            return None
        card = await self.ladder.answer_of(profile.id, found.id) if profile.id else ""
        look = (profile.language, profile.suits)
        panel = puzzle_panel(*look, found, PuzzleContext())
        if card:
            panel = solution_panel(*look, found, card, None, await self.ladder.standing(profile.id))
        return _build_page(profile, found, panel, card)

    async def answer(self, place: str, profile: Profile, words: Sequence[str]) -> Reply:
        match words:
            case ["next"] if is_private(place):
                return Reply(panel=await self._next_panel(place, profile))
            case ["play", id_, card] if is_private(place):
                return await self._answer_alone(place, profile, find_puzzle(id_, card), card)
            case ["group", id_, card] if not is_private(place):
                return await self._answer_in_group(place, profile, find_puzzle(id_, card), card)
            case ["why", id_] if not is_private(place) and id_ in all_puzzles():
                return await self._explain(profile, all_puzzles()[id_])
            case ["hour", hour, id_] if _can_have_hour(place):
                return await self._choose_hour(place, profile, parse_hour(hour), id_)
        raise BadPayload()

    async def _next_panel(self, place: str, profile: Profile) -> Panel:
        viewer = await self._viewers.viewer_at(place)
        puzzle = await self.ladder.next_puzzle(profile.id, all_puzzles())
        if puzzle is None:
            return all_answered_panel(viewer.language, await self.ladder.standing(profile.id))
        return with_position_picture(
            puzzle_panel(viewer.language, viewer.suits, puzzle, PuzzleContext()), viewer, puzzle
        )

    async def _answer_alone(self, place: str, profile: Profile, puzzle: Puzzle, card: str) -> Reply:
        """Rate an answer in a private chat. A second answer to the same puzzle shows the first one and is not rated."""
        answered = await self.ladder.take_answer(profile.id, puzzle, card)
        first = card if answered else await self.ladder.answer_of(profile.id, puzzle.id) or card
        viewer, standing = await self._viewers.viewer_at(place), await self.ladder.standing(profile.id)
        panel = solution_panel(viewer.language, viewer.suits, puzzle, first, answered, standing)
        return Reply(panel=with_position_picture(panel, viewer, puzzle))

    async def _answer_in_group(self, place: str, profile: Profile, puzzle: Puzzle, card: str) -> Reply:
        """Count an answer in a group. Only the person who answered reads whether it was right."""
        _ = texts(profile.language).gettext
        day = self._groups.today()
        is_today = puzzle.id == (await self._groups.puzzle(day)).id
        if await self._groups.take_answer(profile.id, puzzle, card, chat_of(place)):
            toast = verdict(profile.language, profile.suits, puzzle, card)
        else:
            first = await self.ladder.answer_of(profile.id, puzzle.id) or card
            toast = _("You have answered that already.") + " " + verdict(profile.language, profile.suits, puzzle, first)
        # A message of an earlier day stays as it is.
        return Reply(toast, await self._groups.panel(place) if is_today else None)

    async def _explain(self, profile: Profile, puzzle: Puzzle) -> Reply:
        """Explain a group's puzzle in the private chat, to a person who has answered it."""
        _ = texts(profile.language).gettext
        card = await self.ladder.answer_of(profile.id, puzzle.id)
        if not card:
            return Reply(_("Press a card first: then I explain which is best."))
        viewer, standing = (
            await self._viewers.viewer_at(private_place(profile.id)),
            await self.ladder.standing(profile.id),
        )
        panel = solution_panel(viewer.language, viewer.suits, puzzle, card, None, standing)
        return Reply(_("It is in our private chat."), with_position_picture(panel, viewer, puzzle), private=True)

    async def _choose_hour(self, place: str, profile: Profile, hour: int | None, id_: str) -> Reply:
        """Choose the hour at which a puzzle comes each day, None for never. ``id_`` is the puzzle above the button."""
        is_today = id_ == (await self._groups.puzzle(self._groups.today())).id
        await self._groups.choose_hour(place, hour, is_there=is_today)
        if is_today:
            return Reply(panel=await self._groups.panel(place))
        _ = texts(profile.language).gettext
        if hour is None:
            return Reply(_("No puzzle comes here any more."))
        return Reply(_("A puzzle comes here each day at {hour}:00.").format(hour=hour))


def _can_have_hour(place: str) -> bool:
    return can_write_anytime(place) and not is_private(place)


def find_puzzle(id_: str, card: str) -> Puzzle:
    """Return a puzzle that is answered with a card.

    Raises NoSuchPuzzle, or BadPayload if the card cannot be played there.
    """
    puzzle = all_puzzles().get(id_)
    if puzzle is None:
        raise NoSuchPuzzle()
    if card not in [puzzle.pack.codes[line.cards[0]] for line in puzzle.lines]:
        raise BadPayload()
    return puzzle


def _build_page(profile: Profile, puzzle: Puzzle, panel: Panel, answer: str) -> PuzzlePage:
    position = PuzzleText(profile.language, profile.suits, puzzle)
    words = position.words
    best = puzzle.pack.codes[puzzle.best]

    def card(code: str) -> PageCard:
        return PageCard(code, words.faces.drawn_code(code), words.card(code))

    def own(code: str) -> PageCard:
        if answer:
            return card(code)._replace(light="best" if code == best else "wrong" if code == answer else "dim")
        is_playable = puzzle.line(puzzle.pack.index[code]) is not None
        return card(code)._replace(light="playable" if is_playable else "dim")

    names = list(map(capitalize, position.names))
    others = [PageHand(names[seat], tuple(map(card, position.codes(seat)))) for seat in range(1, len(names))]
    return PuzzlePage(
        puzzle.id,
        puzzle.game,
        panel,
        verdict(profile.language, profile.suits, puzzle, answer) if answer else "",
        f"{words.faces.deck}-{profile.deck}",
        (PageHand(names[0], tuple(map(own, position.codes(0)))), *others),
        tuple(PageHand(capitalize(name), (card(code),)) for name, code in position.trick()),
    )
