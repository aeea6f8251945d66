"""Exact solution of open endings of two hands of Tressette: alpha-beta over tricks, on sets of cards.

Cards of a hand that are equal in worth, with no card of the other hand between them, are searched as one move.
Positions are remembered with their bounds. The value of a position is the thirds that its leader still takes, with the
last trick's bonus. The other player takes the rest.

Packets. An honour on top of a packet can be played, or picked up so that the card below becomes playable. The search
picks up honours only to play the card below them in the same turn. This never loses points:

- A playable card needs only the picks that uncover it, or none if it is already open. Other picks only add cards to
  the hand, and so only add duties to follow suit.
- A postponed pick can be made at any later turn, before the play. The opponent cannot prevent it.
- A player who has picked up less can therefore still do everything that is possible after more picks.

So a move is an open card, or a card with only honours above it, which are then picked up first.

Declarations are not counted: see `engine.search.solver`.
"""

from typing import NamedTuple

from .compiled import Ints, bit_index, compiled, int_array, zeros
from .playing import PICK_OF
from .two_hands_moves import (
    ABOVE,
    RANKS,
    SUIT,
    SUIT_BITS,
    WORTH,
    hand_after,
    list_leads,
    list_replies,
    pickable_honours,
    sort_moves,
)

TABLE_SIZE = 1 << 17
ENTRY, OTHER, HIDDEN, BOUNDS = 4, 1, 2, 3
"""Layout of a remembered position: the leader's cards with the age, the other's cards, the hidden cards, and the bounds
with the best lead. The processor loads adjacent entries together.
"""
AGES = 1 << 20

DEPTHS = 24
WIDTH = 24  # room for this many tricks, and this many moves each for the lead and the answer

NODES, AGE, MAX_NODES = 0, 1, 2
"""Indices in ``counters``: positions searched, the age in keys, which distinguishes deals, and the limit."""


def start_new_age(counters: Ints, ages: int, keys: Ints) -> None:
    """Start a new age, and clear the memory when ages start over."""
    counters[AGE] = (counters[AGE] + 1) % ages
    if counters[AGE] == 0:
        for index in range(len(keys)):
            keys[index] = 0


class Memory(NamedTuple):
    """Work space, and positions of one deal only: their keys do not contain the order of packets."""

    table: Ints
    moves: Ints
    counters: Ints


def new_memory(max_nodes: int) -> Memory:
    """Return memory for solves that stop after ``max_nodes`` positions."""
    return Memory(zeros(TABLE_SIZE * ENTRY), zeros(DEPTHS * 2 * WIDTH), int_array([0, 0, max_nodes]))


@compiled
def takes_all(leader: int, other: int) -> bool:
    """Return whether all cards of the leader are unbeatable."""
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        mine = leader & mask
        if mine and (mine & -mine) < (other & mask):
            return False
    return True


