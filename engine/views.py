"""Views: the knowledge of one player, or of the public, about a game.

Seats count from 0. Cards are codes such as ``"3D"``; a hand is sorted by suit and from high to low. Players must not
look at earlier tricks again. So a view shows only the current and the previous trick, and the points of tricks only
after the deal.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self


class ShownCard(NamedTuple):
    """A card that a seat played or drew openly. ``signal`` is busso or volo, said with a lead, otherwise None."""

    seat: int
    card: str
    signal: str | None = None


class LastTrick(NamedTuple):
    """The cards of a finished trick, and the seat that took it. In a view, it is the previous trick."""

    cards: tuple[ShownCard, ...]
    winner: int


class Declaration(NamedTuple):
    """A combination that a seat has declared in this deal; ``points`` are whole points."""

    seat: int
    move: str
    points: int


class Packet(NamedTuple):
    """One of the eight packets.

    ``number`` is 1 to 8. ``owner`` is the seat that took it, None before that. ``place`` is "middle", "taken" (its
    owner has not chosen a hand yet), "hand" or "table". ``top`` is the top card if the viewer can see it. ``left`` is
    the number of cards left on the table.
    """

    number: int
    owner: int | None
    place: str
    top: str | None
    left: int


@dataclass(frozen=True, kw_only=True)
class DealView:
    """A deal as ``seat`` can see it, or as the public can if ``seat`` is None.

    ``phase`` is "take", "hold", "draft", "exchange", "bid", "play" or "over". ``hand`` is the viewer's hand, None for
    the public. By seat, ``counts`` are the numbers of cards in hand, and ``known`` the cards in hand that all players
    have seen. ``tricks`` are the tricks won by each side.
    """

    seat: int | None
    dealer: int
    phase: str
    turn: int | None
    hand: tuple[str, ...] | None
    counts: tuple[int, ...]
    known: tuple[tuple[str, ...], ...]
    trick: tuple[ShownCard, ...]
    last_trick: LastTrick | None
    tricks: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class TressetteView(DealView):
    """``declared`` are the points declared by each side in this deal."""

    declared: tuple[int, int]
    declarations: tuple[Declaration, ...]


@dataclass(frozen=True, kw_only=True)
class PacketsView(TressetteView):
    """``picked`` are the cards picked up from packets into hands in this deal, in order."""

    packets: tuple[Packet, ...]
    picked: tuple[ShownCard, ...]


@dataclass(frozen=True, kw_only=True)
class StockView(TressetteView):
    """``stock`` is the number of cards left to draw; ``drawn`` are the cards drawn and shown after the last trick."""

    stock: int
    drawn: tuple[ShownCard, ...]


@dataclass(frozen=True, kw_only=True)
class SpadesView(DealView):
    """A deal of Spades.

    ``drawn`` is the card that the viewer has drawn and must keep or pass. ``discarded`` are the cards that the viewer
    saw and discarded. ``stock`` and ``discards`` are counts. A bid is a number, "nil", "double nil", or None before the
    player has bid.
    """

    drawn: str | None
    discarded: tuple[str, ...]
    stock: int
    discards: int
    bids: tuple[int | str | None, int | str | None]
    broken: bool


@dataclass(frozen=True, kw_only=True)
class Result:
    """The public result of a finished deal. ``entries`` are its score as in the record, by side.

    ``last_trick`` is None if the deal had no trick or was loaded from a record, so comparisons ignore it.
    """

    deal: int
    entries: dict[str, tuple[Any, Any]]
    secret: str | None
    last_trick: LastTrick | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True)
class View:
    """A game as ``seat`` can see it, or as the public can if ``seat`` is None.

    ``deal_number`` counts from 1, 0 before the first. ``moves`` are the viewer's legal moves, in or out of turn.
    ``totals`` are each side's whole points, not multiplied by ``score_unit``. ``bags`` are each side's bags (Spades).
    ``commitment`` is the hash of the current deal's secret. ``result`` is the last finished deal. ``winner`` are the
    winning seats.
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
        """Return the view without the move that claims the game."""
        return replace(self, moves=tuple([move for move in self.moves if move != "claim"]))
