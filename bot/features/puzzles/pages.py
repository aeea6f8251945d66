"""A puzzle as a message: the position with every card open, its buttons, and what was the best card."""

from datetime import date
from itertools import groupby
from typing import NamedTuple

from bot import actions
from bot.chosen_hours import hour_row
from bot.features.puzzles.ladder import AnswerCounts, PuzzleStanding, StandingChange
from bot.panel import Button, Panel, Row, Writer
from bot.texts import day_name, texts
from bot.words.phrases import capital
from bot.words.wording import JOINER, NO_BREAK, Wording, faces_of, score_unit_of, signed, thirds
from engine.puzzles.puzzle import Line, Puzzle

STARS = ((40, 1), (60, 2), (80, 3))
"""How many stars a puzzle has that fewer than so many of a hundred simple players miss; others have four."""


class PuzzleContext(NamedTuple):
    """Where a puzzle is asked: alone, or in a group as the one of a ``day``, with the ``answers`` given there and the
    ``hour`` at which a new one comes.
    """

    day: date | None = None
    answers: AnswerCounts = AnswerCounts(0, 0)
    hour: int | None = None


def puzzle_panel(language: str, suits: str, puzzle: Puzzle, asked: PuzzleContext, *, has_hours: bool = False) -> Panel:
    """The question: which card is best? With ``has_hours``, a group can choose when a new puzzle comes each day."""
    position = PuzzleText(language, suits, puzzle)
    _, ngettext = texts(language).gettext, texts(language).ngettext
    page = Writer()
    position.write_heading(page, asked.day)
    page.line(_("All cards are known, and you are to play. One card is better than all others: which?"))
    page.line(position.scoring(), "small")
    position.write_cards(page)
    if asked.day and sum(asked.answers):
        page.gap()
        count = sum(asked.answers)
        told = ngettext("{right} of {count} answer was right.", "{right} of {count} answers were right.", count)
        page.line(told, right=asked.answers.right, count=count)
    rows = position.card_rows("group" if asked.day else "play")
    if not asked.day:
        return page.panel(*rows)
    why = Button(_("💡 Why?"), actions.page("puzzle", "why", puzzle.id))
    if not has_hours:
        return page.panel(*rows, (why,))
    page.gap()
    page.line(_("🔔 A puzzle comes here each day, if you choose an hour below."), "small")
    hours = hour_row(language, "🔔", asked.hour, lambda hour: actions.page("puzzle", "hour", hour, puzzle.id))
    return page.panel(*rows, (why,), hours)


def solution_panel(
    language: str, suits: str, puzzle: Puzzle, card: str, answered: StandingChange | None, standing: PuzzleStanding
) -> Panel:
    """What came of an answer, and why; ``answered`` is None if the person had answered before."""
    position = PuzzleText(language, suits, puzzle)
    _ = texts(language).gettext
    page = Writer()
    position.write_heading(page, None)
    page.line(verdict(language, suits, puzzle, card), "bold")
    page.line(position.points_by_card())
    position.write_cards(page)
    page.gap()
    page.line(_("Best play from there:"))
    position.write_line(page, puzzle.lines[0])
    mine = puzzle.line(puzzle.pack.index[card])
    if mine and mine != puzzle.lines[0]:
        page.gap()
        page.line(_("After {card}:"), card=position.words.card(card))
        position.write_line(page, mine)
    page.gap()
    _write_standing(page, language, answered, standing)
    return page.panel((Button(_("Next puzzle"), actions.page("puzzle", "next"), "good"),))


def verdict(language: str, suits: str, puzzle: Puzzle, card: str) -> str:
    """Whether a card was the best one, in a sentence."""
    _ = texts(language).gettext
    face, best = PuzzleText(language, suits, puzzle).words.card, puzzle.pack.codes[puzzle.best]
    if best == card:
        return _("✅ Right: {card} is the best.").format(card=face(card))
    given = puzzle.given_away(card) * score_unit_of(puzzle.game)
    return (
        texts(language)
        .ngettext(
            "❌ {best} is the best; {card} gives {count} point away.",
            "❌ {best} is the best; {card} gives {count} points away.",
            given,
        )
        .format(best=face(best), card=face(card), count=given)
    )


def all_answered_panel(language: str, standing: PuzzleStanding) -> Panel:
    """For who has answered them all."""
    _ = texts(language).gettext
    page = Writer()
    page.line(_("🧩 You have answered all puzzles that I have."), "bold")
    _write_standing(page, language, None, standing)
    return page.panel()


def _write_standing(page: Writer, language: str, answered: StandingChange | None, standing: PuzzleStanding) -> None:
    _ = texts(language).gettext
    if answered:
        change = answered.now.rating - answered.before.rating
        page.line(_("Your puzzle rating: {rating} ({change})"), rating=answered.now.rating, change=signed(change))
    else:
        page.line(_("Your puzzle rating: {rating}"), rating=standing.rating)
    page.line(
        _("Right: {solved} of {answered} · in a row: {run}, longest {longest}"),
        solved=standing.solved,
        answered=standing.answered,
        run=standing.run,
        longest=standing.longest,
    )


