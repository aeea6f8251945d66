"""What one person may know: a seat's own cards, and what lies or was shown in the open.

Seats count from 0. Cards are codes of the record's notation (``"3D"``); a hand is sorted by suit and from high to
low. Tricks that lie face down may not be looked at again, so a view shows the trick on the table and the last one,
and no points taken before the deal is over.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self


class Played(NamedTuple):
    """A card on the table; ``signal`` is busso or volo, with the card led."""

    seat: int
    card: str
    signal: str | None = None


class LastTrick(NamedTuple):
    cards: tuple[Played, ...]
    winner: int


class Declared(NamedTuple):
    """A combination that a seat has declared in this deal: ``move`` in notation, ``points`` in whole points."""

    seat: int
    move: str
    points: int


class Packet(NamedTuple):
    """One of the eight packets.

    ``number`` is 1 to 8. ``owner`` is the seat that took it, None while nobody has. ``place`` is "middle", "taken"
    (its owner has yet to choose a hand), "hand" or "table". ``top`` is the card that the viewer may see on it, ``left``
    how many cards it still has there.
    """

    number: int
    owner: int | None
    place: str
    top: str | None
    left: int


@dataclass(frozen=True, kw_only=True)
class DealView:
    """A deal, as ``seat`` may see it; None is the public.

    ``phase`` is "take", "hold", "draft", "exchange", "bid", "play" or "over". ``hand`` is the viewer's own, None for
    the public. ``counts`` is how many cards each seat holds in hand, ``known`` which of them have been shown to all.
    ``tricks`` are those won by each side.
    """

    seat: int | None
    dealer: int
    phase: str
    turn: int | None
    hand: tuple[str, ...] | None
    counts: tuple[int, ...]
    known: tuple[tuple[str, ...], ...]
    trick: tuple[Played, ...]
    last_trick: LastTrick | None
    tricks: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class TressetteView(DealView):
    """``declared`` is what each side has declared in this deal, in whole points."""

    declared: tuple[int, int]
    declarations: tuple[Declared, ...]


@dataclass(frozen=True, kw_only=True)
class PacketsView(TressetteView):
    packets: tuple[Packet, ...]


@dataclass(frozen=True, kw_only=True)
class StockView(TressetteView):
    """``stock`` is how many cards are left to draw; ``drawn`` is what was drawn and shown after the last trick."""

    stock: int
    drawn: tuple[Played, ...]


@dataclass(frozen=True, kw_only=True)
class SpadesView(DealView):
    """``drawn`` is the card that the viewer has drawn and must keep or pass, ``discarded`` those that the viewer saw
    and threw away. ``stock`` and ``discards`` are counts. ``bids`` are a number, "nil", "double nil", or None before.
    """

    drawn: str | None
    discarded: tuple[str, ...]
    stock: int
    discards: int
    bids: tuple[int | str | None, int | str | None]
    broken: bool


@dataclass(frozen=True, kw_only=True)
class Result:
    """A deal that is over, for everybody to see: ``entries`` are its score as it stands in the record, by side.

    ``last_trick`` is the one that was taken last, None if there was none or the deal was not played here; so it is no
    part of what makes two results the same.
    """

    deal: int
    entries: dict[str, tuple[Any, Any]]
    secret: str | None
    last_trick: LastTrick | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True)
class View:
    """A game, as ``seat`` may see it; None is the public.

    ``deal_number`` counts from 1, 0 before the first. ``moves`` are the viewer's legal moves, in or out of turn.
    ``totals`` are each side's points, whole and not multiplied; ``bags`` each side's bags (spades). ``commitment`` is
    the hash of the running deal's secret; ``result`` the last deal that is over. ``winner`` are the winning seats.
    """

    game: str
    rules: dict[str, int | str | bool]
    names: tuple[str, ...]
    seat: int | None
    deal_number: int
    commitment: str | None
    deal: DealView | None
    turn: int | None
    moves: tuple[str, ...]
    totals: tuple[int, int]
    bags: tuple[int, int]
    result: Result | None
    winner: tuple[int, ...] | None
    ending: str | None

    def without_claims(self) -> Self:
        """The same where nobody may claim the game."""
        return replace(self, moves=tuple([move for move in self.moves if move != "claim"]))
