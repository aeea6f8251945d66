"""A puzzle as a message: the position with every card open, its buttons, and what was the best card."""

from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple

from bot import actions
from bot.panel import Button, Panel, Row, Writer, chosen
from bot.panels.daily import OFF, day_name
from bot.panels.phrases import capital
from bot.puzzles.ladder import Answered, Counted, Solver
from bot.texts import texts
from bot.wording import JOINER, NO_BREAK, Wording, thirds
from engine.puzzles.puzzle import Line, Puzzle

STARS = ((40, 1), (60, 2), (80, 3))
"""How many stars a puzzle has that fewer than so many of a hundred simple players miss; others have four."""


class Asked(NamedTuple):
    """Where a puzzle is asked: alone, or in a group as the one of a ``day``, with the ``answers`` given there and the
    ``hour`` at which a new one comes.
    """

    day: date | None = None
    answers: Counted = Counted(0, 0)
    hour: int | None = None


def puzzle_panel(language: str, suits: str, puzzle: Puzzle, asked: Asked, hours: Sequence[int] = ()) -> Panel:
    """The question: which card is best? ``hours`` are those at which a group may have a puzzle each day."""
    position = Position(language, suits, puzzle)
    _, ngettext = texts(language).gettext, texts(language).ngettext
    page = Writer()
    position.heading(page, asked.day)
    page.line(_("All cards are known, and you are to play. One card is better than all others: which?"))
    if puzzle.bids:
        page.line(_("What counts are your points of this hand less the other's; a bag is one point."), "small")
    else:
        page.line(_("What counts are your side's whole points of this deal."), "small")
    position.write(page)
    if asked.day and sum(asked.answers):
        page.gap()
        count = sum(asked.answers)
        told = ngettext("{right} of {count} answer was right.", "{right} of {count} answers were right.", count)
        page.line(told, right=asked.answers.right, count=count)
    rows = position.cards("group" if asked.day else "play")
    if not asked.day:
        return page.panel(*rows)
    at = tuple(chosen(f"🔔 {hour}:00", hour == asked.hour, actions.page("puzzle", "hour", hour)) for hour in hours)
    off = chosen(_("off"), asked.hour is None, actions.page("puzzle", "hour", OFF))
    return page.panel(*rows, (*at, off))


def solution_panel(
    language: str, suits: str, puzzle: Puzzle, card: str, rating: Answered | None, solver: Solver
) -> Panel:
    """What came of an answer, and why; ``rating`` is None if the person had answered before."""
    position = Position(language, suits, puzzle)
    _ = texts(language).gettext
    page = Writer()
    position.heading(page, None)
    page.line(verdict(language, suits, puzzle, card), "bold")
    position.write(page)
    page.gap()
    page.line(_("Best play from there:"))
    position.line(page, puzzle.lines[0])
    mine = puzzle.line(puzzle.pack.index[card])
    if mine and mine != puzzle.lines[0]:
        page.gap()
        page.line(_("After {card}:"), card=position.words.card(card))
        position.line(page, mine)
    page.gap()
    _standing(page, language, rating, solver)
    return page.panel((Button(_("Next puzzle"), actions.page("puzzle", "next"), "good"),))


def verdict(language: str, suits: str, puzzle: Puzzle, card: str) -> str:
    """Whether a card was the best one, and what it comes to beside it, in a sentence."""
    _ = texts(language).gettext
    words = Position(language, suits, puzzle).words
    best, codes = puzzle.lines[0], puzzle.pack.codes
    if codes[puzzle.best] == card:
        told = _("✅ Right: {card} makes {points}, the next best {less}.")
        return told.format(
            card=words.card(card), points=puzzle.in_points(best.points), less=puzzle.in_points(puzzle.lines[1].points)
        )
    line = puzzle.line(puzzle.pack.index[card])
    told = _("❌ {card} makes {less}. {best} makes {points}.")
    return told.format(
        card=words.card(card),
        less=puzzle.in_points(line.points) if line else "?",
        best=words.card(codes[puzzle.best]),
        points=puzzle.in_points(best.points),
    )


