"""A step of a course: its text, its moves, and what a tap does."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from bot.actions import BadPayload
from bot.features.learn.courses import COURSES, Step
from bot.features.learn.step_games import ending_moves, ending_table, step_moves, step_table, table_snapshot
from bot.words.rules import suit_list
from bot.words.spoken import refusal_text
from bot.words.table_lines import TableLines, table_words
from bot.words.verdicts import advice_text
from bot.words.wording import JOINER, thirds_text
from engine.errors import IllegalMove
from engine.spades import SpadesDeal
from engine.views import DealView, PacketsView, SpadesView

STEPS = tuple(map(str, range(1, 10)))  # steps of each course
LAST = STEPS[-1]  # five tricks against the bot


class Spot(NamedTuple):
    """A spot in a course, with steps from 1. In the last step, ``taps`` has a digit for each of the learner's moves."""

    course: str
    step: str = "1"
    taps: str = ""


def tap(spot: Spot, language: str, suits: str) -> tuple["Lesson", str]:
    """Return the lesson after a tap, and a sentence about the tap, empty in the last step.

    ``spot.taps`` ends with the number of the tapped move. Without taps, return the spot's own lesson. Raises
    BadPayload if a spot or move does not exist.
    """
    course, step, taps = spot
    lesson = Lesson(Spot(course, step, "" if step != LAST else taps), language, suits)
    if not taps or lesson.step is None:
        return lesson, ""
    # An address can contain a number with thousands of digits, which Python refuses to convert.
    if len(taps) > 2 or not taps.isdecimal() or int(taps) >= len(lesson.moves):
        raise BadPayload()
    move = lesson.moves[int(taps)]
    if move != lesson.step.right:
        return lesson, f"❌ {lesson.explain(lesson.step, move)}"
    return Lesson(Spot(course, str(int(step) + 1)), language, suits), f"✅ {lesson.fill(lesson.step.praise)}"


class Lesson:
    """A step in a language and in a reader's suits.

    The last step is a game of five tricks. Its attribute ``step`` is None.
    """

    def __init__(self, spot: Spot, language: str, suits: str) -> None:
        course = COURSES.get(spot.course)
        if course is None or spot.step not in STEPS or not f"0{spot.taps}".isdecimal():
            raise BadPayload()
        self.spot, self.course, self.language, self.suits = spot, course, language, suits
        self.step: Step | None = None
        if spot.step == LAST:
            self.game = ending_table(course, spot.taps)
            self.moves = ending_moves(self.game)
        else:
            self.step = course.steps[int(spot.step) - 1]
            self.game = step_table(course.game, self.step)
            self.moves = step_moves(self.game, self.step)
        self.snapshot = table_snapshot(self.game, language)
        self.words = table_words(self.snapshot, language, suits)
        self.lines = TableLines(self.snapshot, self.words)

    @property
    def is_over(self) -> bool:
        return not self.moves

    @property
    def points(self) -> tuple[int, int]:
        """The learner's and the bot's points of the deal so far."""
        assert self.game.current
        return self.game.current.score().points

    @property
    def is_won(self) -> bool:
        own_points, bot_points = self.points
        return self.is_over and own_points > bot_points

    @property
    def score(self) -> tuple[str, str]:
        """The learner's and the bot's points so far, as texts. They are empty while no points are shown."""
        deal = self.game.current
        if self.step or not deal or (isinstance(deal, SpadesDeal) and not self.is_over):
            return "", ""
        own_points, bot_points = map(self.words.figure, self.points) if self.is_over else map(thirds_text, deal.taken)
        return own_points, bot_points

    def with_tap(self, number: int) -> Spot:
        return self.spot._replace(taps=f"{self.spot.taps}{number}")

    def text(self) -> str:
        _ = self.words.text
        if self.step:
            return self.fill(self.step.text)
        own_points, bot_points = (self.words.figure(points) for points in self.points)
        if self.is_won:
            return _("🏆 You win, {ours} to {theirs}! Now you can play.").format(ours=own_points, theirs=bot_points)
        if self.is_over:
            return _("I win, {theirs} to {ours}. Try again: the cards are the same.").format(
                ours=own_points, theirs=bot_points
            )
        if self.spot.taps:
            return _("{score} Win the deal!").format(score=self._score())
        line = _("Now a real deal, down to the last five tricks. {score} You lead, then the winner of each trick.")
        if self.deal.known[1]:
            line = f"{line} " + _("The open cards at the top are mine: you saw me draw them.")
        return line.format(score=self._score())

    def _score(self) -> str:
        _ = self.words.text
        deal = self.game.current
        assert deal
        if isinstance(deal, SpadesDeal):
            line = _("You bid {bid} and have {ours}, I bid {other_bid} and have {theirs}.")
            return line.format(bid=deal.bids[0], ours=deal.tricks[0], other_bid=deal.bids[1], theirs=deal.tricks[1])
        line = _("You have {ours} points, I have {theirs}.")
        return line.format(ours=thirds_text(deal.taken[0]), theirs=thirds_text(deal.taken[1]))

    def news(self) -> list[str]:
        """Return lines about the learner's drawn card and the bot's latest moves, except the cards it played."""
        _ = self.words.text
        lines = []
        if isinstance(self.deal, SpadesView) and self.deal.drawn:
            lines.append(_("You have drawn {card}").format(card=self.words.card(self.deal.drawn)))
        moves = self.snapshot.history[self.snapshot.since :]
        return [*lines, *(self.words.move(seat, move) for seat, move in moves if seat and not move.startswith("play "))]

    def explain(self, step: Step, move: str) -> str:
        """Return why a move is wrong: the engine's refusal, or the step's sentence."""
        try:
            self.game.copy().play(0, move)
        except IllegalMove as error:
            return refusal_text(error, self.language, self.suits)
        return self.fill(step.wrong.get(move) or step.wrong[""])

    def fill(self, text: str) -> str:
        return self.words.text(text).format_map(self._values)

    @cached_property
    def _values(self) -> Mapping[str, str]:
        """The cards and ranks that texts can name."""
        _, pack, rank = self.words.text, self.game.kind.pack, self.words.faces.rank
        ranks = " ".join(map(rank, reversed(pack.ranks)))
        if not pack.is_french and not self.words.faces.is_french:
            ranks = _("{ranks} (R king, C knight, F jack)").format(ranks=ranks)
        return {
            "ranks": ranks,
            "suits": suit_list(self.words),
            **{letter: rank(letter) for letter in "RCF"},
            **{code: self.words.card(code) for code in pack.codes},
        }

    @property
    def deal(self) -> DealView:
        """The deal as the learner sees it."""
        assert self.snapshot.view
        assert self.snapshot.view.deal
        return self.snapshot.view.deal

    def is_top(self, move: str) -> bool:
        """Return whether a move plays the top of a packet."""
        return move.startswith("play ") and move[5:] not in (self.deal.hand or ())

    def label(self, move: str) -> str:
        _ = self.words.text
        word, *arguments = move.split(" ")
        match word:
            case "play":
                return f"{'📦 ' * self.is_top(move)}{self.words.faces.label(arguments[0])}"
            case "pick":
                assert isinstance(self.deal, PacketsView)
                top = self.deal.packets[int(arguments[0]) - 1].top or ""
                return _("⬆️ {card} into hand").format(card=self.words.card(top)).replace(JOINER, "")
            case "declare":
                return f"📣 {advice_text(self.words, move)}"
        return {"keep": _("Keep it"), "pass": _("Throw it away")}.get(move, arguments[0] if arguments else move)
