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
    moves: Ints, start: int, hands: Ints, seat: int, rest: int, led: int, best: int, winner: int, laid: int
) -> int:
    """List a seat's moves, the most promising first; return their number. ``rest`` are the cards not yet taken."""
    held = hands[seat]
    follow = held & led
    playable = follow if follow else held
    rivals = hands[(seat + 1) & 3] | hands[(seat + 3) & 3]
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        mine = distinct_cards(playable & mask, rest & mask, 0, NOTHING_BELOW)
        while mine:
            low = mine & -mine
            mine ^= low
            card = bit_index(low)
            worth = WORTH[card]
            if laid == 0:
                above = (rivals & mask) > low and (rivals & mask) >> (card + 1) != 0
                guess = 20 - 5 * worth if above else 60 + worth
            else:
                beats = follow and card > best
                if laid == 3:
                    ours = beats or (winner ^ seat) & 1 == 0
                    guess = 60 + 6 * worth - (card % RANKS if beats else 0) if ours else 30 - 6 * worth
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
    card: int, turn: int, led: int, best: int, winner: int, laid: int, trick: int, pot: int
) -> tuple[int, int, int, int, int, int, int, int]:
    """Return the arguments from ``turn`` to ``pot`` after this card, and the thirds of a complete trick or 0."""
    if laid == 0:
        led, best, winner = SUIT[card], card, turn
    elif card > best and 1 << card & led:
        best, winner = card, turn
    pot += WORTH[card]
    if laid == 3:
        return winner, 0, best, winner, 0, 0, 0, pot
    return (turn + 1) & 3, led, best, winner, laid + 1, trick | 1 << card, pot, 0


@compiled
def search_value(
    hands: Ints, turn: int, led: int, best: int, winner: int, laid: int, trick: int, pot: int, left: int, low: int,
    high: int, depth: int, memory: Memory,
) -> int:  # fmt: skip
    """Return the thirds of ``left`` that side 0 takes: exact between ``low`` and ``high``, otherwise a bound.

    ``left`` includes the ``pot``. ``trick`` are the cards of the current trick.
    """
    counters, moves = memory.counters, memory.moves
    rest = hands[0] | hands[1] | hands[2] | hands[3] | trick
    slot, key, least, most, known = 0, 0, 0, left, -1
    if laid == 0:
        if rest == 0:
            return left if turn & 1 == 0 else 0
        if left <= low:
            return left
        if high <= 0:
            return 0
        mine = hands[turn]
        if takes_all(mine, rest ^ mine):
            return left if turn & 1 == 0 else 0
        key = rest | turn << 40 | counters[AGE] << 42
        slot = ((rest % 1000003) * 4 + turn) * 1009 % TABLE_SIZE
        if memory.keys[slot] == key:
            packed = memory.bounds[slot]
            least, most, known = packed & 63, packed >> 6 & 63, (packed >> 12) - 1
            if least >= high or least == most:
                return least
            if most <= low:
                return most
            low, high = max(low, least), min(high, most)
    counters[NODES] += 1
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    start = depth * WIDTH
    count = list_moves(moves, start, hands, turn, rest, led, best, winner, laid)
    if known >= 0:
        for index in range(start, start + count):
            if moves[index] & 63 == known:
                moves[index] |= 1 << 20
        sort_moves(moves, start, count)
    ours = turn & 1 == 0
    value, chosen = (-1 if ours else 1000), -1
    alpha, beta = low, high
    for index in range(start, start + count):
        card = moves[index] & 63
        bit = 1 << card
        hands[turn] ^= bit
        next_turn, suit, top, holder, after, lying, in_pot, won = play_card(
            card, turn, led, best, winner, laid, trick, pot
        )
        base = won if next_turn & 1 == 0 else 0
        got = base + search_value(
            hands, next_turn, suit, top, holder, after, lying, in_pot, left - won, alpha - base, beta - base,
            depth + 1, memory,
        )  # fmt: skip
        hands[turn] ^= bit
        if ours:
            if got > value:
                value, chosen = got, card
            alpha = max(alpha, value)
        else:
            if got < value:
                value, chosen = got, card
            beta = min(beta, value)
        if alpha >= beta:
            break
    if laid == 0 and counters[NODES] <= counters[MAX_NODES]:
        if value > low:
            least = max(least, value)
        if value < high:
            most = min(most, value)
        memory.keys[slot], memory.bounds[slot] = key, least | most << 6 | (chosen + 1) << 12
    return value


@compiled
def fill_values(
    values: Ints, hands: Ints, turn: int, led: int, best: int, winner: int, laid: int, trick: int, pot: int,
    left: int, low: int, high: int, depth: int, memory: Memory,
) -> bool:  # fmt: skip
    """Store the value of each legal card; of equal cards, only the lowest. Return False at the node limit."""
    moves = memory.moves
    memory.counters[NODES] = 0
    rest = hands[0] | hands[1] | hands[2] | hands[3] | trick
    start = 40 * WIDTH
    count = list_moves(moves, start, hands, turn, rest, led, best, winner, laid)
    for index in range(start, start + count):
        card = moves[index] & 63
        bit = 1 << card
        hands[turn] ^= bit
        next_turn, suit, top, holder, after, lying, in_pot, won = play_card(
            card, turn, led, best, winner, laid, trick, pot
        )
        base = won if next_turn & 1 == 0 else 0
        values[card] = base + search_value(
            hands, next_turn, suit, top, holder, after, lying, in_pot, left - won, low, high, depth, memory
        )
        hands[turn] ^= bit
    return memory.counters[NODES] <= memory.counters[MAX_NODES]
