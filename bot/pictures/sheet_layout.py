"""The layout of a sheet: a title, parts from top to bottom, and small print."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import wrap

from bot.pictures.canvas import INNER, MARGIN, SMALL, WIDTH, Canvas, CurveAt, Layout, height_of
from bot.pictures.colours import Colour
from bot.pictures.sheet import Curve, Diagram, Form, Plot, Ranking, Row, Rows, Score, Sheet, Spot, Tally, Words
from bot.words.wording import fix_minus

TITLE, FOOT, GAP = 96, 48, 16
LEFT, RIGHT = MARGIN // 2, WIDTH - MARGIN // 2  # edges of the mats
PLOT, AXIS, ENDS = 300, 76, 84  # height of a plot, and the room for figures on its left and right
MAX_TICKS = 4
NEAREST_TICK = 28  # minimum distance of another line from the target's line
NEAREST_ENDS = 36  # minimum distance of two curves' last figures
ROW, CURVE, CURVE_HEIGHT = 68, 190, 40  # height of a table's row, and size of a small curve
LETTER = 0.5  # average letter width per font size

# A ranking's cards: width with and without points, visible height, height of the points below.
RANKED, RANKED_BARE, RANK_SEEN, WORTH = 124, 84, 132, 40

CAPTION = 32  # height of a line below a diagram's cards

# colours of letters and of the ground behind them
WON: tuple[Colour, Colour] = ("ink", "gold")
LOST: tuple[Colour, Colour] = ("white", "strip")
WORTHLESS: tuple[Colour, Colour] = ("soft", "strip")

STEPS = {"beside": SMALL + 8, "fan": 20, "pile": 3}  # distance of cards in a diagram; the one of fans is for backs
BESIDE_FAN = 26  # a fan of backs is this much narrower than its room, because an open fan next to it can be wider
SEEN_IN_FAN = {"classic": 46, "easy": 58}  # visible width of a card in a fan, enough to read it


def lay_out_sheet(sheet: Sheet) -> Layout:
    return _SheetLayout(sheet).layout()


class _SheetLayout(Canvas):
    def __init__(self, sheet: Sheet) -> None:
        super().__init__()
        self.sheet = sheet
        self.curves: list[CurveAt] = []

    def layout(self) -> Layout:
        sheet = self.sheet
        self.add_box(0, 0, WIDTH, TITLE, "strip")
        self.add_text(sheet.title, MARGIN, 34 if sheet.note else TITLE // 2, 36, "white", "strip", INNER)
        self.add_text(sheet.note, MARGIN, 74, 26, "soft", "strip", INNER)
        self.y = TITLE + GAP
        for part in sheet.parts:
            match part:
                case (Score() as left, Score() as right):
                    self._add_scores(left, right)
                case Plot():
                    self._add_plot(part)
                case Words():
                    for line in _wrap_text(part.text, INNER, 30):
                        self.add_text(line, WIDTH // 2, self.y + 20, 30, part.ink or "white", "felt", INNER, "middle")
                        self.y += 40
                case Tally():
                    top = self._add_mat(len(part.lines) * 46 + 20)
                    for number, tally_line in enumerate(part.lines):
                        self.add_tally_line(tally_line, top + 33 + 46 * number, 32)
                case Rows():
                    top = self._add_mat(len(part.rows) * ROW + 16)
                    for number, row in enumerate(part.rows):
                        self._add_row(row, top + 8 + number * ROW)
                case Form():
                    self._add_form(part)
                case Ranking():
                    self._add_ranking(part)
                case Diagram():
                    self._add_diagram(part)
            self.y += GAP
        if sheet.small:
            self.add_box(0, self.y, WIDTH, FOOT, "strip")
            self.add_text(sheet.small, WIDTH // 2, self.y + FOOT // 2, 22, "soft", "strip", INNER, "middle")
            self.y += FOOT
        return Layout(self.y, tuple(self.items), tuple(self.curves))

    def _add_mat(self, height: int) -> int:
        """Add a mat of full width. Return its top."""
        top = self.y
        self.add_box(LEFT, top, RIGHT - LEFT, height, "mat", 26)
        self.y += height
        return top

    def _add_scores(self, left: Score, right: Score) -> None:
        line, half = 38, WIDTH // 2
        names_height = line * max(len(left.names), len(right.names))
        top = self._add_mat(88 + names_height)
        for score, middle in ((left, LEFT + half // 2), (right, RIGHT - half // 2)):
            for number, name in enumerate(score.names):
                self.add_text(name, middle, top + 28 + line * number, 28, score.ink, "mat", half - 50, "middle")
            self.add_text(score.points, middle, top + 50 + names_height, 46, "white", "mat", half - 50, "middle")

    # Curves

    def _add_plot(self, plot: Plot) -> None:
        values = [value for curve in plot.curves for value in curve.values]
        values += [plot.target] if plot.target is not None else []
        ticks = _ticks(min(values), max(values))
        low, high = min(ticks[0], *values), max(ticks[-1], *values)
        labels_height = 40 if plot.begin or plot.end or plot.marks else 0
        mat = self._add_mat(PLOT + labels_height)
        left, right = LEFT + AXIS, RIGHT - ENDS
        top, bottom = mat + 34, mat + PLOT - 34

        def y_of(value: int) -> int:
            return bottom - round((value - low) / max(1, high - low) * (bottom - top))

        for tick in ticks:
            if plot.target is not None and abs(y_of(tick) - y_of(plot.target)) < NEAREST_TICK:
                continue
            self.add_box(left, y_of(tick) - 1, right - left, 2, "felt")
            self.add_text(fix_minus(str(tick)), left - 12, y_of(tick), 24, "soft", "mat", AXIS - 20, "right")
        if plot.target is not None:
            self.add_box(left, y_of(plot.target) - 2, right - left, 4, "strip")
            label = fix_minus(str(plot.target))
            self.add_text(label, left - 12, y_of(plot.target), 26, "white", "mat", AXIS - 20, "right")
        for curve in reversed(plot.curves):
            self._add_curve(curve, left + 10, right - 10, [y_of(value) for value in curve.values], 5)
        ends = [y_of(curve.values[-1]) for curve in plot.curves]
        for curve, y in zip(plot.curves, _spread(ends), strict=True):
            self.add_text(fix_minus(str(curve.values[-1])), right + 10, y, 32, curve.ink, "mat", ENDS - 16)
        self._add_captions(plot, left, right, mat + PLOT + 8)

    def _add_captions(self, plot: Plot, left: int, right: int, y: int) -> None:
        self.add_text(plot.begin, left, y, 22, "soft", "mat", 200)
        self.add_text(plot.end, right, y, 22, "soft", "mat", 200, "right")
        if plot.marks:
            middle = (left + right) // 2
            for text, x, is_filled in zip(plot.marks, (middle - 100, middle + 24), (True, False), strict=True):
                self.curves.append(CurveAt(((x, y), (x, y)), 1, "gold", "mat", (is_filled, is_filled)))
                self.add_text(text, x + 18, y, 22, "soft", "mat", 90)

    def _add_curve(self, curve: Curve, left: int, right: int, heights: Sequence[int], width: int) -> None:
        steps = max(1, len(heights) - 1)
        points = tuple((left + (right - left) * number // steps, y) for number, y in enumerate(heights))
        self.curves.append(CurveAt(points, width, curve.ink, "mat", curve.marks))

    # Tables

    def _add_row(self, row: Row, y: int) -> None:
        middle = y + ROW // 2
        right = RIGHT - 120
        has_middle = row.curve is not None or row.share is not None
        max_width = right - MARGIN - (CURVE + 30 if has_middle else 20)
        colour: Colour = "gold" if row.is_own else "white"
        self.add_text(row.label, MARGIN + 6, middle - 15 if row.note else middle, 28, colour, "mat", max_width)
        self.add_text(row.note, MARGIN + 6, middle + 19, 22, "soft", "mat", max_width)
        self.add_text(row.figure, RIGHT - 16, middle, 34, colour, "mat", 110, "right")
        if row.share is not None:
            self.add_box(right - CURVE, middle - 9, CURVE, 18, "strip", 9)
            if filled_width := round(CURVE * row.share):
                self.add_box(right - CURVE, middle - 9, max(18, filled_width), 18, "gold", 9)
        if row.curve and len(row.curve.values) > 1:
            values = row.curve.values
            low, span = min(values), max(1, max(values) - min(values))
            bottom = middle + CURVE_HEIGHT // 2
            heights = [bottom - round((value - low) / span * CURVE_HEIGHT) for value in values]
            self._add_curve(row.curve, right - CURVE, right - 10, heights, 4)

    def _add_form(self, form: Form) -> None:
        """Add the last games side by side, won ones in gold."""
        box_width, top = 44, self._add_mat(72)
        self.add_text(form.label, MARGIN + 6, top + 36, 26, "soft", "mat", 190)
        x = RIGHT - 12 - len(form.won) * box_width
        for is_won in form.won:
            letter = form.letters[0 if is_won else 1]
            ink, ground = WON if is_won else LOST
            self.add_box(x, top + 16, box_width - 4, 40, ground, 10)
            self.add_text(letter, x + box_width // 2 - 2, top + 36, 26, ink, ground, box_width, "middle")
            x += box_width

    # Cards

    def _add_ranking(self, ranking: Ranking) -> None:
        """Add the cards in two rows, from high to low: the upper part of each card, with its points below."""
        row_length = -(-len(ranking.cards) // 2)
        width = RANKED if ranking.worth else RANKED_BARE
        step, visible_height = width + 10, width * RANK_SEEN // RANKED
        for start in (0, row_length):
            cards = ranking.cards[start : start + row_length]
            x = (WIDTH - row_length * step + 10) // 2
            for index, card in enumerate(cards, start):
                self.add_card(card.code, x, self.y, width, visible_height)
                if ranking.worth:
                    ink, ground = WORTHLESS if ranking.worth[index] == "0" else WON
                    self.add_box(x, self.y + visible_height, RANKED, WORTH, ground)
                    y = self.y + visible_height + WORTH // 2
                    self.add_text(ranking.worth[index], x + RANKED // 2, y, 26, ink, ground, RANKED, "middle")
                x += step
            self.y += visible_height + (WORTH if ranking.worth else 0) + 12
        self.y -= 12

    def _add_diagram(self, diagram: Diagram) -> None:
        """Add the rows of a table. The middle row is on a mat."""
        for number, row in enumerate(diagram.rows):
            is_middle = number == len(diagram.rows) // 2
            ground: Colour = "mat" if is_middle else "felt"
            captions = [_wrap_text(spot.label, self._room(row), 24) for spot in row]
            height = height_of(SMALL) + CAPTION * max(map(len, captions)) + 22
            if is_middle:
                self.add_box(LEFT, self.y, RIGHT - LEFT, height, ground, 26)
            for index, (spot, caption) in enumerate(zip(row, captions, strict=True)):
                middle = LEFT + (RIGHT - LEFT) * (2 * index + 1) // (2 * len(row))
                self._add_spot(spot, middle, self.y + 12, self._room(row))
                for line, text in enumerate(caption):
                    y = self.y + 12 + height_of(SMALL) + 20 + CAPTION * line
                    self.add_text(text, middle, y, 24, "white", ground, self._room(row) + 10, "middle")
            self.y += height

    @staticmethod
    def _room(row: Sequence[Spot]) -> int:
        return (RIGHT - LEFT) // len(row) - 16

    def _add_spot(self, spot: Spot, middle: int, y: int, room: int) -> None:
        step = STEPS[spot.lie]
        if spot.lie == "fan" and spot.cards[0].code:
            step = SEEN_IN_FAN[self.sheet.deck.style]
        elif spot.lie == "fan":
            step = min(step, (room - BESIDE_FAN - SMALL) // (len(spot.cards) - 1))
        x = middle - (SMALL + (len(spot.cards) - 1) * step) // 2
        for number, card in enumerate(spot.cards):
            self.add_card(card.code, x + number * step, y, SMALL)


def _ticks(low: int, high: int) -> list[int]:
    """Return a few round numbers across a range.

    >>> _ticks(0, 31), _ticks(962, 1105)
    ([0, 10, 20, 30], [1000, 1050, 1100])
    """
    span = max(1, high - low)
    unit = 10 ** max(0, math.floor(math.log10(span / MAX_TICKS)))
    step = next(unit * factor for factor in (1, 2, 5, 10) if span / (unit * factor) <= MAX_TICKS)
    first = -(-low // step)
    return [step * number for number in range(first, high // step + 1)]


def _spread(heights: Sequence[int]) -> list[int]:
    """Return the two heights, moved apart if their figures would overlap."""
    if len(heights) < 2 or abs(heights[0] - heights[1]) >= NEAREST_ENDS:
        return list(heights)
    middle, away = sum(heights) // 2, NEAREST_ENDS // 2
    return [middle - away, middle + away] if heights[0] <= heights[1] else [middle + away, middle - away]


def _wrap_text(text: str, room: int, size: int) -> list[str]:
    """Wrap a text to about ``room`` pixels. A line that is still wider is drawn smaller."""
    return wrap(text, int(room / (LETTER * size)))
