"""One deal of any game: hands, and tricks that follow suit.

`packets`, `stock` and `full` build the Tressette deals on this, `spades` the deals of Spades.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

from .cards import Pack, SuitTexts, mask_of
from .errors import IllegalMove, MustFollow, NotInHand, NotNow, NotYourTurn, UnknownMove, quote
from .views import DealView, LastTrick, ShownCard

TrickCard = tuple[int, int]  # a card on the table: the seat that played it, and the card


class Carry(NamedTuple):
    """State from the previous deal: the seat that led its first trick, and each side's bags at Spades."""

    leader: int | None = None
    bags: tuple[int, int] = (0, 0)


class Score(NamedTuple):
    """The score of a deal: whole ``points`` by side, and the ``entries`` of its record, except the totals."""

    points: tuple[int, int]
    entries: dict[str, tuple[Any, Any]]


class Deal(ABC):
    """A deal being played.

    ``turn`` is the seat to move, None while chance must move and when the deal is over. Seats 0 and 2 are side 0, seats
    1 and 3 side 1. LENGTH is the number of tricks. HAS_HIDDEN_MOVES is true if some moves must be hidden from the other
    seats.

    Moves are text in the record's notation; a card is an index and a set of cards an integer (`engine.cards`).
    ``cards[seat]`` are the cards that the seat can play. A seat that holds any of the ``allowed_cards`` must play
    one of them. ``allowed_cards`` is the suit led. For a lead it is 0, or at Spades the other suits until spades are
    broken. ``best_card`` is the winning card of the trick. ``taken`` is the value of each side's tricks by WORTH and
    LAST_TRICK, and ``pot`` the value of the cards in the trick.
    """

    PACK: ClassVar[Pack]
    VIEW: ClassVar[type[DealView]]
    LENGTH: ClassVar[int]
    TRUMPS: ClassVar[int] = 0
    WORTH: ClassVar[Sequence[int]]
    LAST_TRICK: ClassVar[int] = 0
    CARD_OF_PLAY: ClassVar[dict[str, int]]
    PLAY_TEXTS: ClassVar[SuitTexts]
    HAS_HIDDEN_MOVES: ClassVar[bool] = False
    LISTS: ClassVar[tuple[str, ...]] = ("cards", "tricks", "taken")

    def __init__(self, seats: int, dealer: int) -> None:
        self.seats = seats
        self.dealer = dealer
        self.phase = "play"
        self.turn: int | None = (dealer + 1) % seats
        self.leader: int | None = None
        self.cards = [0] * seats
        self.tricks = [0, 0]
        self.taken = [0, 0]
        self.tricks_done = 0
        self.pot = 0
        self.trick: tuple[TrickCard, ...] = ()
        self.allowed_cards = 0
        self.best_card = -1
        self.best_seat = -1
        self.signal: str | None = None
        self.last: tuple[tuple[TrickCard, ...], str | None, int] | None = None

    def copy(self) -> Self:
        new_deal: Self = object.__new__(type(self))
        attributes = new_deal.__dict__
        attributes.update(self.__dict__)
        for name in self.LISTS:
            attributes[name] = attributes[name].copy()
        return new_deal

    @property
    def is_over(self) -> bool:
        return self.tricks_done == self.LENGTH

    @property
    def last_trick(self) -> LastTrick | None:
        if self.last is None:
            return None
        played_cards, signal, winner = self.last
        return LastTrick(self._shown_cards(played_cards, signal), winner)

    @abstractmethod
    def legal_moves(self, seat: int) -> list[str]:
        """Return every move that this seat can make now, in or out of turn."""

    def play(self, seat: int, move: str) -> None:
        """Make a move. IllegalMove says why the move is refused; then nothing has changed."""
        card = self.CARD_OF_PLAY.get(move)
        if card is None:
            self.play_other(seat, move)
        else:
            self.play_card(seat, card)

    @abstractmethod
    def play_other(self, seat: int, move: str) -> None:
        """Make a move that is not a plain card, such as a declaration or a card with a signal."""

    @abstractmethod
    def score(self) -> Score:
        """Return the score so far."""

    @abstractmethod
    def public_fields(self) -> dict[str, Any]:
        """Return the fields of `VIEW` that everyone can see."""

    def seat_fields(self, seat: int) -> dict[str, Any]:
        """Return the fields of `VIEW` that differ for this seat."""
        return {"seat": seat, "hand": self.PACK.names(self.hand(seat))}

    def hand(self, seat: int) -> int:
        return self.cards[seat]

    def has_shown(self, seat: int, code: str) -> bool:
        """Return whether all players have seen that this seat holds the card."""
        return False

    def play_moves(self, seat: int) -> list[str]:
        """Return the moves with which the seat to move plays a card."""
        hand = self.cards[seat]
        playable = hand & self.allowed_cards
        if not self.trick:
            return self.lead_moves(playable or hand)
        return [*self.PLAY_TEXTS[playable]] if playable else self.PLAY_TEXTS.list_texts(hand)

    def lead_moves(self, playable: int) -> list[str]:
        return self.PLAY_TEXTS.list_texts(playable)

    def play_card(self, seat: int, card: int) -> None:
        """Put a legal card on the table; the last card ends the trick."""
        held = self.cards[seat]
        if seat != self.turn or self.phase != "play" or not (held & self.allowed_cards or held) >> card & 1:
            raise self.card_error(seat, card)
        bit = 1 << card
        self.cards[seat] = held ^ bit
        self.pot += self.WORTH[card]
        trick = self.trick
        if not trick:
            self.trick = ((seat, card),)
            self.allowed_cards = self.PACK.suit_of[card]
            self.best_card = card
            self.best_seat = seat
            if self.leader is None:
                self.leader = seat
        else:
            self.trick = trick = (*trick, (seat, card))
            if card > self.best_card and bit & (self.allowed_cards | self.TRUMPS):
                self.best_card = card
                self.best_seat = seat
            if len(trick) == self.seats:
                self.end_trick(self.best_seat)
                return
        self.turn = (seat + 1) % self.seats

    def card_error(self, seat: int, card: int) -> IllegalMove:
        self.check_turn(seat, "play")
        if not self.cards[seat] >> card & 1:
            return NotInHand(card=self.PACK.codes[card], suits=self.PACK.suits)
        return MustFollow(suit=self.PACK.suit_names[self.PACK.suit_masks.index(self.allowed_cards)])

    def check_turn(self, seat: int, phase: str) -> None:
        """Raise NotNow in another phase of the deal, and NotYourTurn if it is another seat's turn."""
        if self.phase != phase or self.turn is None:
            raise NotNow()
        if seat != self.turn:
            raise NotYourTurn()

    def end_trick(self, winner: int) -> None:
        side = winner & 1
        self.last = (self.trick, self.signal, winner)
        self.trick = ()
        self.signal = None
        self.allowed_cards = 0
        self.tricks[side] += 1
        self.tricks_done = tricks_done = self.tricks_done + 1
        if tricks_done == self.LENGTH:
            self.turn = None
            self.pot += self.LAST_TRICK
        else:
            self.turn = winner
        self.taken[side] += self.pot
        self.pot = 0
        self.after_trick(winner)

    def after_trick(self, winner: int) -> None:  # noqa: B027 - most games do nothing here
        """Do what some games do after a trick, such as drawing cards."""

    def common_fields(self, shown_cards: Sequence[int]) -> dict[str, Any]:
        """Return the public fields of every game. ``shown_cards`` are, by seat, the cards that everyone has seen."""
        hands = [self.hand(seat) for seat in range(self.seats)]
        names = self.PACK.names
        return {
            "seat": None,
            "dealer": self.dealer,
            "phase": "over" if self.is_over else self.phase,
            "turn": self.turn,
            "hand": None,
            "counts": tuple([hand.bit_count() for hand in hands]),
            "known": tuple([names(hand & seen_cards) for hand, seen_cards in zip(hands, shown_cards, strict=True)]),
            "trick": self._shown_cards(self.trick, self.signal),
            "last_trick": self.last_trick,
            "tricks": pair(self.tricks),
        }

    def _shown_cards(self, played_cards: tuple[TrickCard, ...], signal: str | None) -> tuple[ShownCard, ...]:
        shown_cards = [ShownCard(seat, self.PACK.codes[card]) for seat, card in played_cards]
        if signal:
            shown_cards[0] = shown_cards[0]._replace(signal=signal)
        return tuple(shown_cards)


def pair(by_side: Sequence[int]) -> tuple[int, int]:
    first, second = by_side
    return first, second


def deal_hands(pack: Sequence[int], hands: list[int], eldest: int) -> int:
    """Deal ten cards to each hand, five at a time from the seat ``eldest``; return the number of cards dealt."""
    for turn in range(2 * len(hands)):
        hands[(eldest + turn) % len(hands)] |= mask_of(pack[5 * turn : 5 * turn + 5])
    return 10 * len(hands)


def unknown_move(move: object) -> UnknownMove:
    return UnknownMove(move=quote(move))
