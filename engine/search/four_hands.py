"""Exact solution of open endings of four hands of Tressette ("double dummy"): alpha-beta over the cards of each trick.

Cards of a hand that are equal in worth, with no card of another hand between them, are searched as one move.
Positions at the start of a trick are remembered with their bounds. Values are the thirds that side 0 still takes.
"""

from typing import NamedTuple

from ..tressette import TressetteDeal
from .compiled import Ints, bit_index, compiled, int_array, zeros
from .two_hands import AGE, MAX_NODES, NODES, takes_all
from .two_hands_moves import RANKS, SUIT, SUIT_BITS, WORTH, distinct_cards, sort_moves

LAST = TressetteDeal.LAST_TRICK
TABLE_SIZE = 1 << 19
WIDTH = 12
NOTHING_BELOW = zeros(40)


class Memory(NamedTuple):
    """Positions of one deal, and work space."""

    keys: Ints
    bounds: Ints
    moves: Ints
    counters: Ints


def new_memory(max_nodes: int) -> Memory:
    """Return memory for solves that stop after ``max_nodes`` positions."""
    return Memory(zeros(TABLE_SIZE), zeros(TABLE_SIZE), zeros(41 * WIDTH), int_array([0, 0, max_nodes]))


@compiled
def list_moves(
    moves: Ints,
    start: int,
    hands: Ints,
    seat: int,
    untaken: int,
    led_suit: int,
    best_card: int,
    winner: int,
    trick_size: int,
) -> int:
    """List a seat's moves, the most promising first; return their number. ``untaken`` are the cards not yet taken."""
    hand = hands[seat]
    follow = hand & led_suit
    playable = follow if follow else hand
    rivals = hands[(seat + 1) & 3] | hands[(seat + 3) & 3]
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        candidates = distinct_cards(playable & mask, untaken & mask, 0, NOTHING_BELOW)
        while candidates:
            low = candidates & -candidates
            candidates ^= low
            card = bit_index(low)
            worth = WORTH[card]
            if trick_size == 0:
                can_be_beaten = (rivals & mask) > low and (rivals & mask) >> (card + 1) != 0
                guess = 20 - 5 * worth if can_be_beaten else 60 + worth
            else:
                beats = follow and card > best_card
                if trick_size == 3:
                    is_won_by_own_side = beats or (winner ^ seat) & 1 == 0
                    guess = 60 + 6 * worth - (card % RANKS if beats else 0) if is_won_by_own_side else 30 - 6 * worth
                elif beats:
                    sure = (rivals & mask) >> (card + 1) == 0
                    guess = 50 + worth if sure else 25 - 5 * worth
                else:
                    guess = 30 - 6 * worth
            moves[start + count] = guess << 6 | card
            count += 1
    sort_moves(moves, start, count)
    return count


@compiled
def play_card(
    card: int, turn: int, led_suit: int, best_card: int, winner: int, trick_size: int, trick: int, pot: int
) -> tuple[int, int, int, int, int, int, int, int]:
    """Return the arguments from ``turn`` to ``pot`` after this card, and the thirds of a complete trick or 0."""
    if trick_size == 0:
        led_suit, best_card, winner = SUIT[card], card, turn
    elif card > best_card and 1 << card & led_suit:
        best_card, winner = card, turn
    pot += WORTH[card]
    if trick_size == 3:
        return winner, 0, best_card, winner, 0, 0, 0, pot
    return (turn + 1) & 3, led_suit, best_card, winner, trick_size + 1, trick | 1 << card, pot, 0