class PuzzleText:
    """A puzzle's position, in one language and with one's suits; the reader is "you"."""

    def __init__(self, language: str, suits: str, puzzle: Puzzle) -> None:
        self.puzzle, self.unit = puzzle, score_unit_of(puzzle.game)
        _ = texts(language).gettext
        others = [_("the other")] if len(puzzle.hands) == 2 else [_("East"), _("partner"), _("West")]
        self.names = [_("you"), *others]
        # In lines there are many of them, and a photo's caption has room for a thousand characters.
        self.short_names = [_("you"), *([_("they")] if len(others) == 1 else [capital(name)[:1] for name in others])]
        self.words = Wording(language, self.names, faces_of(puzzle.kind, suits))

    def write_heading(self, page: Writer, day: date | None) -> None:
        _ = self.words.text
        stars = "★" * next((stars for below, stars in STARS if self.puzzle.missed < below), 4)
        game = _(self.puzzle.kind.name)
        if day:
            page.line(_("🧩 Puzzle of {day} · {game} · {stars}"), "bold", day=day_name(day), game=game, stars=stars)
        else:
            page.line(_("🧩 Puzzle · {game} · {stars}"), "bold", game=game, stars=stars)

    def write_cards(self, page: Writer) -> None:
        """What lies where, and what has been taken."""
        _ = self.words.text
        page.gap()
        if self.puzzle.trick:
            laid = " · ".join(f"{name}{NO_BREAK}{self.words.card(code)}" for name, code in self.trick())
            page.line(_("On the table: {cards}"), "bold", cards=laid)
        # One's own cards stand last, above the buttons.
        for seat in (*range(1, len(self.names)), 0):
            page.line(_("{name}: {cards}"), name=capital(self.names[seat]), cards=self.hand(seat))
        page.line(self.taken_text())

    def scoring(self) -> str:
        """By what a card is better than another."""
        _ = self.words.text
        if self.puzzle.bids:
            return _(
                "Spades are trumps. What counts are your points of this deal less the other's; a bag is one point."
            )
        if len(self.names) == 2:
            return _("What counts: your whole points of the deal, with those so far and one for the last trick.")
        if self.unit > 1:
            return _(
                "What counts: your side's whole points of the deal, three for one, with those so far and three for the "
                "last trick."
            )
        return _("What counts: your side's whole points of the deal, with those so far and one for the last trick.")

    def points_by_card(self) -> str:
        """What each card comes to, the best first."""
        _ = self.words.text
        worth = " · ".join(
            f"{self.words.card(self.code(line.cards[0]))}{NO_BREAK}{self.puzzle.in_points(line.points * self.unit)}"
            for line in self.puzzle.lines
        )
        return _("Points by card: {cards}").format(cards=worth)

    def trick(self) -> list[tuple[str, str]]:
        """Who laid which card, in the order of play."""
        return [(self.names[seat], code) for seat, code in self._trick_cards()]

    def _trick_cards(self) -> list[tuple[int, str]]:
        first = len(self.names) - len(self.puzzle.trick)
        return [(first + place, self.code(card)) for place, card in enumerate(self.puzzle.trick)]

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

    def taken_text(self) -> str:
        """What each side has so far."""
        _ = self.words.text
        ours, theirs = self.puzzle.taken
        if self.puzzle.bids is None:
            told = (
                _("Points so far: you {ours}, they {theirs}")
                if len(self.names) > 2
                else _("Points so far: you {ours}, the other {theirs}")
            )
            return told.format(ours=thirds(ours * self.unit), theirs=thirds(theirs * self.unit))
        bids = [self.words.figure(bid or "nil") for bid in self.puzzle.bids]
        told = _("You bid {bid} and took {ours}; the other bid {other_bid} and took {theirs}.")
        return told.format(bid=bids[0], ours=ours, other_bid=bids[1], theirs=theirs)

    def taken_labels(self) -> tuple[str, str]:
        """What each side has so far, for a picture: points at Tressette, at Spades tricks of those that were bid."""
        labels, taken = self.words.labels, self.puzzle.taken
        if self.puzzle.bids is None:
            one_point = self.words.ngettext("point", "points", 1)
            points = [thirds(one * self.unit) for one in taken]
            ours, theirs = (f"{one} {one_point if one == '1' else labels['points']}" for one in points)
        else:
            bids = [self.words.figure(bid or "nil") for bid in self.puzzle.bids]
            ours, theirs = (f"{won}/{bid} {labels['tricks']}" for won, bid in zip(taken, bids, strict=True))
        return ours, theirs

    def write_line(self, page: Writer, line: Line) -> None:
        """How it goes on, a line a trick: who plays what, and who takes it."""
        here, names = self.puzzle.position(), self.short_names

        def played(seat: int, code: str) -> str:
            # Its own characters that keep a card on one line are too many here.
            return f"{names[seat]}{NO_BREAK}{self.words.card(code).replace(JOINER, '')}"

        laid = [played(seat, code) for seat, code in self._trick_cards()]
        for card in line.cards:
            laid.append(played(here.turn, self.code(card)))
            here.play(card)
            if not here.laid:
                page.line("{cards} →{space}{name}", cards=" ".join(laid), space=NO_BREAK, name=names[here.turn])
                laid = []

    def card_rows(self, verb: str) -> list[Row]:
        """A button for each card that may be played, a row a suit."""
        playable = [code for code in self.codes(0) if self.puzzle.line(self.puzzle.pack.index[code])]
        return [
            tuple(
                Button(self.words.card(code).replace(JOINER, ""), actions.page("puzzle", verb, self.puzzle.id, code))
                for code in codes
            )
            for _suit, codes in groupby(playable, key=lambda code: code[1])
        ]