@compiled
def leader_value(
    leader: int, other: int, rest: int, left: int, low: int, high: int, depth: int, opens: Ints, memory: Memory
) -> int:
    """Return the leader's thirds of ``left``: exact between ``low`` and ``high``, otherwise a bound.

    ``rest`` are all cards not yet played. Cards in neither hand are hidden below others. An honour right above a hidden
    card lies on its packet; any other honour is in hand. ``opens`` is the packets' order: see `two_hands_moves.OPENS`.
    """
    counters, moves, table = memory.counters, memory.moves, memory.table
    if leader == 0:
        return left
    if left <= low or high <= 0:
        return left if left <= low else 0
    hidden = rest & ~(leader | other)
    if hidden == 0:
        if takes_all(leader, other):
            return left
        if leader & (leader - 1) == 0:
            # The other player beats the last card led.
            return 0
    counters[NODES] += 1
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    mixed = (leader % 1000003) * 40503001 + (other % 999983) * 69069077 + (hidden % 999979) * 12345701
    # Use the higher bits of the sum, because the lowest ones repeat.
    slot = ((mixed >> 9 ^ mixed >> 26) & (TABLE_SIZE - 1)) * ENTRY
    key = leader | counters[AGE] << 40
    least, most, known = 0, left, -1
    if table[slot] == key and table[slot + OTHER] == other and table[slot + HIDDEN] == hidden:
        packed = table[slot + BOUNDS]
        least, most, known = packed & 63, packed >> 6 & 63, (packed >> 12) - 1
        if least >= high or least == most:
            return least
        if most <= low:
            return most
    floor, ceiling = max(low, least), min(high, most)
    start = depth * 2 * WIDTH
    pickable = pickable_honours(leader | other, hidden, opens) if hidden else 0
    count = list_leads(moves, start, leader, other, rest, hidden, pickable, opens)
    if known >= 0:
        for index in range(start, start + count):
            if moves[index] & 63 == known:
                moves[index] |= 1 << 20
        sort_moves(moves, start, count)
    value, chosen = -1, -1
    for index in range(start, start + count):
        card = moves[index] & 63
        alpha = max(floor, value)
        after = hand_after(leader, card, rest, hidden, opens)
        answers = list_replies(moves, start + WIDTH, card, other, rest, hidden, pickable, opens)
        worst = 1000
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            reply = moves[reply_at] & 63
            answered = hand_after(other, reply, rest, hidden, opens)
            gain = WORTH[card] + WORTH[reply]
            beta = min(ceiling, worst)
            remaining, unplayed = left - gain, rest ^ (1 << card) ^ (1 << reply)
            if reply > card and SUIT[reply] == SUIT[card]:
                got = remaining - leader_value(
                    answered, after, unplayed, remaining, remaining - beta, remaining - alpha, depth + 1, opens, memory
                )
            else:
                got = gain + leader_value(
                    after, answered, unplayed, remaining, alpha - gain, beta - gain, depth + 1, opens, memory
                )
            if got < worst:
                worst = got
                if worst <= alpha:
                    break
        if worst > value:
            value, chosen = worst, card
            if value >= ceiling:
                break
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    if value > floor:
        least = max(least, value)
    if value < ceiling:
        most = min(most, value)
    table[slot], table[slot + OTHER], table[slot + HIDDEN] = key, other, hidden
    table[slot + BOUNDS] = least | most << 6 | (chosen + 1) << 12
    return value


@compiled
def lead_value(
    card: int, mine: int, theirs: int, rest: int, left: int, low: int, depth: int, opens: Ints, memory: Memory
) -> int:
    """Return the leader's thirds after a lead: exact if more than ``low``, otherwise a bound. ``depth`` is 0."""
    moves, start = memory.moves, (DEPTHS - 1) * 2 * WIDTH + WIDTH
    hidden = rest & ~(mine | theirs)
    after, unplayed = hand_after(mine, card, rest, hidden, opens), rest ^ (1 << card)
    worst = left
    count = list_replies(moves, start, card, theirs, rest, hidden, pickable_honours(theirs, hidden, opens), opens)
    for index in range(start, start + count):
        reply = moves[index] & 63
        answered, still = hand_after(theirs, reply, rest, hidden, opens), unplayed ^ (1 << reply)
        gain = WORTH[card] + WORTH[reply]
        remaining = left - gain
        if reply > card and SUIT[reply] == SUIT[card]:
            got = remaining - leader_value(
                answered, after, still, remaining, remaining - worst, remaining - low, depth, opens, memory
            )
        else:
            got = gain + leader_value(after, answered, still, remaining, low - gain, worst - gain, depth, opens, memory)
        worst = min(worst, got)
        if worst <= low:
            break
    return worst


@compiled
def reply_value(
    card: int, led: int, mine: int, theirs: int, rest: int, left: int, low: int, high: int, depth: int, opens: Ints,
    memory: Memory,
) -> int:  # fmt: skip
    """Return the thirds of the side that answers the card ``led``: exact from ``low`` to ``high``, else a bound."""
    hidden = rest & ~(mine | theirs)
    after, unplayed = hand_after(mine, card, rest, hidden, opens), rest ^ (1 << card)
    gain = WORTH[card] + WORTH[led]
    remaining = left - gain
    if card > led and SUIT[card] == SUIT[led]:
        return gain + leader_value(after, theirs, unplayed, remaining, low - gain, high - gain, depth, opens, memory)
    return remaining - leader_value(
        theirs, after, unplayed, remaining, remaining - high, remaining - low, depth, opens, memory
    )


