"""A scene: one viewer's table, as data without pixels.

It is a pure function of the viewer's knowledge (`bot.pictures.scene_builder`). Equal scenes give equal pictures. Card
codes are those of the displayed pack: Italian packs can be shown with French suits. Texts are in the viewer's language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from bot.panel_picture import Deck, Subject

Light = Literal["", "playable", "dim", "chosen"]  # how a card is highlighted; "dim" cards cannot be played now


class Card(NamedTuple):
    """A card on the table. An empty ``code`` means face down. ``is_new``: its player has just drawn it."""

    code: str = ""
    light: Light = ""
    is_new: bool = False


class PlayedCard(NamedTuple):
    """A card of a trick, played ``by`` a player. ``said`` is a signal. ``wins``: it is winning so far."""

    card: Card
    by: str
    said: str = ""
    wins: bool = False


class Pile(NamedTuple):
    """A packet (see docs/glossary.md) or the stock.

    It has the top card, the number of cards, and a label if the player chooses among several.
    """

    top: Card
    size: int
    label: str = ""


class Holder(NamedTuple):
    """Another player with their cards, shown ones first, and their packets. ``note`` is their part in the trick."""

    name: str
    cards: tuple[Card, ...]
    packets: tuple[Pile, ...] = ()
    note: str = ""


class Side(NamedTuple):
    """A side: its name, points and other counts, for example "tricks 4". ``players`` are the names of partners."""

    name: str
    points: str
    notes: tuple[str, ...] = ()
    is_to_move: bool = False
    players: tuple[str, ...] = ()


class TallyLine(NamedTuple):
    """A line of a deal's score: a label and each side's figure."""

    label: str
    figures: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Scene(Subject):
    """A table in a picture.

    ``line`` says what to do or whose turn it is, ``is_my_turn`` whether it is the viewer's. ``last_trick`` is the
    previous trick of this deal, ``final_trick`` the last one of a finished deal. ``drawn`` are the cards drawn and
    shown after a trick, or the card that the viewer has drawn and looks at. ``middle`` are packets without an owner.
    ``hand`` has the viewer's cards in the order of the buttons, ``packets`` their packets. ``tally`` is the score of a
    finished deal, ``tally_title`` names the deal. ``italian_as_french``: an Italian pack is shown with French suits.
    ``is_compact``: cards are smaller, and three others sit around the mat, so that picture, question and buttons fit on
    a phone's screen.
    """

    deck: Deck
    sides: tuple[Side, Side]
    target: str
    line: str = ""
    is_my_turn: bool = False
    trick: tuple[PlayedCard, ...] = ()
    last_trick: tuple[PlayedCard, ...] = ()
    final_trick: tuple[PlayedCard, ...] = ()
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
    italian_as_french: bool = False
    is_compact: bool = False
