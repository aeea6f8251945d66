"""The command /puzzle and the buttons of its messages."""

from bot.actions import BadPayload
from bot.days.chosen_hours import parse_hour
from bot.features.puzzles.collection import all_puzzles
from bot.features.puzzles.group_puzzles import GroupPuzzles, with_position_picture
from bot.features.puzzles.next_puzzle import NextPuzzle
from bot.features.puzzles.pages import (
    PuzzleContext,
    all_answered_panel,
    lines_panel,
    puzzle_panel,
    solution_panel,
    verdict,
)
from bot.panel import Panel
from bot.parsing.games import find_game
from bot.people import Profile
from bot.platform import Command, Press, Reply, can_write_anytime, chat_of, is_private, private_place
from bot.tables.errors import TableError
from bot.texts import gettext_noop as _
from bot.texts import texts
from bot.viewers import Viewers
from engine.puzzles.puzzle import Puzzle

ANSWER_FIRST = _("Press a card first, then I’ll explain.")


class NoSuchPuzzle(TableError):
    sentence = "This puzzle is gone: get another one with /puzzle."


class Puzzles:
    """Puzzles one after the other in private chats, and the puzzle of the day in groups."""

    def __init__(self, groups: GroupPuzzles, next_puzzle: NextPuzzle, viewers: Viewers) -> None:
        self._groups, self.ratings, self.next_puzzle = groups, groups.ratings, next_puzzle
        self._viewers = viewers

    async def ask(self, command: Command, profile: Profile) -> Reply:
        if is_private(command.place):
            game = find_game(" ".join(command.words)) if command.words else ""
            return Reply(panel=await self._next_panel(command.place, profile, game))
        return Reply(panel=await self._groups.panel(command.place))

    async def answer(self, press: Press, profile: Profile, words: list[str]) -> Reply:
        place = press.place
        match words:
            case ["next"] if is_private(place):
                return Reply(panel=await self._next_panel(place, profile))
            case ["play", id_, card] if is_private(place):
                return await self._answer_alone(place, profile, find_puzzle(id_, card), card)
            case ["lines", id_] if is_private(place) and id_ in all_puzzles():
                return await self._show_lines(place, profile, all_puzzles()[id_])
            case ["group", id_, card] if not is_private(place):
                return await self._answer_in_group(place, profile, find_puzzle(id_, card), card)
            case ["why", id_] if not is_private(place) and id_ in all_puzzles():
                return await self._explain(profile, all_puzzles()[id_])
            case ["hour", hour, id_] if can_write_anytime(place) and not is_private(place):
                return await self._choose_hour(place, profile, parse_hour(hour), id_)
        raise BadPayload()

    async def _next_panel(self, place: str, profile: Profile, game: str = "") -> Panel:
        viewer = await self._viewers.viewer_at(place)
        puzzle = await self.next_puzzle.find(profile.id, game)
        if puzzle is None:
            return all_answered_panel(viewer.language, await self.ratings.standing(profile.id))
        panel = puzzle_panel(viewer.language, viewer.suits, puzzle, PuzzleContext())
        return with_position_picture(panel, viewer, puzzle)

    async def _answer_alone(self, place: str, profile: Profile, puzzle: Puzzle, card: str) -> Reply:
        """Rate an answer in a private chat. A second answer to the same puzzle shows the first one and is not rated."""
        answered = await self.ratings.take_answer(profile.id, puzzle, card)
        first_card = card if answered else await self.ratings.answer_of(profile.id, puzzle.id) or card
        viewer, standing = await self._viewers.viewer_at(place), await self.ratings.standing(profile.id)
        panel = solution_panel(viewer.language, viewer.suits, puzzle, first_card, answered, standing)
        return Reply(panel=with_position_picture(panel, viewer, puzzle))

    async def _answer_in_group(self, place: str, profile: Profile, puzzle: Puzzle, card: str) -> Reply:
        """Count an answer in a group. Only the person who answered reads whether it was right."""
        _ = texts(profile.language).gettext
        day = self._groups.today()
        is_today = puzzle.id == (await self._groups.puzzle(day)).id
        if await self._groups.take_answer(profile.id, puzzle, card, chat_of(place)):
            toast = verdict(profile.language, profile.suits, puzzle, card)
        else:
            first_card = await self.ratings.answer_of(profile.id, puzzle.id) or card
            toast = _("You’ve already answered.") + " " + verdict(profile.language, profile.suits, puzzle, first_card)
        # Do not change a message of an earlier day.
        return Reply(toast, await self._groups.panel(place) if is_today else None)

    async def _explain(self, profile: Profile, puzzle: Puzzle) -> Reply:
        """Explain a group's puzzle in private to a person who answered it."""
        _ = texts(profile.language).gettext
        card = await self.ratings.answer_of(profile.id, puzzle.id)
        if not card:
            return Reply(_(ANSWER_FIRST))
        viewer = await self._viewers.viewer_at(private_place(profile.id))
        standing = await self.ratings.standing(profile.id)
        panel = solution_panel(viewer.language, viewer.suits, puzzle, card, None, standing)
        return Reply(_("Sent to your private chat."), with_position_picture(panel, viewer, puzzle), private=True)

    async def _show_lines(self, place: str, profile: Profile, puzzle: Puzzle) -> Reply:
        card = await self.ratings.answer_of(profile.id, puzzle.id)
        if not card:
            return Reply(texts(profile.language).gettext(ANSWER_FIRST))
        viewer = await self._viewers.viewer_at(place)
        panel = lines_panel(viewer.language, viewer.suits, puzzle, card)
        return Reply(panel=with_position_picture(panel, viewer, puzzle))

    async def _choose_hour(self, place: str, profile: Profile, hour: int | None, id_: str) -> Reply:
        """Choose the hour of a group's puzzle of the day, or None for never. ``id_`` is the puzzle above the button."""
        is_today = id_ == (await self._groups.puzzle(self._groups.today())).id
        await self._groups.choose_hour(place, hour, is_shown=is_today)
        if is_today:
            return Reply(panel=await self._groups.panel(place))
        _ = texts(profile.language).gettext
        if hour is None:
            return Reply(_("No more daily puzzles here."))
        return Reply(_("A puzzle will come here every day at {hour}:00.").format(hour=hour))


def find_puzzle(id_: str, card: str) -> Puzzle:
    """Return a puzzle by its id. Raise NoSuchPuzzle, or BadPayload if the card cannot be played in it."""
    puzzle = all_puzzles().get(id_)
    if puzzle is None:
        raise NoSuchPuzzle()
    if card not in [puzzle.pack.codes[line.cards[0]] for line in puzzle.lines]:
        raise BadPayload()
    return puzzle
