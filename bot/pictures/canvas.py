"""The canvas that layouts fill: cards, boxes, texts and curves, in pixels."""

from __future__ import annotations

from typing import Literal, NamedTuple

from bot.pictures import cards
from bot.pictures.colours import Colour
from bot.pictures.scene import TallyLine

WIDTH = 720  # pixels, twice the points of a phone's screen; pictures are as high as they need to be
MARGIN = 20
INNER = WIDTH - 2 * MARGIN
CARD, SMALL = 220, 84  # card widths: the viewer's hand; the previous trick, and the others' cards
TALLY_LABEL = 306  # width of a score line's label: fits the longest, and leaves room for a bid


class CardAt(NamedTuple):
    """A card at a position. An empty ``code`` is the back. ``visible`` is the height of the visible upper part."""

    code: str
    x: int
    y: int
    width: int
    visible: int
    is_dim: bool = False


class Box(NamedTuple):
    """A rectangle, with rounded corners if ``radius`` is set."""

    x: int
    y: int
    width: int
    height: int
    colour: Colour
    radius: int = 0


class TextAt(NamedTuple):
    """A line of text, vertically centred at ``y``, cut at ``max_width`` pixels."""

    text: str
    x: int
    y: int
    size: int
    colour: Colour
    ground: Colour
    max_width: int
    anchor: Literal["left", "middle", "right"] = "left"


class CurveAt(NamedTuple):
    """A line through points. ``marks`` has one dot per point: filled if True, otherwise a ring."""

    points: tuple[tuple[int, int], ...]
    width: int
    colour: Colour
    ground: Colour
    marks: tuple[bool, ...] = ()


Item = CardAt | Box | TextAt


class Layout(NamedTuple):
    """A picture's height and its items in painting order. Curves are painted last."""

    height: int
    items: tuple[Item, ...]
    curves: tuple[CurveAt, ...] = ()


def height_of(width: int) -> int:
    return width * cards.HEIGHT // cards.WIDTH


class Canvas:
    """Collects cards, boxes and texts from top to bottom. ``y`` is the current height."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.y = 0

    def add_card(self, code: str, x: int, y: int, width: int, visible: int = 0, *, is_dim: bool = False) -> None:
        self.items.append(CardAt(code, x, y, width, visible or height_of(width), is_dim))

    def add_box(self, x: int, y: int, width: int, height: int, colour: Colour, radius: int = 0) -> None:
        self.items.append(Box(x, y, width, height, colour, radius))

    def add_text(
        self,
        text: str,
        x: int,
        y: int,
        size: int,
        colour: Colour,
        ground: Colour,
        max_width: int,
        anchor: Literal["left", "middle", "right"] = "left",
    ) -> None:
        if text:
            self.items.append(TextAt(text, x, y, size, colour, ground, max_width, anchor))

    def add_tally_line(self, line: TallyLine, y: int, size: int) -> None:
        """Add a line of a score: the label between the sides' figures, in this font size."""
        side = (INNER - TALLY_LABEL) // 2
        self.add_text(line.label, WIDTH // 2, y, 26, "soft", "mat", TALLY_LABEL, "middle")
        for figure, x in zip(line.figures, (MARGIN + side // 2, WIDTH - MARGIN - side // 2), strict=True):
            self.add_text(figure, x, y, size, "white", "mat", side, "middle")
