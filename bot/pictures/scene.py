"""A scene: a table as somebody sees it who looks at a picture; what lies there, and nothing of pixels.

It is data, and a pure function of what its viewer may know (`bot.pictures.scenes`): equal scenes are equal pictures.
Cards are by the codes of the pack that they are shown with, which may be another one than they are played with: forty
cards may wear French suits. Words stand in the viewer's language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.picture import Deck, Subject

Light = Literal["", "playable", "dim", "chosen"]
"""How a card stands out: playable ones from those that are dim, because they may not be played just now."""


class Card(NamedTuple):
    """A card that lies there; its ``code`` is empty if it lies face down."""

    code: str = ""
    light: Light = ""


class PlayedCard(NamedTuple):
    """A card of a trick, ``by`` whom; ``said`` is a signal, ``wins`` whether nothing in the trick beats it so far."""

    card: Card
    by: str
    said: str = ""
    wins: bool = False


class Pile(NamedTuple):
    """Cards that lie on one another: the one on top, how many they are, and what they are called as long as one chooses
    among several.
    """

    top: Card
    size: int
    label: str = ""


class Holder(NamedTuple):
    """Somebody else, with the cards that they hold, first those that were shown, then those that nobody knows; and with
    their packets.
    """

    name: str
    cards: tuple[Card, ...]
    packets: tuple[Pile, ...] = ()


class Side(NamedTuple):
    """A side's name, its points in the game, and what else is counted, as in "tricks 4". ``players`` are the names of
    those who play together, if they are more than one.
    """

    name: str
    points: str
    notes: tuple[str, ...] = ()
    is_to_move: bool = False
    players: tuple[str, ...] = ()


class TallyLine(NamedTuple):
    """A line of a deal's score: what was counted, and each side's figure."""

    label: str
    figures: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Scene(Subject):
    """A table in a picture.

    ``line`` says what is to be done, or whose turn it is; ``is_mine`` if it is the viewer's. ``drawn`` is what was
    drawn and shown after the last trick, or the card that the viewer has drawn and looks at. ``middle`` are packets
    that nobody has taken. ``hand`` are the viewer's own cards in the order of the buttons, ``packets`` their own
    packets. ``tally`` is the score of a deal that is over,
    ``tally_title`` says of which.
    """

    deck: Deck
    sides: tuple[Side, Side]
    target: str
    line: str = ""
    is_mine: bool = False
    trick: tuple[PlayedCard, ...] = ()
    last_trick: tuple[PlayedCard, ...] = ()
    last_title: str = ""
    stock: Pile | None = None
    drawn: tuple[PlayedCard, ...] = ()
    drawn_title: str = ""
    middle: tuple[Pile, ...] = ()
    others: tuple[Holder, ...] = ()
    hand: tuple[Card, ...] = ()
    packets: tuple[Pile, ...] = ()
    tally: tuple[TallyLine, ...] = ()
    tally_title: str = ""
