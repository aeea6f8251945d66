"""Spades for two: players draft a hand from the stock, bid, and play thirteen tricks.

Seat ``dealer`` is the first player and drafts first; the second player bids and leads first.
"""

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Any, ClassVar

from . import errors
from .cards import FRENCH, SuitTexts
from .deal import Carry, Deal, Score, pair, unknown_move
from .errors import IllegalMove
from .options import Spades
from .views import SpadesView

SPADE_SUIT = FRENCH.suit_masks[3]
NOT_SPADES = FRENCH.full ^ SPADE_SUIT
BIDS = {f"bid {number}": number for number in range(14)}
BAG_LIMIT = 10
DRAFT_MOVES = ("draw", "blind", "keep", "pass")


class SpadesDeal(Deal):
    """A deal of Spades for two.

    By seat, ``bids`` are in tricks (0 for nil and double nil), ``blind`` is True after a declaration of double nil, and
    ``discarded`` are the cards that the seat saw and discarded. ``stock`` are the cards left to draw, ``drawn_card`` is
    the card just drawn, and ``discards`` are the draft's discards in order. Chance must still give ``cards_owed`` cards
    to the seat ``owed_to``.
    """

    PACK = FRENCH
    VIEW = SpadesView
    LENGTH = 13
    TRUMPS = SPADE_SUIT
    HAS_HIDDEN_MOVES = True
    WORTH = (0,) * FRENCH.size
    PLAY_TEXTS = SuitTexts(FRENCH, "play {}")
    CARD_OF_PLAY: ClassVar = {f"play {code}": card for code, card in FRENCH.index.items()}
    LISTS = (*Deal.LISTS, "bids", "blind", "has_drawn", "has_exchanged", "discarded")

    def __init__(self, rules: Spades, dealer: int, pack: Sequence[int], carry: Carry) -> None:
        super().__init__(seats=2, dealer=dealer)
        self.phase = "draft"
        self.turn = dealer
        self.nil_bags = rules.nil_bags
        self.bags_before = carry.bags
        self.stock = tuple(pack)
        self.drawn_card = -1
        self.discards: tuple[int, ...] = ()
        self.cards_owed = 0
        self.owed_to = -1
        self.broken = False
        self.bids: list[int | None] = [None, None]
        self.blind = [False, False]
        self.has_drawn = [False, False]
        self.has_exchanged = [False, False]
        self.discarded: list[tuple[int, ...]] = [(), ()]

    def legal_moves(self, seat: int) -> list[str]:
        if seat != self.turn:
            return []
        match self.phase:
            case "play":
                return self.play_moves(seat)
            case "draft" if self.has_drawn[seat]:
                return ["keep", "pass"]
            case "draft":
                return ["draw"] if self.blind[seat] else ["blind", "draw"]
            case "exchange":
                codes = sorted(self.PACK.names(self.cards[seat]))
                choices = chain.from_iterable(combinations(codes, count) for count in (1, 2, 3))
                return ["exchange", *map("exchange ".__add__, map(" ".join, choices))]
            case _:
                return [*BIDS]

    def play_other(self, seat: int, move: str) -> None:
        if move in DRAFT_MOVES:
            self._draft(seat, move)
        elif move in BIDS:
            if self.bids[seat] is not None:
                raise errors.AlreadyBid()
            self.check_turn(seat, "bid")
            self.bids[seat] = BIDS[move]
            self._start_next_phase()
        elif move == "exchange" or move.startswith("exchange "):
            self._exchange(seat, move)
        else:
            raise unknown_move(move)

    def _draft(self, seat: int, move: str) -> None:
        if move == "blind" and self.blind[seat]:
            raise errors.AlreadyBlind()
        if move == "blind" and self.has_drawn[seat]:
            raise errors.TooLateForBlind()
        self.check_turn(seat, "draft")
        if self.has_drawn[seat] != (move in ("keep", "pass")):
            raise errors.NotNow()
        if move == "keep":
            self._keep(seat, 0)
        elif move == "pass":
            self._keep(seat, 1)
        elif move == "draw":
            self.has_drawn[seat] = True
            self.drawn_card = self.stock[0]
        else:
            self.blind[seat] = True

    def _keep(self, seat: int, index: int) -> None:
        """Take one of the stock's two top cards and discard the other."""
        kept_card, discarded_card = self.stock[index], self.stock[1 - index]
        self.stock = self.stock[2:]
        self.cards[seat] |= 1 << kept_card
        self.discards += (discarded_card,)
        if index == 1:
            self.discarded[seat] += (discarded_card,)
        self.drawn_card = -1
        self.turn = 1 - seat
        if not self.stock:
            self._start_next_phase()
        elif self.has_drawn[1 - seat]:
            self.drawn_card = self.stock[0]

    def _start_next_phase(self) -> None:
        """Start the next exchange, the next bid or the play; the second player comes first."""
        order = (1 - self.dealer, self.dealer)
        exchanging = [seat for seat in order if self.blind[seat] and not self.has_exchanged[seat]]
        bidding = [seat for seat in order if not self.blind[seat] and self.bids[seat] is None]
        if exchanging:
            self.phase, self.turn = "exchange", exchanging[0]
        elif bidding:
            self.phase, self.turn = "bid", bidding[0]
        else:
            self.phase, self.turn, self.allowed_cards = "play", order[0], NOT_SPADES

    def _exchange(self, seat: int, move: str) -> None:
        self.check_turn(seat, "exchange")
        codes = move.split(" ")[1:]
        if len(codes) > 3 or codes != sorted(set(codes)) or not all(code in self.PACK.index for code in codes):
            raise unknown_move(move)
        for code in codes:
            if not self.cards[seat] >> self.PACK.index[code] & 1:
                raise errors.NotInHand(card=code, suits=self.PACK.suits)
        self.cards[seat] ^= self.PACK.mask(codes)
        self.discarded[seat] += tuple(self.PACK.index[code] for code in codes)
        self.bids[seat] = 0
        self.has_exchanged[seat] = True
        if codes:
            self.cards_owed, self.owed_to, self.turn = len(codes), seat, None
        else:
            self._start_next_phase()

    def available_discards(self) -> tuple[str, ...]:
        """Return the draft's discards that chance can give, in order."""
        return tuple([self.PACK.codes[card] for card in self.discards])

    def give_cards(self, codes: Sequence[str]) -> None:
        """Give the cards that chance owes for an exchange. Raises NotForChanceToGive if these cards cannot be given."""
        available_codes = set(codes).intersection(self.available_discards())
        if not codes or not len(codes) == len(available_codes) == self.cards_owed:
            raise errors.NotForChanceToGive(owed=self.cards_owed)
        given_cards = self.PACK.mask(codes)
        self.cards[self.owed_to] |= given_cards
        self.discards = tuple(card for card in self.discards if not given_cards >> card & 1)
        self.cards_owed = 0
        self._start_next_phase()

    def card_error(self, seat: int, card: int) -> IllegalMove:
        if self.allowed_cards == NOT_SPADES and seat == self.turn and self.cards[seat] >> card & 1:
            return errors.SpadesNotBroken()
        return super().card_error(seat, card)

    def play_card(self, seat: int, card: int) -> None:
        super().play_card(seat, card)
        if self.broken:
            return
        if SPADE_SUIT >> card & 1:
            self.broken = True
        elif not self.trick:
            self.allowed_cards = NOT_SPADES

    def recorded_bid(self, seat: int) -> int | str | None:
        """Return a bid as recorded: "nil", "double nil" or a number; None before it is made."""
        if self.blind[seat]:
            return "double nil"
        return "nil" if self.bids[seat] == 0 else self.bids[seat]

    def score(self) -> Score:
        """Return the score. An unfinished deal scores nothing and leaves the bags unchanged."""
        (first_points, first_bags), (second_points, second_bags) = [
            self._seat_score(seat) if self.is_over else (0, self.bags_before[seat]) for seat in (0, 1)
        ]
        points, bags = (first_points, second_points), (first_bags, second_bags)
        bids = (self.recorded_bid(0), self.recorded_bid(1))
        return Score(points, {"bids": bids, "tricks": pair(self.tricks), "bags": bags, "points": points})

    def _seat_score(self, seat: int) -> tuple[int, int]:
        """Return a seat's points, and its bags left after each ten bags have cost 100 points."""
        bid, won = self.bids[seat] or 0, self.tricks[seat]
        extra = max(won - bid, 0)
        points = deal_points(bid, won, blind=self.blind[seat])
        bags = self.bags_before[seat] + (extra if bid or self.nil_bags else 0)
        return points - 100 * (bags // BAG_LIMIT), bags % BAG_LIMIT

    def public_fields(self) -> dict[str, Any]:
        return {
            **self.common_fields((0, 0)),
            "drawn": None,
            "discarded": (),
            "stock": len(self.stock),
            "discards": len(self.discards),
            "bids": (self.recorded_bid(0), self.recorded_bid(1)),
            "broken": self.broken,
        }

    def seat_fields(self, seat: int) -> dict[str, Any]:
        codes = self.PACK.codes
        sees_drawn_card = self.drawn_card >= 0 and seat == self.turn
        return {
            **super().seat_fields(seat),
            "drawn": codes[self.drawn_card] if sees_drawn_card else None,
            "discarded": tuple([codes[card] for card in self.discarded[seat]]),
        }


def deal_points(bid: int, won: int, *, blind: bool = False) -> int:
    """Return the points of a deal for a bid (0 is nil) and tricks won, before bags cost anything."""
    if bid == 0:
        worth = 200 if blind else 100
        return -worth if won else worth
    return 10 * bid + won - bid if won >= bid else -10 * bid
