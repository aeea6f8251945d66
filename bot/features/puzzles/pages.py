"""Messages with a puzzle or its solution."""

from datetime import date
from itertools import groupby
from typing import NamedTuple

from bot import actions
from bot.days.chosen_hours import hour_row
from bot.features.puzzles.puzzle_ratings import AnswerCounts, PuzzleStanding, StandingChange
from bot.features.puzzles.stars import count_stars
from bot.panel import Button, Panel, Row, Writer
from bot.texts import day_name, texts
from bot.texts import gettext_noop as _
from bot.words.table_lines import capitalize, card_name
from bot.words.wording import JOINER, NO_BREAK, Wording, faces_of, score_unit_of, signed_text, thirds_text
from engine.puzzles.puzzle import Line, Puzzle

QUESTION = _("It’s your turn, and all hands are open. Which card earns most by the end?")


class PuzzleContext(NamedTuple):
    """Where a puzzle is shown: in a private chat, or in a group as the puzzle of ``day``.

    ``answers`` are the group's answers so far. ``hour`` is the hour at which the group gets a puzzle each day.
    """

    day: date | None = None
    answers: AnswerCounts = AnswerCounts(0, 0)
    hour: int | None = None


def puzzle_panel(
    language: str, suits: str, puzzle: Puzzle, context: PuzzleContext, *, has_hours: bool = False
) -> Panel:
    """Ask which card is best. With ``has_hours``, a group can choose when a new puzzle comes each day."""
    position = PuzzleText(language, suits, puzzle)
    _, ngettext = texts(language)
    page = Writer()
    position.write_heading(page, context.day)
    page.line(_(QUESTION))
    page.line(position.scoring(), "small")
    if context.day and (count := sum(context.answers)):
        line = ngettext("{right} of {count} answer was right.", "{right} of {count} answers were right.", count)
        page.line(line, right=context.answers.right, count=count)
    if has_hours:
        page.line(_("🔔 Choose an hour to get a puzzle here every day."), "small")
    page.fold()
    position.write_cards(page)
    rows = position.card_rows("group" if context.day else "play")
    if not context.day:
        return page.panel(*rows)
    why = Button(_("💡 Why?"), actions.page("puzzle", "why", puzzle.id))
    if not has_hours:
        return page.panel(*rows, (why,))
    hours = hour_row(language, context.hour, lambda hour: actions.page("puzzle", "hour", hour, puzzle.id))
    return page.panel(*rows, (why,), hours)


def solution_panel(
    language: str,
    suits: str,
    puzzle: Puzzle,
    card: str,
    change: StandingChange | None,
    standing: PuzzleStanding,
    *,
    has_verdict: bool = True,
) -> Panel:
    """Return the panel after an answer. ``change`` is None if the person had already answered this puzzle.

    Without ``has_verdict`` the panel leaves the verdict to the page.
    """
    position = PuzzleText(language, suits, puzzle)
    page = Writer()
    position.write_heading(page, None)
    if has_verdict:
        page.line(verdict(language, suits, puzzle, card), "bold")
    page.gap()
    _write_standing(page, language, change, standing)
    page.fold()
    page.gap()
    page.line(position.points_by_card())
    position.write_cards(page)
    lines = Button(texts(language).gettext("💡 Why?"), actions.page("puzzle", "lines", puzzle.id))
    return page.panel((lines, _next_button(language)))


def lines_panel(language: str, suits: str, puzzle: Puzzle, card: str, *, has_verdict: bool = True) -> Panel:
    """Show how the deal continues with best play, after the best card and after the reader's ``card``."""
    position = PuzzleText(language, suits, puzzle)
    _ = texts(language).gettext
    page = Writer()
    position.write_heading(page, None)
    if has_verdict:
        page.line(verdict(language, suits, puzzle, card), "bold")
    page.gap()
    page.line(_("Best play from here:"))
    position.write_line(page, puzzle.lines[0])
    mine = puzzle.line(puzzle.pack.index[card])
    if mine and mine != puzzle.lines[0]:
        page.gap()
        page.line(_("After {card}:"), card=position.words.card(card))
        position.write_line(page, mine)
    page.fold()
    position.write_cards(page)
    return page.panel((_next_button(language),))


