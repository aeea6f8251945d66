"""The tricks of a deal as integers, which searches copy and continue.

`search_position` makes a position of a deal whose cards are all known or guessed. A position has no declarations,
signals, claims or bids. It does not check moves, so callers must make only legal moves.

A move is a number. A number below 40 (52 at Spades) plays the card with that number. A number from `FIRST_PICK` on
picks up an honour from the top of a packet; `pick_move` and `picked_card` convert between this number and the card.
"""

from collections.abc import Sequence
from typing import Self

from .cards import FRENCH, ITALIAN, Pack, cards
from .deal import Deal
from .declarations import HONOURS
from .full import FullDeal
from .packets import PacketsDeal
from .spades import NOT_SPADES, SPADE_SUIT, SpadesDeal
from .stock import StockDeal
from .tressette import THIRDS, TressetteDeal

BIT = tuple(1 << card for card in range(52))

FIRST_PICK = ITALIAN.size  # the move that picks up the first of `PICKABLE`

PICKABLE = tuple(cards(HONOURS))


def pick_move(card: int) -> int:
    return FIRST_PICK + PICKABLE.index(card)


def picked_card(move: int) -> int:
    return PICKABLE[move - FIRST_PICK]


class SearchPosition:
    """A position of play between two or four hands. This class itself is for a full deal of Tressette.

    ``hands[seat]`` is the set of cards that the seat can play from. ``taken[side]`` counts thirds of a point with the
    last trick's bonus, or tricks at Spades. ``cards_left`` is the number of cards still to be played. ``turn`` is the
    seat to move, meaningless when no cards are left.

    In the current trick, ``trick_size`` is the number of cards, ``allowed_cards`` the set of cards that follow suit,
    ``best_card`` the winning card, ``winner`` its seat and ``pot`` the value. Before a lead ``allowed_cards`` is the
    set of cards that can be led, or 0 for all.
    """

    __slots__ = ("allowed_cards", "best_card", "cards_left", "hands", "pot", "taken", "trick_size", "turn", "winner")
    PACK: Pack = ITALIAN
    TRUMPS = 0
    WORTH: Sequence[int] = THIRDS
    LAST = TressetteDeal.LAST_TRICK

    def __init__(self, deal: Deal) -> None:
        self.hands = deal.cards.copy()
        self.turn = deal.turn or 0
        self.cards_left = (deal.LENGTH - deal.tricks_done) * deal.seats - len(deal.trick)
        self.trick_size = len(deal.trick)
        self.allowed_cards = deal.allowed_cards
        self.best_card = deal.best_card
        self.winner = deal.best_seat
        self.pot = deal.pot
        self.taken = deal.taken.copy()

    @classmethod
    def from_hands(cls, hands: Sequence[int], trick: Sequence[int], taken: Sequence[int]) -> Self:
        """Return the position of open hands. Seat 0 moves next. ``trick`` is in the order of play."""
        position: Self = object.__new__(cls)
        position.hands, position.taken = [*hands], [*taken]
        position.turn, position.trick_size = 0, len(trick)
        position.cards_left = sum(hand.bit_count() for hand in hands)
        position.allowed_cards = cls.PACK.suit_of[trick[0]] if trick else 0
        following = [card for card in trick if BIT[card] & (position.allowed_cards | cls.TRUMPS)]
        position.best_card = max(following, default=-1)
        position.winner = len(hands) - len(trick) + trick.index(position.best_card) if trick else -1
        position.pot = sum(cls.WORTH[card] for card in trick)
        return position

    def copy(self) -> Self:
        new: Self = object.__new__(type(self))
        new.hands = self.hands.copy()
        new.taken = self.taken.copy()
        new.turn, new.cards_left, new.trick_size = self.turn, self.cards_left, self.trick_size
        new.allowed_cards, new.pot = self.allowed_cards, self.pot
        new.best_card, new.winner = self.best_card, self.winner
        return new

    def legal_cards(self) -> int:
        hand = self.hands[self.turn]
        return hand & self.allowed_cards or hand

    def legal_picks(self) -> int:
        """Return the honours that the seat to move can pick up before it plays."""
        return 0

    def make_move(self, move: int) -> None:
        self.play(move)

    def play(self, card: int) -> None:
        seat, bit = self.turn, BIT[card]
        self.hands[seat] ^= bit
        self.cards_left -= 1
        self.pot += self.WORTH[card]
        if not self.trick_size:
            self.allowed_cards = self.PACK.suit_of[card]
            self.best_card, self.winner, self.trick_size = card, seat, 1
        else:
            if card > self.best_card and bit & (self.allowed_cards | self.TRUMPS):
                self.best_card, self.winner = card, seat
            self.trick_size += 1
            if self.trick_size == len(self.hands):
                self.end_trick()
                return
        self.turn = (seat + 1) % len(self.hands)

    def end_trick(self) -> None:
        self.taken[self.winner & 1] += self.pot if self.cards_left else self.pot + self.LAST
        self.trick_size = self.allowed_cards = self.pot = 0
        self.turn = self.winner


