"""A sheet: a picture of what was counted, ranked or is to be learnt; what stands there, and nothing of pixels.

It has a title, parts one below the other, and small print. Like a scene it is data and nothing else: equal sheets are
equal pictures. Words stand in the reader's language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.picture import DECKS, Deck, Subject
from bot.pictures.scene import Card, TallyLine

Ink = Literal["gold", "sky"]
"""A side's colour, in words and curves: the first side's is gold."""


class Score(NamedTuple):
    """A side's players and its points."""

    names: tuple[str, ...]
    points: str
    ink: Ink


class Curve(NamedTuple):
    """A line through figures; ``marks``, one a figure, are filled where they are True, and rings elsewhere."""

    values: tuple[int, ...]
    ink: Ink = "gold"
    marks: tuple[bool, ...] = ()


class Plot(NamedTuple):
    """Curves over one another. ``target`` is a line across; ``begin`` and ``end`` say what the first and last figures
    are of, ``marks`` what filled marks and rings mean.
    """

    curves: tuple[Curve, ...]
    target: int | None = None
    begin: str = ""
    end: str = ""
    marks: tuple[str, str] | None = None


class Row(NamedTuple):
    """A line of a table: what it is about, a small note below, a curve or how much of a bar is full, and a figure."""

    label: str
    note: str
    figure: str
    curve: Curve | None = None
    share: float | None = None
    is_own: bool = False


class Words(NamedTuple):
    """A sentence or two, in a side's colour if they are about its win."""

    text: str
    ink: Ink | None = None


class Tally(NamedTuple):
    """What was counted, and each side's figure."""

    lines: tuple[TallyLine, ...]


class Rows(NamedTuple):
    rows: tuple[Row, ...]


class Form(NamedTuple):
    """The last games, the latest last: whether each was won, and the letters for it and for one lost."""

    label: str
    won: tuple[bool, ...]
    letters: tuple[str, str]


class Ranking(NamedTuple):
    """Cards from high to low, each with what it is worth, where they are worth anything by themselves."""

    cards: tuple[Card, ...]
    worth: tuple[str, ...] = ()


class Spot(NamedTuple):
    """Cards that lie somewhere: what they are called, and whether beside one another, in a fan or on one another."""

    label: str
    cards: tuple[Card, ...]
    lie: Literal["beside", "fan", "pile"] = "fan"


class Diagram(NamedTuple):
    """How a table lies, in rows from the far side to one's own."""

    rows: tuple[tuple[Spot, ...], ...]


Part = tuple[Score, Score] | Plot | Words | Tally | Rows | Form | Ranking | Diagram


@dataclass(frozen=True, kw_only=True)
class Sheet(Subject):
    """A picture of figures: ``title``, below it ``note``, then the parts; ``small`` is at its foot."""

    title: str
    note: str = ""
    parts: tuple[Part, ...]
    small: str = ""
    deck: Deck = DECKS[0]


NAMELESS = "…"
"""What stands for a name of which the letters have nothing."""