def _next_button(language: str) -> Button:
    return Button(texts(language).gettext("Next puzzle"), actions.page("puzzle", "next"), "good")


def verdict(language: str, suits: str, puzzle: Puzzle, card: str) -> str:
    """Return whether a card was the best one. If not, a second line says how much more the best one earns."""
    _, ngettext = texts(language)
    words, best = PuzzleText(language, suits, puzzle).words, puzzle.pack.codes[puzzle.best]
    if best == card:
        return _("✅ Right: {card} earns most.").format(card=card_name(words, card))
    points_lost = puzzle.points_lost(card) * score_unit_of(puzzle.game)
    lost = ngettext(
        "❌ Best: {best},\n{count} point more than your {card}",
        "❌ Best: {best},\n{count} points more than your {card}",
        points_lost,
    )
    return lost.format(best=card_name(words, best), card=card_name(words, card), count=points_lost)


def all_answered_panel(language: str, standing: PuzzleStanding) -> Panel:
    _ = texts(language).gettext
    page = Writer()
    page.line(_("🧩 You’ve answered all my puzzles."), "bold")
    _write_standing(page, language, None, standing)
    return page.panel()


def _write_standing(page: Writer, language: str, change: StandingChange | None, standing: PuzzleStanding) -> None:
    _ = texts(language).gettext
    if change:
        gain = change.now.rating - change.before.rating
        page.line(_("Your puzzle rating: {rating} ({change})"), rating=change.now.rating, change=signed_text(gain))
    else:
        page.line(_("Your puzzle rating: {rating}"), rating=standing.rating)
    page.line(
        _("Right: {solved} of {answered} · in a row: {run} (best: {longest})"),
        solved=standing.solved,
        answered=standing.answered,
        run=standing.run,
        longest=standing.longest,
    )