class StockPosition(SearchPosition):
    """A position with a stock in a known order; ``stock[drawn_count:]`` is still to be drawn."""

    __slots__ = ("drawn_count", "stock")

    def __init__(self, deal: StockDeal) -> None:
        super().__init__(deal)
        self.stock = deal.stock
        self.drawn_count = deal.drawn_count

    def copy(self) -> Self:
        new = super().copy()
        new.stock, new.drawn_count = self.stock, self.drawn_count
        return new

    def end_trick(self) -> None:
        super().end_trick()
        if self.drawn_count < len(self.stock):
            self.hands[self.turn] |= BIT[self.stock[self.drawn_count]]
            self.hands[1 - self.turn] |= BIT[self.stock[self.drawn_count + 1]]
            self.drawn_count += 2


class PacketsPosition(SearchPosition):
    """A position with packets. ``packets[seat]`` are the seat's packets, each from the top.

    ``hands[seat]`` includes the tops, because they can be played. Picking up an honour is a separate move: it uncovers
    the card below, which then counts for following suit.
    """

    __slots__ = ("packets",)

    def __init__(self, deal: PacketsDeal) -> None:
        super().__init__(deal)
        self.packets = [[deal.packets[number] for number in deal.on_table[seat]] for seat in (0, 1)]

    def copy(self) -> Self:
        new = super().copy()
        new.packets = [packets.copy() for packets in self.packets]
        return new

    def legal_picks(self) -> int:
        tops = 0
        for packet in self.packets[self.turn]:
            if packet:
                tops |= BIT[packet[0]]
        return tops & HONOURS

    def make_move(self, move: int) -> None:
        if move < FIRST_PICK:
            self.play(move)
        else:
            self._uncover(self.turn, picked_card(move))

    def play(self, card: int) -> None:
        seat = self.turn
        super().play(card)
        self._uncover(seat, card)

    def _uncover(self, seat: int, top: int) -> None:
        """Take a card off its packet, if it lies on a packet, and turn up the next card."""
        for number, packet in enumerate(self.packets[seat]):
            if packet and packet[0] == top:
                self.packets[seat][number] = lower_cards = packet[1:]
                if lower_cards:
                    self.hands[seat] |= BIT[lower_cards[0]]


class SpadesPosition(SearchPosition):
    __slots__ = ("broken",)
    PACK = FRENCH
    TRUMPS = SPADE_SUIT
    WORTH = (0,) * 52
    LAST = 0

    def __init__(self, deal: SpadesDeal) -> None:
        super().__init__(deal)
        self.taken = deal.tricks.copy()
        self.broken = deal.broken

    @classmethod
    def from_spades_hands(
        cls, hands: Sequence[int], trick: Sequence[int], tricks: Sequence[int], *, broken: bool
    ) -> "SpadesPosition":
        """Return a position as `from_hands` does. ``tricks`` counts the tricks that each side has taken."""
        new = cls.from_hands(hands, trick, tricks)
        new.broken = broken
        if not trick and not broken:
            new.allowed_cards = NOT_SPADES
        return new

    def copy(self) -> Self:
        new = super().copy()
        new.broken = self.broken
        return new

    def play(self, card: int) -> None:
        if BIT[card] & SPADE_SUIT:
            self.broken = True
        super().play(card)

    def end_trick(self) -> None:
        self.pot = 1
        super().end_trick()
        self.allowed_cards = 0 if self.broken else NOT_SPADES


def search_position(deal: Deal) -> SearchPosition:
    """Return the position of a deal whose cards are all known or guessed. Raise ValueError before or after the play."""
    if deal.phase != "play":
        raise ValueError(f"the deal's phase is {deal.phase}, not play")
    match deal:
        case StockDeal():
            return StockPosition(deal)
        case PacketsDeal():
            return PacketsPosition(deal)
        case SpadesDeal():
            return SpadesPosition(deal)
        case FullDeal():
            return SearchPosition(deal)
    raise ValueError(f"no search position for {type(deal).__name__}")