@compiled
def fill_values(
    values: Ints, mine: int, theirs: int, led: int, rest: int, left: int, picks: int, low: int, depth: int,
    opens: Ints, memory: Memory,
) -> bool:  # fmt: skip
    """Store the thirds of ``left`` that the side to move takes after each move. Return False at the node limit.

    Moves are the cards in its hand and the ``picks``, honours that it can pick up. ``led`` is the card on the table, or
    -1; it is no longer in ``theirs`` or ``rest``, and ``left`` counts it. ``low`` is -1 and ``depth`` 0. They are
    arguments because numba compiles `leader_value` again for each constant in a call, and cannot cache recursive
    functions compiled that way.
    """
    moves, counters = memory.moves, memory.counters
    counters[NODES] = 0
    start = (DEPTHS - 1) * 2 * WIDTH
    hidden = rest & ~(mine | theirs)
    pickable = pickable_honours(mine, hidden, opens)
    if led < 0:
        count = list_leads(moves, start, mine, theirs, rest, hidden, pickable, opens)
    else:
        count = list_replies(moves, start, led, mine, rest | 1 << led, hidden, pickable, opens)
    most = low
    for index in range(start, start + count):
        card = moves[index] & 63
        if not mine >> card & 1:
            # This card can only be played after picks.
            continue
        if led < 0:
            got = lead_value(card, mine, theirs, rest, left, low, depth, opens, memory)
        else:
            got = reply_value(card, led, mine, theirs, rest, left, low, left + 1, depth, opens, memory)
        values[card] = got
        most = max(most, got)
    if picks:
        reached = 0
        if pickable:
            # Cards played after picks matter only if they bring more than all others.
            for index in range(start, start + count):
                card = moves[index] & 63
                if mine >> card & 1:
                    continue
                if led < 0:
                    got = lead_value(card, mine, theirs, rest, left, most, depth, opens, memory)
                else:
                    got = reply_value(card, led, mine, theirs, rest, left, most, left + 1, depth, opens, memory)
                if got > most:
                    most, reached = got, opens[ABOVE + card] & pickable
        fill_pick_values(values, picks, reached, mine, theirs, led, rest, left, low, most, depth, opens, memory)
    return counters[NODES] <= counters[MAX_NODES]


@compiled
def fill_pick_values(
    values: Ints, picks: int, reached: int, mine: int, theirs: int, led: int, rest: int, left: int, low: int,
    most: int, depth: int, opens: Ints, memory: Memory,
) -> None:  # fmt: skip
    """Store the thirds of the side to move after each pick.

    No pick brings more than ``most``, the result of the best move: see the top of this file. A pick brings exactly
    ``most`` if it uncovers nothing, or if the best move begins with it (``reached``). The other arguments are as in
    `fill_values`.
    """
    hidden = rest & ~(mine | theirs)
    while picks:
        bit = picks & -picks
        picks ^= bit
        card = bit_index(bit)
        below = opens[card] & hidden
        least = most
        if below and not reached & bit:
            least = low
            if values[card] > low and (led < 0 or bit & SUIT[led] or not below & SUIT[led]):
                # Playing the honour after picking it up has the same value as playing it at once.
                least = values[card]
        if least < most:
            least = best_value(mine | below, theirs, led, rest, left, least, most, depth, opens, memory)
        values[PICK_OF[card]] = least


@compiled
def best_value(
    mine: int, theirs: int, led: int, rest: int, left: int, least: int, most: int, depth: int, opens: Ints,
    memory: Memory,
) -> int:  # fmt: skip
    """Return the thirds of the side to move after its best move, known to be between ``least`` and ``most``."""
    if led < 0:
        return leader_value(mine, theirs, rest, left, least, most, depth, opens, memory)
    start = (DEPTHS - 1) * 2 * WIDTH
    hidden = rest & ~(mine | theirs)
    count = list_replies(
        memory.moves, start, led, mine, rest | 1 << led, hidden, pickable_honours(mine, hidden, opens), opens
    )
    for index in range(start, start + count):
        card = memory.moves[index] & 63
        least = max(least, reply_value(card, led, mine, theirs, rest, left, least, most, depth, opens, memory))
        if least >= most:
            break
    return least
