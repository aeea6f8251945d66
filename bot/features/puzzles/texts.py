"""The words of a puzzle: its cards, its players, and what its cards earn."""

from datetime import date
from itertools import groupby
from typing import NamedTuple

from bot import actions
from bot.features.puzzles.stars import count_stars
from bot.panel import Button, Row, Writer
from bot.texts import day_name, texts
from bot.words.table_lines import capitalize
from bot.words.wording import JOINER, NO_BREAK, Wording, faces_of, score_unit_of, thirds_text
from engine.puzzles.puzzle import Line, Puzzle


class Figure(NamedTuple):
    """The points that a card earns by the end of the deal, as text."""

    code: str
    points: str
    is_best: bool
    is_chosen: bool


class PuzzleText:
    """A puzzle in one language and suits; the reader is called "you"."""

    def __init__(self, language: str, suits: str, puzzle: Puzzle) -> None:
        self.puzzle, self.unit = puzzle, score_unit_of(puzzle.game)
        _ = texts(language).gettext
        other_names = [_("opponent")] if len(puzzle.hands) == 2 else [_("right"), _("partner"), _("left")]
        self.names = [_("you"), *other_names]
        # A photo's caption has room for a thousand characters, and lines name players often.
        self.short_names = [_("you"), *([_("opp.")] if len(other_names) == 1 else other_names)]
        self.words = Wording(language, self.names, faces_of(puzzle.kind, suits))

    def write_heading(self, page: Writer, day: date | None) -> None:
        _ = self.words.text
        if day:
            date_text = day_name(day, self.words.language)
            page.line(_("🧩 Puzzle of {day} · {title}"), "bold", day=date_text, title=self.title())
        else:
            page.line(_("🧩 Puzzle · {title}"), "bold", title=self.title())

    def title(self) -> str:
        """Return the game and how difficult the puzzle is."""
        return f"{self.words.text(self.puzzle.kind.name)} · {'★' * count_stars(self.puzzle)}"

    def order(self) -> str:
        """Return who led the trick, and who plays after the reader."""
        _, later_players = self.words.text, ", ".join(self.names[1 : len(self.names) - len(self.puzzle.trick)])
        if not self.puzzle.trick:
            return _("You lead. After you: {names}.").format(names=later_players)
        leader = capitalize(self.names[self._leader])
        if not later_players:
            return _("{name} led. You play last.").format(name=leader)
        return _("{name} led. After you: {names}.").format(name=leader, names=later_players)

    def seat_note(self, seat: int) -> str:
        """Return a seat's part in the trick: it led, or plays after the reader; empty for the others."""
        _ = self.words.text
        if self.puzzle.trick and seat == self._leader:
            return _("led")
        return _("plays next") if seat == 1 and len(self.puzzle.trick) < len(self.names) - 1 else ""

    @property
    def _leader(self) -> int:
        return (len(self.names) - len(self.puzzle.trick)) % len(self.names)

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
        leftovers_text = _("Leftovers of three are lost.") if self.unit > 1 else _("Leftover thirds are lost.")
        line = _("What counts: your points at the end of the deal. The last trick is worth {points}.")
        if len(self.names) > 2:
            line = _("What counts: your side’s points at the end of the deal. The last trick is worth {points}.")
        return f"{line.format(points=self.unit)} {leftovers_text}"

    def figures(self, chosen_card: str) -> list[Figure]:
        """Return the points that each card earns, the best first, and mark the reader's card."""
        best, lines = self.code(self.puzzle.best), {self.code(line.cards[0]): line for line in self.puzzle.lines}
        return [Figure(code, self.points_text(line), code == best, code == chosen_card) for code, line in lines.items()]

    def figures_title(self) -> str:
        """Return what the figures of cards count."""
        _ = self.words.text
        if self.puzzle.bids:
            return _("Your points minus your opponent’s at the end")
        return _("Your points at the end") if len(self.names) == 2 else _("Your side’s points at the end")

    def points_text(self, line: Line) -> str:
        """Return the points of a line with their unit."""
        points = line.points * self.unit
        words = self.words.ngettext("{count} point", "{count} points", abs(points))
        return words.format(count=self.puzzle.format_points(points))

    def write_figures(self, page: Writer, chosen_card: str) -> None:
        """Write the points of each card, one line for each."""
        _ = self.words.text
        page.line("{title}:", title=self.figures_title())
        for figure in self.figures(chosen_card):
            sign = "✅" if figure.is_best else "❌" if figure.is_chosen else "▫️"
            line = f"{sign} {self.words.card(figure.code)}:{NO_BREAK}{figure.points}"
            page.line(_("{figure} (your card)").format(figure=line) if figure.is_chosen else line)

    def trick(self) -> list[tuple[str, str]]:
        """Return the names and cards of the trick, in the order of play."""
        return [(self.names[seat], code) for seat, code in self._trick_cards()]

    def _trick_cards(self) -> list[tuple[int, str]]:
        first_seat = len(self.names) - len(self.puzzle.trick)
        return [(first_seat + index, self.code(card)) for index, card in enumerate(self.puzzle.trick)]

    def codes(self, seat: int) -> list[str]:
        """Return a hand by suit, from high to low."""
        ranks = len(self.puzzle.pack.ranks)
        return [self.code(card) for card in sorted(self.puzzle.hands[seat], key=lambda card: (card // ranks, -card))]

    def code(self, card: int) -> str:
        return self.puzzle.pack.codes[card]

    def taken_text(self) -> str:
        """Return each side's points, or tricks and bid, so far."""
        _ = self.words.text
        own_points, other_points = self.puzzle.taken
        if self.puzzle.bids is None:
            line = _("Points so far: you {ours}, opponent {theirs}")
            if len(self.names) > 2:
                line = _("Points so far: you {ours}, they {theirs}")
            return line.format(ours=thirds_text(own_points * self.unit), theirs=thirds_text(other_points * self.unit))
        bids = [self.words.figure(bid or "nil") for bid in self.puzzle.bids]
        line = _("You bid {bid} and took {ours}. Your opponent bid {other_bid} and took {theirs}.")
        return line.format(bid=bids[0], ours=own_points, other_bid=bids[1], theirs=other_points)

    def taken_labels(self) -> tuple[str, str]:
        """Return each side's points at Tressette, or tricks and bid at Spades, for a picture."""
        return self._taken_label(0), self._taken_label(1)

    def _taken_label(self, side: int) -> str:
        labels, taken = self.words.labels, self.puzzle.taken[side]
        if self.puzzle.bids:
            return f"{taken}/{self.words.figure(self.puzzle.bids[side] or 'nil')} {labels['tricks']}"
        points = thirds_text(taken * self.unit)
        label = self.words.ngettext("point", "points", 1) if points == "1" else labels["points"]
        return f"{points} {label}"

    def write_line(self, page: Writer, line: Line) -> None:
        """Write the rest of the deal, one line for each trick, and the result that these moves earn."""
        position, names = self.puzzle.position(), self.short_names

        def name_and_card(seat: int, code: str) -> str:
            # The joiners that keep a card on one line would take too many characters.
            return f"{names[seat]}{NO_BREAK}{self.words.card(code).replace(JOINER, '')}"

        trick_texts = [name_and_card(seat, code) for seat, code in self._trick_cards()]
        for card in line.cards:
            trick_texts.append(name_and_card(position.turn, self.code(card)))
            position.play(card)
            if not position.trick_size:
                page.line(f"{' '.join(trick_texts)} →{NO_BREAK}{names[position.turn]}")
                trick_texts = []
        _ = self.words.text
        page.line("{title}: {points}", "bold", title=self.figures_title(), points=self.points_text(line))

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