class PuzzleText:
    """A puzzle in one language and suits; the reader is called "you"."""

    def __init__(self, language: str, suits: str, puzzle: Puzzle) -> None:
        self.puzzle, self.unit = puzzle, score_unit_of(puzzle.game)
        _ = texts(language).gettext
        others = [_("opponent")] if len(puzzle.hands) == 2 else [_("East"), _("partner"), _("West")]
        self.names = [_("you"), *others]
        # A photo's caption has room for a thousand characters, and lines name players often.
        self.short_names = [_("you"), *([_("they")] if len(others) == 1 else [capitalize(name)[:1] for name in others])]
        self.words = Wording(language, self.names, faces_of(puzzle.kind, suits))

    def write_heading(self, page: Writer, day: date | None) -> None:
        _ = self.words.text
        stars = "★" * count_stars(self.puzzle)
        game = _(self.puzzle.kind.name)
        if day:
            page.line(
                _("🧩 Puzzle of {day} · {game} · {stars}"),
                "bold",
                day=day_name(day, self.words.language),
                game=game,
                stars=stars,
            )
        else:
            page.line(_("🧩 Puzzle · {game} · {stars}"), "bold", game=game, stars=stars)

    def write_cards(self, page: Writer) -> None:
        """Write the trick, the hands and the points so far."""
        _ = self.words.text
        page.gap()
        if self.puzzle.trick:
            laid = " · ".join(f"{name}{NO_BREAK}{self.words.card(code)}" for name, code in self.trick())
            page.line(_("On the table: {cards}"), "bold", cards=laid)
        # The reader's cards come last, above the buttons.
        for seat in (*range(1, len(self.names)), 0):
            suits = groupby(self.codes(seat), key=lambda code: code[1])
            cards = "  ".join(self.words.cards([*codes]) for _suit, codes in suits)
            page.line(_("{name}: {cards}"), name=capitalize(self.names[seat]), cards=cards)
        page.line(self.taken_text())

    def scoring(self) -> str:
        """Return how cards are compared."""
        _ = self.words.text
        if self.puzzle.bids:
            return _(
                "What counts: your points of this deal minus your opponent’s. Spades are trumps, and a trick above "
                "the bid is worth one point."
            )
        if len(self.names) == 2:
            return _("What counts: your whole points in the deal, those so far included. The last trick is worth 1.")
        if self.unit > 1:
            return _(
                "What counts: your side’s whole points in the deal, those so far included. The last trick is worth "
                "1. The sum counts three times."
            )
        return _("What counts: your side’s whole points in the deal, those so far included. The last trick is worth 1.")

    def points_by_card(self) -> str:
        """Return the points that each card earns, the best first."""
        _ = self.words.text
        figures = [
            (self.words.card(self.code(line.cards[0])), self.puzzle.format_points(line.points * self.unit))
            for line in self.puzzle.lines
        ]
        worth = " · ".join(f"{card}:{NO_BREAK}{points}" for card, points in figures)
        return _("Points by card: {cards}").format(cards=worth)

    def trick(self) -> list[tuple[str, str]]:
        """Return the names and cards of the trick, in the order of play."""
        return [(self.names[seat], code) for seat, code in self._trick_cards()]

    def _trick_cards(self) -> list[tuple[int, str]]:
        first = len(self.names) - len(self.puzzle.trick)
        return [(first + index, self.code(card)) for index, card in enumerate(self.puzzle.trick)]

    def codes(self, seat: int) -> list[str]:
        """Return a hand by suit, from high to low."""
        ranks = len(self.puzzle.pack.ranks)
        return [self.code(card) for card in sorted(self.puzzle.hands[seat], key=lambda card: (card // ranks, -card))]

    def code(self, card: int) -> str:
        return self.puzzle.pack.codes[card]

    def taken_text(self) -> str:
        """Return each side's points, or tricks and bid, so far."""
        _ = self.words.text
        ours, theirs = self.puzzle.taken
        if self.puzzle.bids is None:
            line = (
                _("Points so far: you {ours}, they {theirs}")
                if len(self.names) > 2
                else _("Points so far: you {ours}, opponent {theirs}")
            )
            return line.format(ours=thirds_text(ours * self.unit), theirs=thirds_text(theirs * self.unit))
        bids = [self.words.figure(bid or "nil") for bid in self.puzzle.bids]
        line = _("You bid {bid} and took {ours}. Your opponent bid {other_bid} and took {theirs}.")
        return line.format(bid=bids[0], ours=ours, other_bid=bids[1], theirs=theirs)

    def taken_labels(self) -> tuple[str, str]:
        """Return each side's points at Tressette, or tricks and bid at Spades, for a picture."""
        labels, taken = self.words.labels, self.puzzle.taken
        if self.puzzle.bids is None:
            one_point = self.words.ngettext("point", "points", 1)
            points = [thirds_text(thirds * self.unit) for thirds in taken]
            ours, theirs = (f"{text} {one_point if text == '1' else labels['points']}" for text in points)
        else:
            bids = [self.words.figure(bid or "nil") for bid in self.puzzle.bids]
            ours, theirs = (f"{won}/{bid} {labels['tricks']}" for won, bid in zip(taken, bids, strict=True))
        return ours, theirs

    def write_line(self, page: Writer, line: Line) -> None:
        """Write the rest of the deal, one line for each trick, and the result that these moves earn."""
        here, names = self.puzzle.position(), self.short_names

        def name_and_card(seat: int, code: str) -> str:
            # The joiners that keep a card on one line would take too many characters.
            return f"{names[seat]}{NO_BREAK}{self.words.card(code).replace(JOINER, '')}"

        laid = [name_and_card(seat, code) for seat, code in self._trick_cards()]
        for card in line.cards:
            laid.append(name_and_card(here.turn, self.code(card)))
            here.play(card)
            if not here.laid:
                page.line("{cards} →{space}{name}", cards=" ".join(laid), space=NO_BREAK, name=names[here.turn])
                laid = []
        _ = self.words.text
        total = _("Your points minus your opponent’s: {points}") if self.puzzle.bids else _("Your points: {points}")
        page.line(total, "bold", points=self.puzzle.format_points(line.points * self.unit))

    def card_rows(self, verb: str) -> list[Row]:
        """Return a button for each playable card, one row for each suit."""
        playable = [code for code in self.codes(0) if self.puzzle.line(self.puzzle.pack.index[code])]
        return [
            tuple(
                Button(self.words.card(code).replace(JOINER, ""), actions.page("puzzle", verb, self.puzzle.id, code))
                for code in codes
            )
            for _suit, codes in groupby(playable, key=lambda code: code[1])
        ]
