"""The letters of pictures. They come from one bundled font, so pictures look the same on every machine."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain

from bot.texts import texts

# ranges of characters, each complete in the font
SCRIPTS = (
    range(0x20, 0x7F),  # Latin
    range(0xA0, 0x180),
    range(0x1E80, 0x1E86),
    range(0x1EA0, 0x1EFA),
    range(0x388, 0x38B),  # Greek
    range(0x38E, 0x3A2),
    range(0x3A3, 0x3CF),
    range(0x400, 0x460),  # Cyrillic
    range(0x490, 0x494),
)

LETTERS = frozenset(map(chr, chain(*SCRIPTS, map(ord, "ȘșȚțΆ–—‘’“”„•…€−"))))  # all characters that pictures can have
ELLIPSIS = "…"
BEFORE_FRACTION = re.compile(r"(?<=[0-9])(?=[⅐-⅞])")
FRACTION_SLASH = "\u2044"
ISOLATES = "\u2068\u2069"  # invisible characters around names in texts


def drawable_text(text: str) -> str:
    """Return the drawable part of a text: fancy letters become plain, emoji and other scripts are left out.

    The font has no thirds, so they are written with a slash.

    >>> drawable_text("𝓐𝓷𝓷𝓪 🤖")
    'Anna'
    >>> drawable_text("4⅓")
    '4 1/3'
    """
    plain_text = unicodedata.normalize("NFC", text)
    if not LETTERS.issuperset(plain_text):
        spaced_text = BEFORE_FRACTION.sub(" ", text)
        plain_text = unicodedata.normalize("NFKC", spaced_text).replace(FRACTION_SLASH, "/")
    return " ".join("".join(char for char in plain_text if char in LETTERS).split())


def drawable_names(names: Sequence[str], language: str) -> list[str]:
    """Return the players' names in drawable letters.

    A name without drawable letters becomes the seat's number. If different names look the same, the names that lost
    letters also get their seat's number.
    """
    _ = texts(language).gettext
    names = [name.strip(ISOLATES) for name in names]
    drawable = [drawable_text(name) for name in names]
    distinct = []
    for seat, (name, drawable_name) in enumerate(zip(names, drawable, strict=True), 1):
        number = _("seat {number}").format(number=seat)
        has_double = any(other != name and drawable_text(other) == drawable_name for other in names)
        if not drawable_name:
            distinct.append(number)
        elif has_double and name != drawable_name:
            distinct.append(f"{drawable_name} ({number})")
        else:
            distinct.append(drawable_name)
    return distinct


def are_drawable(names: Sequence[str]) -> bool:
    """Return whether the names are distinct in a picture: none is empty or looks like another."""
    drawable = [drawable_text(name) for name in names]
    return all(drawable) and len(set(drawable)) == len(drawable)
