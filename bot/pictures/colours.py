"""The colours of the card art that more than one drawing has."""

from typing import NamedTuple

INK, PAPER = "#2b1b17", "#fdf8ec"
DARK_GROUND = "#1b1f24"
"""What signs on dark are meant to stand on; a little lighter or darker does no harm."""


class SuitColours(NamedTuple):
    """A suit's colour on a card, and on a dark ground."""

    light: str
    dark: str


SUIT_COLOURS = {
    "coins": SuitColours("#c27f00", "#f5bd1a"),
    "cups": SuitColours("#b0101a", "#f0575a"),
    "swords": SuitColours("#1d2f86", "#58a2ea"),
    "batons": SuitColours("#24755a", "#93f0b5"),
    "clubs": SuitColours("#24755a", "#74f0b0"),
    "diamonds": SuitColours("#d86f10", "#ebaa22"),
    "hearts": SuitColours("#a80c1c", "#f0506a"),
    "spades": SuitColours("#181b21", "#f3f6fb"),
}
"""By the suits' English names. Those of a pack are told apart by people of every colour vision:
tests/bot/pictures/test_colours.py holds them to that."""
