"""Exact solution of open positions of any game: the result of each move with perfect play.

Picking up an honour is searched like any other move. Declarations are not counted. They do not depend on the play as
long as no card on a packet can complete a combination, because a player can declare a combination in hand before
playing a card. The caller must check this, as `engine.robots.perfect_play` does.
"""

from collections.abc import Sequence
from itertools import pairwise

from ..cards import cards
from ..declarations import HONOURS
from ..position import PacketsPosition, SearchPosition, SpadesPosition, StockPosition, pick_move
from ..spades import SPADE_SUIT
from ..tressette import THIRDS, TressetteDeal
from . import four_hands, spades_hands, two_hands
from .compiled import COMPILED, Ints, int_array, zeros
from .two_hands_moves import ABOVE, COVERING, OPENS

MAX_POSITIONS = 3_000_000 if COMPILED else 30_000  # limit of a solve, about a second

UNSET, LOW, HIGH, WIDE = -10_000, -1, 99, 1000


class Solver:
    """A solver of open positions. It remembers them, so keep one solver for many solves."""

    def __init__(self, max_positions: int = MAX_POSITIONS) -> None:
        self._two = two_hands.new_memory(max_positions)
        self._four = four_hands.new_memory(max_positions)
        self._spades = spades_hands.new_memory(max_positions)
        self.positions = 0

    def solve(self, position: SearchPosition, points: Sequence[int] = ()) -> dict[int, int] | None:
        """Return for each legal move the result for side 0 with perfect play and all cards open.

        Moves are cards and picks, as in `engine.position`. At Tressette the result is in thirds of a point, including
        those already taken and the last trick's. At Spades it is ``points[n]``, the value of n tricks by side 0 in the
        whole deal. Return None if the solve takes too many positions, or cards are still to be drawn. ``positions`` is
        the number searched in the last solve.
        """
        if isinstance(position, StockPosition) and position.drawn_count < len(position.stock):
            return None
        values = int_array([UNSET] * 52)
        if isinstance(position, SpadesPosition):
            is_complete = self._solve_spades(position, points, values)
        elif len(position.hands) == 2:
            is_complete = self._solve_two(position, values)
        else:
            is_complete = self._solve_four(position, values)
        if not is_complete:
            return None
        value_of_move: dict[int, int] = {}
        for suit in position.PACK.suit_masks:
            value = UNSET
            for card in cards(position.legal_cards() & suit):
                # Equal cards share the value of the lowest.
                value = value if values[card] == UNSET else int(values[card])
                value_of_move[card] = value
        for move in map(pick_move, cards(position.legal_picks())):
            value_of_move[move] = int(values[move])
        return value_of_move

    def _solve_two(self, position: SearchPosition, values: Ints) -> bool:
        two_hands.start_new_age(self._two.counters, two_hands.AGES, self._two.table)
        opens = zeros(OPENS)
        hidden = _note_packets(position, opens) if isinstance(position, PacketsPosition) else 0
        own_hand, other_hand = position.hands[position.turn], position.hands[1 - position.turn]
        unplayed = own_hand | other_hand | hidden
        thirds = sum(THIRDS[card] for card in cards(unplayed)) + position.pot + TressetteDeal.LAST_TRICK
        led_card, picks = (position.best_card if position.trick_size else -1), position.legal_picks()
        is_complete = two_hands.fill_values(
            values, own_hand, other_hand, led_card, unplayed, thirds, picks, LOW, 0, opens, self._two
        )
        self.positions = self._two.counters[two_hands.NODES]
        for move in (*cards(own_hand), *map(pick_move, cards(picks))):
            if (value := values[move]) != UNSET:
                values[move] = position.taken[0] + (value if position.turn == 0 else thirds - value)
        return is_complete

    def _solve_four(self, position: SearchPosition, values: Ints) -> bool:
        two_hands.start_new_age(self._four.counters, two_hands.AGES, self._four.keys)
        # Only the winning card on the table matters.
        trick = 1 << position.best_card if position.trick_size else 0
        thirds_in_hands = sum(THIRDS[card] for hand in position.hands for card in cards(hand))
        thirds = thirds_in_hands + position.pot + TressetteDeal.LAST_TRICK
        is_complete = four_hands.fill_values(
            values, int_array(position.hands), position.turn, position.allowed_cards, position.best_card,
            position.winner, position.trick_size, trick, position.pot, thirds, LOW, HIGH, 0, self._four,
        )  # fmt: skip
        self.positions = self._four.counters[two_hands.NODES]
        for card in range(40):
            if values[card] != UNSET:
                values[card] += position.taken[0]
        return is_complete

    def _solve_spades(self, position: SpadesPosition, points: Sequence[int], values: Ints) -> bool:
        two_hands.start_new_age(self._spades.counters, spades_hands.AGES, self._spades.leaders)
        led_card = position.best_card if position.trick_size else -1
        broken = int(position.broken or bool(position.trick_size and position.allowed_cards == SPADE_SUIT))
        is_complete = spades_hands.fill_values(
            values, position.hands[position.turn], position.hands[1 - position.turn], position.turn, led_card,
            position.taken[0], broken, -WIDE, WIDE, 0, int_array(points), self._spades,
        )  # fmt: skip
        self.positions = self._spades.counters[two_hands.NODES]
        return is_complete


def _note_packets(position: PacketsPosition, opens: Ints) -> int:
    """Note the order of the packets (`two_hands_moves.OPENS`); return all cards below the tops."""
    hidden = 0
    for packets in position.packets:
        for packet in packets:
            for upper_card, card in pairwise(packet):
                opens[upper_card] = 1 << card
                hidden |= 1 << card
                if HONOURS >> upper_card & 1:
                    opens[COVERING] |= 1 << upper_card
                    opens[ABOVE + card] = 1 << upper_card | opens[ABOVE + upper_card]
    return hidden
