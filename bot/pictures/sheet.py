"""A sheet: a picture of scores, rankings or rules, as data without pixels.

It has a title, parts from top to bottom, and small print. Equal sheets give equal pictures. Texts are in the reader's
language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.panel_picture import DECKS, Deck, Subject
from bot.pictures.scene import Card, TallyLine

Ink = Literal["gold", "sky"]  # a side's colour in words and curves; the first side's is gold


class Score(NamedTuple):
    names: tuple[str, ...]
    points: str
    ink: Ink


class Curve(NamedTuple):
    """A line through figures. ``marks`` has one dot per figure: filled if True, otherwise a ring."""

    values: tuple[int, ...]
    ink: Ink = "gold"
    marks: tuple[bool, ...] = ()


class Plot(NamedTuple):
    """Curves in one plot.

    ``target`` is a horizontal line. ``begin`` and ``end`` label the first and last figures, ``marks`` explains filled
    dots and rings.
    """

    curves: tuple[Curve, ...]
    target: int | None = None
    begin: str = ""
    end: str = ""
    marks: tuple[str, str] | None = None


class Row(NamedTuple):
    """A line of a table: a label with a note below, a curve or a bar (``share``), and a figure."""

    label: str
    note: str
    figure: str
    curve: Curve | None = None
    share: float | None = None
    is_own: bool = False


class Words(NamedTuple):
    """One or two sentences, in a side's colour if they are about its win."""

    text: str
    ink: Ink | None = None


class Tally(NamedTuple):
    lines: tuple[TallyLine, ...]


class Rows(NamedTuple):
    rows: tuple[Row, ...]


class Form(NamedTuple):
    """The last games, latest last: whether each was won, and the letters for won and lost."""

    label: str
    won: tuple[bool, ...]
    letters: tuple[str, str]


class Ranking(NamedTuple):
    """Cards from high to low, and the points of each in games that count single cards."""

    cards: tuple[Card, ...]
    worth: tuple[str, ...] = ()


class Spot(NamedTuple):
    """Cards at one spot: their caption, and whether they are side by side, in a fan or in a pile."""

    label: str
    cards: tuple[Card, ...]
    lie: Literal["beside", "fan", "pile"] = "fan"


class Diagram(NamedTuple):
    """A table in rows, from the far side to the viewer's."""

    rows: tuple[tuple[Spot, ...], ...]


Part = tuple[Score, Score] | Plot | Words | Tally | Rows | Form | Ranking | Diagram


@dataclass(frozen=True, kw_only=True)
class Sheet(Subject):
    """A picture of figures: ``title``, ``note`` below it, the parts, and ``small`` at the foot."""

    title: str
    note: str = ""
    parts: tuple[Part, ...]
    small: str = ""
    deck: Deck = DECKS[0]


NAMELESS = "…"  # replaces a name without drawable letters
