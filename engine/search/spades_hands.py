"""Exact solution of open endings of Spades: alpha-beta over tricks, maximizing the points of the whole deal.

An extra trick is a bag and can cost points. So a position includes the tricks of each side. Its value is side 0's
points of the deal minus side 1's.
"""

from typing import NamedTuple

from ..cards import FRENCH
from ..spades import NOT_SPADES, SPADE_SUIT
from .compiled import Ints, bit_index, compiled, int_array, zeros
from .two_hands import AGE, MAX_NODES, NODES
from .two_hands_moves import sort_moves

TABLE_SIZE = 1 << 18
AGES = 1 << 10
WIDTH = 16
RANKS = 13
SUIT_BITS = (1 << RANKS) - 1
SUIT = int_array(FRENCH.suit_of)
WIDE = 1000  # more points than any deal scores


class Memory(NamedTuple):
    """Positions of one deal and its bids, and work space."""

    keys: Ints
    leaders: Ints
    lower_bounds: Ints
    upper_bounds: Ints
    moves: Ints
    counters: Ints


def new_memory(max_nodes: int) -> Memory:
    """Return memory for solves that stop after ``max_nodes`` positions."""
    keys, leaders, lower_bounds, upper_bounds = (zeros(TABLE_SIZE) for _ in range(4))
    return Memory(keys, leaders, lower_bounds, upper_bounds, zeros(14 * 2 * WIDTH), int_array([0, 0, max_nodes]))


@compiled
def list_choices(moves: Ints, start: int, playable: int, unplayed: int, led_suit: int) -> int:
    """List one card of each run of equal cards, the highest first; return the number of cards."""
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        candidates = playable & mask
        unchecked = unplayed & mask if candidates else 0
        run = False
        while unchecked:
            low = unchecked & -unchecked
            unchecked ^= low
            if not candidates & low:
                run = False
                continue
            if not run:
                card = bit_index(low)
                moves[start + count] = (card % RANKS + (20 if SUIT[card] == led_suit else 0)) << 6 | card
                count += 1
            run = True
    sort_moves(moves, start, count)
    return count


@compiled
def hand_value(
    leader_hand: int, other: int, seat: int, tricks: int, broken: int, low: int, high: int, depth: int, points:
    Ints, memory: Memory,
) -> int:  # fmt: skip
    """Return the deal's result if ``seat`` leads next and side 0 has taken ``tricks``.

    The result is exact between ``low`` and ``high``, otherwise a bound. ``points`` are the results for each number of
    side 0's tricks.
    """
    tricks_left = 0
    uncounted = leader_hand
    while uncounted:
        uncounted &= uncounted - 1
        tricks_left += 1
    lowest, highest = WIDE, -WIDE
    for count in range(tricks, tricks + tricks_left + 1):
        lowest, highest = min(lowest, points[count]), max(highest, points[count])
    if lowest == highest or lowest >= high:
        return lowest
    if highest <= low:
        return highest
    counters, moves = memory.counters, memory.moves
    counters[NODES] += 1
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    slot = ((leader_hand % 1000003) * 1009 + (other % 999983) * 917 + tricks * 31 + seat) % TABLE_SIZE
    key = other | (tricks | seat << 4 | broken << 5) << 52
    leader_key = leader_hand | counters[AGE] << 52
    lower_bound, upper_bound = lowest, highest
    if memory.keys[slot] == key and memory.leaders[slot] == leader_key:
        lower_bound, upper_bound = memory.lower_bounds[slot], memory.upper_bounds[slot]
        if lower_bound >= high or lower_bound == upper_bound:
            return lower_bound
        if upper_bound <= low:
            return upper_bound
    floor, ceiling = max(low, lower_bound), min(high, upper_bound)
    unplayed = leader_hand | other
    sign = 1 if seat == 0 else -1
    playable = leader_hand
    if not broken and leader_hand & NOT_SPADES:
        playable = leader_hand & NOT_SPADES
    start = depth * 2 * WIDTH
    count = list_choices(moves, start, playable, unplayed, 0)
    # The sign makes higher values better for the leader.
    bottom, top = (floor, ceiling) if sign > 0 else (-ceiling, -floor)
    value = -WIDE
    for index in range(start, start + count):
        card = moves[index] & 63
        led_suit = SUIT[card]
        follow = other & led_suit
        answers = list_choices(moves, start + WIDTH, follow if follow else other, unplayed, led_suit)
        alpha = max(bottom, value)
        worst = WIDE
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            reply = moves[reply_at] & 63
            takes = reply > card and (SUIT[reply] == led_suit or SUIT[reply] == SPADE_SUIT)
            leader_after, other_after = leader_hand ^ (1 << card), other ^ (1 << reply)
            now_broken = broken
            if SUIT[card] == SPADE_SUIT or SUIT[reply] == SPADE_SUIT:
                now_broken = 1
            winner = 1 - seat if takes else seat
            won = tricks + 1 - winner
            beta = min(top, worst)
            lower, upper = (alpha, beta) if sign > 0 else (-beta, -alpha)
            first, second = (other_after, leader_after) if takes else (leader_after, other_after)
            result = sign * hand_value(first, second, winner, won, now_broken, lower, upper, depth + 1, points, memory)
            if result < worst:
                worst = result
                if worst <= alpha:
                    break
        if worst > value:
            value = worst
            if value >= top:
                break
    value *= sign
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    if value > floor:
        lower_bound = max(lower_bound, value)
    if value < ceiling:
        upper_bound = min(upper_bound, value)
    memory.keys[slot], memory.leaders[slot] = key, leader_key
    memory.lower_bounds[slot], memory.upper_bounds[slot] = lower_bound, upper_bound
    return value


