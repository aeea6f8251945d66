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
    least: Ints
    most: Ints
    moves: Ints
    counters: Ints


def new_memory(max_nodes: int) -> Memory:
    """Return memory for solves that stop after ``max_nodes`` positions."""
    keys, leaders, least, most = (zeros(TABLE_SIZE) for _ in range(4))
    return Memory(keys, leaders, least, most, zeros(14 * 2 * WIDTH), int_array([0, 0, max_nodes]))


@compiled
def list_choices(moves: Ints, start: int, playable: int, rest: int, led: int) -> int:
    """List one card of each run of equal cards, the highest first; return the number of cards."""
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        mine = playable & mask
        left = rest & mask if mine else 0
        run = False
        while left:
            low = left & -left
            left ^= low
            if not mine & low:
                run = False
                continue
            if not run:
                card = bit_index(low)
                moves[start + count] = (card % RANKS + (20 if SUIT[card] == led else 0)) << 6 | card
                count += 1
            run = True
    sort_moves(moves, start, count)
    return count


@compiled
def hand_value(
    leader: int, other: int, seat: int, tricks: int, broken: int, low: int, high: int, depth: int, points: Ints,
    memory: Memory,
) -> int:  # fmt: skip
    """Return the deal's result if ``seat`` leads next and side 0 has taken ``tricks``.

    The result is exact between ``low`` and ``high``, otherwise a bound. ``points`` are the results for each number of
    side 0's tricks.
    """
    left = 0
    cards = leader
    while cards:
        cards &= cards - 1
        left += 1
    lowest, highest = WIDE, -WIDE
    for count in range(tricks, tricks + left + 1):
        lowest, highest = min(lowest, points[count]), max(highest, points[count])
    if lowest == highest or lowest >= high:
        return lowest
    if highest <= low:
        return highest
    counters, moves = memory.counters, memory.moves
    counters[NODES] += 1
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    slot = ((leader % 1000003) * 1009 + (other % 999983) * 917 + tricks * 31 + seat) % TABLE_SIZE
    key = other | (tricks | seat << 4 | broken << 5) << 52
    mine = leader | counters[AGE] << 52
    least, most = lowest, highest
    if memory.keys[slot] == key and memory.leaders[slot] == mine:
        least, most = memory.least[slot], memory.most[slot]
        if least >= high or least == most:
            return least
        if most <= low:
            return most
    floor, ceiling = max(low, least), min(high, most)
    rest = leader | other
    sign = 1 if seat == 0 else -1
    playable = leader
    if not broken and leader & NOT_SPADES:
        playable = leader & NOT_SPADES
    start = depth * 2 * WIDTH
    count = list_choices(moves, start, playable, rest, 0)
    # The sign makes higher values better for the leader.
    bottom, top = (floor, ceiling) if sign > 0 else (-ceiling, -floor)
    value = -WIDE
    for index in range(start, start + count):
        card = moves[index] & 63
        led = SUIT[card]
        follow = other & led
        answers = list_choices(moves, start + WIDTH, follow if follow else other, rest, led)
        alpha = max(bottom, value)
        worst = WIDE
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            reply = moves[reply_at] & 63
            takes = reply > card and (SUIT[reply] == led or SUIT[reply] == SPADE_SUIT)
            after, answered = leader ^ (1 << card), other ^ (1 << reply)
            now_broken = broken
            if SUIT[card] == SPADE_SUIT or SUIT[reply] == SPADE_SUIT:
                now_broken = 1
            winner = 1 - seat if takes else seat
            won = tricks + 1 - winner
            beta = min(top, worst)
            lower, upper = (alpha, beta) if sign > 0 else (-beta, -alpha)
            first, second = (answered, after) if takes else (after, answered)
            got = sign * hand_value(first, second, winner, won, now_broken, lower, upper, depth + 1, points, memory)
            if got < worst:
                worst = got
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
        least = max(least, value)
    if value < ceiling:
        most = min(most, value)
    memory.keys[slot], memory.leaders[slot] = key, mine
    memory.least[slot], memory.most[slot] = least, most
    return value


@compiled
def fill_values(
    values: Ints, mine: int, theirs: int, seat: int, led: int, tricks: int, broken: int, low: int, high: int,
    depth: int, points: Ints, memory: Memory,
) -> bool:  # fmt: skip
    """Store the result of the deal for each legal card of ``seat``. Return False if the node limit was reached.

    ``led`` is the card on the table, or -1; it is no longer in ``theirs``. For ``low``, ``high`` and ``depth`` see
    `engine.search.two_hands.fill_values`.
    """
    moves = memory.moves
    memory.counters[NODES] = 0
    rest = mine | theirs
    playable = mine
    if led >= 0:
        rest |= 1 << led
        if mine & SUIT[led]:
            playable = mine & SUIT[led]
    elif not broken and mine & NOT_SPADES:
        playable = mine & NOT_SPADES
    start = 13 * 2 * WIDTH
    count = list_choices(moves, start, playable, rest, 0)
    for index in range(start, start + count):
        card = moves[index] & 63
        after = mine ^ (1 << card)
        value = WIDE if seat == 0 else -WIDE
        first, last = led, card
        if led < 0:
            first = card
            follow = theirs & SUIT[card]
            answers = list_choices(moves, start + WIDTH, follow if follow else theirs, rest, SUIT[card])
        else:
            answers = 1
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            left = theirs
            if led < 0:
                last = moves[reply_at] & 63
                left = theirs ^ (1 << last)
            takes = last > first and (SUIT[last] == SUIT[first] or SUIT[last] == SPADE_SUIT)
            leads = seat if led < 0 else 1 - seat
            winner = 1 - leads if takes else leads
            now_broken = broken
            if SUIT[first] == SPADE_SUIT or SUIT[last] == SPADE_SUIT:
                now_broken = 1
            leader, other = (after, left) if winner == seat else (left, after)
            got = hand_value(leader, other, winner, tricks + 1 - winner, now_broken, low, high, depth, points, memory)
            if led >= 0:
                value = got
            elif seat == 0:
                value = min(value, got)
            else:
                value = max(value, got)
        values[card] = value
    return memory.counters[NODES] <= memory.counters[MAX_NODES]