def none_left_panel(language: str, solver: Solver) -> Panel:
    """For who has answered them all."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("🧩 You have answered all puzzles that I have."), "bold")
    _standing(page, language, None, solver)
    return page.panel()


def _standing(page: Writer, language: str, rating: Answered | None, solver: Solver) -> None:
    _ = texts(language).gettext
    if rating:
        change = rating.now.rating - rating.before.rating
        page.line(_("Your puzzle rating: {rating} ({change})"), rating=rating.now.rating, change=f"{change:+d}")
    else:
        page.line(_("Your puzzle rating: {rating}"), rating=solver.rating)
    page.line(
        _("Right: {solved} of {answered} · in a row: {run}, longest {longest}"),
        solved=solver.solved,
        answered=solver.answered,
        run=solver.run,
        longest=solver.longest,
    )


class Position:
    """A puzzle's position, in one language and with one's suits; the reader is "you"."""

    def __init__(self, language: str, suits: str, puzzle: Puzzle) -> None:
        self.puzzle = puzzle
        _ = texts(language).gettext
        others = [_("the other")] if len(puzzle.hands) == 2 else [_("East"), _("partner"), _("West")]
        self.names = [_("you"), *others]
        self.words = Wording(language, self.names, "spades" if puzzle.bids else suits)

    def heading(self, page: Writer, day: date | None) -> None:
        _ = self.words.text
        stars = "★" * next((stars for below, stars in STARS if self.puzzle.missed < below), 4)
        game = _(self.puzzle.kind.name)
        if day:
            page.line(_("🧩 Puzzle of {day} · {game} · {stars}"), "bold", day=day_name(day), game=game, stars=stars)
        else:
            page.line(_("🧩 Puzzle · {game} · {stars}"), "bold", game=game, stars=stars)

    def write(self, page: Writer) -> None:
        """What lies where, and what has been taken."""
        _ = self.words.text
        page.gap()
        if self.puzzle.trick:
            laid = " · ".join(f"{name}{NO_BREAK}{self.words.card(code)}" for name, code in self.trick())
            page.line(_("On the table: {cards}"), "bold", cards=laid)
        # One's own cards stand last, above the buttons.
        for seat in (*range(1, len(self.names)), 0):
            page.line(_("{name}: {cards}"), name=capital(self.names[seat]), cards=self.hand(seat))
        page.line(self.taken())

    def trick(self) -> list[tuple[str, str]]:
        """Who laid which card, in the order of play."""
        first = len(self.names) - len(self.puzzle.trick)
        return [(self.names[first + place], self.code(card)) for place, card in enumerate(self.puzzle.trick)]

    def hand(self, seat: int) -> str:
        return "  ".join(
            self.words.cards([*codes]) for _suit, codes in groupby(self.codes(seat), key=lambda code: code[1])
        )

    def codes(self, seat: int) -> list[str]:
        """A hand by suit, from high to low."""
        ranks = len(self.puzzle.pack.ranks)
        return [self.code(card) for card in sorted(self.puzzle.hands[seat], key=lambda card: (card // ranks, -card))]

    def code(self, card: int) -> str:
        return self.puzzle.pack.codes[card]

    def taken(self) -> str:
        """What each side has so far."""
        _ = self.words.text
        ours, theirs = self.counted()
        return _("So far: you {ours}, they {theirs}").format(ours=ours, theirs=theirs)

    def counted(self) -> tuple[str, str]:
        """What each side has so far: points at Tressette, at Spades tricks of those that were bid."""
        labels, taken = self.words.labels, self.puzzle.taken
        if self.puzzle.bids is None:
            ours, theirs = (f"{thirds(one)} {labels['points']}" for one in taken)
        else:
            bids = [self.words.figure(bid or "nil") for bid in self.puzzle.bids]
            ours, theirs = (f"{won}/{bid} {labels['tricks']}" for won, bid in zip(taken, bids, strict=True))
        return ours, theirs

    def line(self, page: Writer, line: Line) -> None:
        """How it goes on, a line a trick: who plays what, and who takes it."""
        here = self.puzzle.position()
        laid = [f"{name}{NO_BREAK}{self.words.card(code)}" for name, code in self.trick()]
        for card in line.cards:
            laid.append(f"{self.names[here.turn]}{NO_BREAK}{self.words.card(self.code(card))}")
            here.play(card)
            if not here.laid:
                page.line("{cards} →{space}{name}", cards=" · ".join(laid), space=NO_BREAK, name=self.names[here.turn])
                laid = []

    def cards(self, verb: str) -> list[Row]:
        """A button for each card that may be played, a row a suit."""
        playable = [code for code in self.codes(0) if self.puzzle.line(self.puzzle.pack.index[code])]
        return [
            tuple(
                Button(self.words.card(code).replace(JOINER, ""), actions.page("puzzle", verb, self.puzzle.id, code))
                for code in codes
            )
            for _suit, codes in groupby(playable, key=lambda code: code[1])
        ]