@compiled
def fill_values(
    values: Ints, own_hand: int, other_hand: int, seat: int, led_card: int, tricks: int, broken: int, low: int,
    high: int, depth: int, points: Ints, memory: Memory,
) -> bool:  # fmt: skip
    """Store the result of the deal for each legal card of ``seat``. Return False if the node limit was reached.

    ``led_card`` is the card on the table, or -1; it is no longer in ``other_hand``. For ``low``, ``high`` and
    ``depth`` see `engine.search.two_hands.fill_values`.
    """
    moves = memory.moves
    memory.counters[NODES] = 0
    unplayed = own_hand | other_hand
    playable = own_hand
    if led_card >= 0:
        unplayed |= 1 << led_card
        if own_hand & SUIT[led_card]:
            playable = own_hand & SUIT[led_card]
    elif not broken and own_hand & NOT_SPADES:
        playable = own_hand & NOT_SPADES
    start = 13 * 2 * WIDTH
    count = list_choices(moves, start, playable, unplayed, 0)
    for index in range(start, start + count):
        card = moves[index] & 63
        own_after = own_hand ^ (1 << card)
        value = WIDE if seat == 0 else -WIDE
        first, last = led_card, card
        if led_card < 0:
            first = card
            follow = other_hand & SUIT[card]
            answers = list_choices(moves, start + WIDTH, follow if follow else other_hand, unplayed, SUIT[card])
        else:
            answers = 1
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            other_after = other_hand
            if led_card < 0:
                last = moves[reply_at] & 63
                other_after = other_hand ^ (1 << last)
            takes = last > first and (SUIT[last] == SUIT[first] or SUIT[last] == SPADE_SUIT)
            leads = seat if led_card < 0 else 1 - seat
            winner = 1 - leads if takes else leads
            now_broken = broken
            if SUIT[first] == SPADE_SUIT or SUIT[last] == SPADE_SUIT:
                now_broken = 1
            leader_next, other_next = (own_after, other_after) if winner == seat else (other_after, own_after)
            result = hand_value(
                leader_next, other_next, winner, tricks + 1 - winner, now_broken, low, high, depth, points, memory
            )
            if led_card >= 0:
                value = result
            elif seat == 0:
                value = min(value, result)
            else:
                value = max(value, result)
        values[card] = value
    return memory.counters[NODES] <= memory.counters[MAX_NODES]
