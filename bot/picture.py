"""A panel's picture: what it shows, as data, and in the end the bytes that an adapter sends.

What pictures show, and how they are painted, is in `bot.pictures`; whoever only hands pictures on, or chooses cards for
somebody, needs no more than this.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import Literal, NamedTuple

Suits = Literal["italian", "french"]
CardStyle = Literal["classic", "easy"]


class Deck(NamedTuple):
    """A way to draw a pack: "easy" cards have one large rank and one large sign, for small screens and poor eyes."""

    suits: Suits
    style: CardStyle


DECKS = tuple(Deck(suits, style) for suits in ("italian", "french") for style in ("classic", "easy"))


class Subject:
    """What a picture shows: a dataclass, `bot.pictures.scene.Scene` or `bot.pictures.sheet.Sheet`, drawn with the cards
    of a deck.
    """

    deck: Deck

    @cached_property
    def digest(self) -> str:
        """Tells this picture from another one: 24 hex digits."""
        return blake2b(repr(self).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class Picture(NamedTuple):
    """A panel's picture: what it shows, and what is read out to who cannot see it. ``png`` is empty until painted.

    ``is_lasting`` is whether everybody may see it and it will be shown again, as a deal's result: worth keeping.
    """

    subject: Subject
    alt: str
    png: bytes = b""
    is_lasting: bool = False
