"""Reads the drawings in bot/pictures/art/ and places them on a card."""

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Drawing(NamedTuple):
    """A file of `bot/pictures/art/`: its size, the presentation attributes of its root, and its content."""

    width: float
    height: float
    attributes: str
    content: str

    def place(self, x: float, y: float, height: float, turn: float = 0, colour: str = "black") -> str:
        """Return an SVG group of this height, centred at ``x``, ``y`` and turned clockwise by ``turn`` degrees.

        ``colour`` applies to drawings without a colour of their own.
        """
        rotation = f" rotate({turn:g})" if turn else ""
        to_centre = f"translate({-self.width / 2:g} {-self.height / 2:g})"
        transform = f"translate({x:g} {y:g}){rotation} scale({height / self.height:.4g}) {to_centre}"
        return f'<g transform="{transform}" color="{colour}"><g {self.attributes}>{self.content}</g></g>'


@cache
def drawing(name: str) -> Drawing:
    """Load a drawing by name, for example "signs/cups". Raises FileNotFoundError if it is missing."""
    text = (files("bot") / "pictures" / "art" / f"{name}.svg").read_text(encoding="utf-8")
    match = re.fullmatch(r'<svg xmlns="\S+" viewBox="0 0 (\S+) (\S+)" ?([^>]*)>(.*)</svg>\s*', text, re.DOTALL)
    if not match:
        raise ValueError(
            f"{name}.svg: the root must have xmlns, then a viewBox that starts at 0 0, then presentation attributes"
        )
    width, height, attributes, content = match.groups()
    return Drawing(float(width), float(height), attributes, re.sub(r"\s*\n\s*", "", content))


@cache
def glyph(rank: str) -> Drawing:
    """Return the glyph of a rank by the engine's letter for it. Raises KeyError if it is missing."""
    letters = drawing("glyphs")
    path = re.search(rf'<path id="{rank}" (d="[^"]+")/>', letters.content)
    if not path:
        raise KeyError(rank)
    return letters._replace(content=f"<path {path[1]}/>")