@compiled
def search_value(
    hands: Ints, turn: int, led_suit: int, best_card: int, winner: int, trick_size: int, trick: int, pot: int,
    thirds: int, low: int, high: int, depth: int, memory: Memory,
) -> int:  # fmt: skip
    """Return how many of the ``thirds`` side 0 takes: exact between ``low`` and ``high``, otherwise a bound.

    ``thirds`` includes the ``pot``. ``trick`` are the cards of the current trick.
    """
    counters, moves = memory.counters, memory.moves
    untaken = hands[0] | hands[1] | hands[2] | hands[3] | trick
    slot, key, lower_bound, upper_bound, remembered_card = 0, 0, 0, thirds, -1
    if trick_size == 0:
        if untaken == 0:
            return thirds if turn & 1 == 0 else 0
        if thirds <= low:
            return thirds
        if high <= 0:
            return 0
        own_hand = hands[turn]
        if takes_all(own_hand, untaken ^ own_hand):
            return thirds if turn & 1 == 0 else 0
        key = untaken | turn << 40 | counters[AGE] << 42
        slot = ((untaken % 1000003) * 4 + turn) * 1009 % TABLE_SIZE
        if memory.keys[slot] == key:
            packed = memory.bounds[slot]
            lower_bound, upper_bound, remembered_card = packed & 63, packed >> 6 & 63, (packed >> 12) - 1
            if lower_bound >= high or lower_bound == upper_bound:
                return lower_bound
            if upper_bound <= low:
                return upper_bound
            low, high = max(low, lower_bound), min(high, upper_bound)
    counters[NODES] += 1
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    start = depth * WIDTH
    count = list_moves(moves, start, hands, turn, untaken, led_suit, best_card, winner, trick_size)
    if remembered_card >= 0:
        for index in range(start, start + count):
            if moves[index] & 63 == remembered_card:
                moves[index] |= 1 << 20
        sort_moves(moves, start, count)
    is_maximizing = turn & 1 == 0
    value, best_move = (-1 if is_maximizing else 1000), -1
    alpha, beta = low, high
    for index in range(start, start + count):
        card = moves[index] & 63
        bit = 1 << card
        hands[turn] ^= bit
        next_turn, suit, top, holder, size_after, trick_after, pot_after, won = play_card(
            card, turn, led_suit, best_card, winner, trick_size, trick, pot
        )
        base = won if next_turn & 1 == 0 else 0
        result = base + search_value(
            hands, next_turn, suit, top, holder, size_after, trick_after, pot_after, thirds - won, alpha - base,
            beta - base, depth + 1, memory,
        )  # fmt: skip
        hands[turn] ^= bit
        if is_maximizing:
            if result > value:
                value, best_move = result, card
            alpha = max(alpha, value)
        else:
            if result < value:
                value, best_move = result, card
            beta = min(beta, value)
        if alpha >= beta:
            break
    if trick_size == 0 and counters[NODES] <= counters[MAX_NODES]:
        if value > low:
            lower_bound = max(lower_bound, value)
        if value < high:
            upper_bound = min(upper_bound, value)
        memory.keys[slot], memory.bounds[slot] = key, lower_bound | upper_bound << 6 | (best_move + 1) << 12
    return value


@compiled
def fill_values(
    values: Ints, hands: Ints, turn: int, led_suit: int, best_card: int, winner: int, trick_size: int, trick: int,
    pot: int, thirds: int, low: int, high: int, depth: int, memory: Memory,
) -> bool:  # fmt: skip
    """Store the value of each legal card; of equal cards, only the lowest. Return False at the node limit."""
    moves = memory.moves
    memory.counters[NODES] = 0
    untaken = hands[0] | hands[1] | hands[2] | hands[3] | trick
    start = 40 * WIDTH
    count = list_moves(moves, start, hands, turn, untaken, led_suit, best_card, winner, trick_size)
    for index in range(start, start + count):
        card = moves[index] & 63
        bit = 1 << card
        hands[turn] ^= bit
        next_turn, suit, top, holder, size_after, trick_after, pot_after, won = play_card(
            card, turn, led_suit, best_card, winner, trick_size, trick, pot
        )
        base = won if next_turn & 1 == 0 else 0
        values[card] = base + search_value(
            hands,
            next_turn,
            suit,
            top,
            holder,
            size_after,
            trick_after,
            pot_after,
            thirds - won,
            low,
            high,
            depth,
            memory,
        )
        hands[turn] ^= bit
    return memory.counters[NODES] <= memory.counters[MAX_NODES]
