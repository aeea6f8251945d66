"""A panel's picture, as data and as bytes for an adapter.

`bot.pictures` describes and paints pictures. Code that only passes them on, or chooses a deck, needs only this module.
"""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from typing import Literal, NamedTuple

Suits = Literal["italian", "french"]
CardStyle = Literal["classic", "easy"]


class Deck(NamedTuple):
    """A way to draw a pack. "easy" cards have one large rank and one large sign, for small screens or weak eyes."""

    suits: Suits
    style: CardStyle


DECKS = tuple(Deck(suits, style) for suits in ("italian", "french") for style in ("classic", "easy"))


class Subject:
    """The content of a picture, drawn with a deck: `bot.pictures.scene.Scene` or `bot.pictures.sheet.Sheet`."""

    deck: Deck

    @cached_property
    def digest(self) -> str:
        return blake2b(repr(self).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


class Live(NamedTuple):
    """What a hand with cards to tap shows besides the scene.

    ``clock`` names the time for a move and ``seconds`` is that time; empty and 0 without a clock. ``ends_at`` is the
    Unix time at which the time of the player to move is up, None if no clock runs. ``is_large``: cards and letters are
    large.
    """

    clock: str = ""
    seconds: int = 0
    ends_at: int | None = None
    is_large: bool = False

    @property
    def look(self) -> str:
        """What messages show of it, without the running time."""
        return f"live {self.clock} {self.is_large}"


class Picture(NamedTuple):
    """A panel's picture and its alternative text. ``png`` is empty until painted.

    ``is_lasting``: it is public and will be shown again, so it is worth caching. With ``live`` it shows a player's
    hand, the panel's buttons are the player's moves, and a platform can draw cards to tap instead.
    """

    subject: Subject
    alt: str
    png: bytes = b""
    is_lasting: bool = False
    live: Live | None = None
