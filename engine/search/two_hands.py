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
# Layout of a remembered position: the leader's cards with the age, the other's cards, the hidden cards, and the bounds
# with the best lead. The processor loads adjacent entries together.
ENTRY, OTHER_HAND, HIDDEN, BOUNDS = 4, 1, 2, 3
AGES = 1 << 20

DEPTHS = 24
WIDTH = 24  # room for this many tricks, and this many moves each for the lead and the answer

# Indices in ``counters``: positions searched, the age in keys, which distinguishes deals, and the limit.
NODES, AGE, MAX_NODES = 0, 1, 2


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
def takes_all(leader_hand: int, other_hand: int) -> bool:
    """Return whether all cards of the leader are unbeatable."""
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        leader_cards = leader_hand & mask
        if leader_cards and (leader_cards & -leader_cards) < (other_hand & mask):
            return False
    return True


@compiled
def leader_value(
    leader_hand: int,
    other_hand: int,
    unplayed: int,
    thirds: int,
    low: int,
    high: int,
    depth: int,
    opens: Ints,
    memory: Memory,
) -> int:
    """Return how many of the ``thirds`` the leader takes: exact between ``low`` and ``high``, otherwise a bound.

    ``unplayed`` are all cards not yet played. Cards in neither hand are hidden below others. An honour right above a
    hidden card lies on its packet; any other honour is in hand. ``opens`` is the packets' order: see
    `two_hands_moves.OPENS`.
    """
    counters, moves, table = memory.counters, memory.moves, memory.table
    if leader_hand == 0:
        return thirds
    if thirds <= low or high <= 0:
        return thirds if thirds <= low else 0
    hidden = unplayed & ~(leader_hand | other_hand)
    if hidden == 0:
        if takes_all(leader_hand, other_hand):
            return thirds
        if leader_hand & (leader_hand - 1) == 0:
            # The other player beats the last card led.
            return 0
    counters[NODES] += 1
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    mixed = (leader_hand % 1000003) * 40503001 + (other_hand % 999983) * 69069077 + (hidden % 999979) * 12345701
    # Use the higher bits of the sum, because the lowest ones repeat.
    slot = ((mixed >> 9 ^ mixed >> 26) & (TABLE_SIZE - 1)) * ENTRY
    key = leader_hand | counters[AGE] << 40
    lower_bound, upper_bound, remembered_lead = 0, thirds, -1
    if table[slot] == key and table[slot + OTHER_HAND] == other_hand and table[slot + HIDDEN] == hidden:
        packed = table[slot + BOUNDS]
        lower_bound, upper_bound, remembered_lead = packed & 63, packed >> 6 & 63, (packed >> 12) - 1
        if lower_bound >= high or lower_bound == upper_bound:
            return lower_bound
        if upper_bound <= low:
            return upper_bound
    floor, ceiling = max(low, lower_bound), min(high, upper_bound)
    start = depth * 2 * WIDTH
    pickable = pickable_honours(leader_hand | other_hand, hidden, opens) if hidden else 0
    count = list_leads(moves, start, leader_hand, other_hand, unplayed, hidden, pickable, opens)
    if remembered_lead >= 0:
        for index in range(start, start + count):
            if moves[index] & 63 == remembered_lead:
                moves[index] |= 1 << 20
        sort_moves(moves, start, count)
    value, best_lead = -1, -1
    for index in range(start, start + count):
        card = moves[index] & 63
        alpha = max(floor, value)
        leader_after = hand_after(leader_hand, card, unplayed, hidden, opens)
        answers = list_replies(moves, start + WIDTH, card, other_hand, unplayed, hidden, pickable, opens)
        worst = 1000
        for reply_at in range(start + WIDTH, start + WIDTH + answers):
            reply = moves[reply_at] & 63
            other_after = hand_after(other_hand, reply, unplayed, hidden, opens)
            gain = WORTH[card] + WORTH[reply]
            beta = min(ceiling, worst)
            thirds_after, cards_after = thirds - gain, unplayed ^ (1 << card) ^ (1 << reply)
            if reply > card and SUIT[reply] == SUIT[card]:
                result = thirds_after - leader_value(
                    other_after,
                    leader_after,
                    cards_after,
                    thirds_after,
                    thirds_after - beta,
                    thirds_after - alpha,
                    depth + 1,
                    opens,
                    memory,
                )
            else:
                result = gain + leader_value(
                    leader_after,
                    other_after,
                    cards_after,
                    thirds_after,
                    alpha - gain,
                    beta - gain,
                    depth + 1,
                    opens,
                    memory,
                )
            if result < worst:
                worst = result
                if worst <= alpha:
                    break
        if worst > value:
            value, best_lead = worst, card
            if value >= ceiling:
                break
    if counters[NODES] > counters[MAX_NODES]:
        return 0
    if value > floor:
        lower_bound = max(lower_bound, value)
    if value < ceiling:
        upper_bound = min(upper_bound, value)
    table[slot], table[slot + OTHER_HAND], table[slot + HIDDEN] = key, other_hand, hidden
    table[slot + BOUNDS] = lower_bound | upper_bound << 6 | (best_lead + 1) << 12
    return value


@compiled
def lead_value(
    card: int,
    own_hand: int,
    other_hand: int,
    unplayed: int,
    thirds: int,
    low: int,
    depth: int,
    opens: Ints,
    memory: Memory,
) -> int:
    """Return the leader's thirds after a lead: exact if more than ``low``, otherwise a bound. ``depth`` is 0."""
    moves, start = memory.moves, (DEPTHS - 1) * 2 * WIDTH + WIDTH
    hidden = unplayed & ~(own_hand | other_hand)
    own_after, cards_after = hand_after(own_hand, card, unplayed, hidden, opens), unplayed ^ (1 << card)
    lowest = thirds
    pickable = pickable_honours(other_hand, hidden, opens)
    count = list_replies(moves, start, card, other_hand, unplayed, hidden, pickable, opens)
    for index in range(start, start + count):
        reply = moves[index] & 63
        other_after = hand_after(other_hand, reply, unplayed, hidden, opens)
        cards_after_reply = cards_after ^ (1 << reply)
        gain = WORTH[card] + WORTH[reply]
        thirds_after = thirds - gain
        if reply > card and SUIT[reply] == SUIT[card]:
            result = thirds_after - leader_value(
                other_after,
                own_after,
                cards_after_reply,
                thirds_after,
                thirds_after - lowest,
                thirds_after - low,
                depth,
                opens,
                memory,
            )
        else:
            result = gain + leader_value(
                own_after, other_after, cards_after_reply, thirds_after, low - gain, lowest - gain, depth, opens, memory
            )
        lowest = min(lowest, result)
        if lowest <= low:
            break
    return lowest


@compiled
def reply_value(
    card: int, led_card: int, own_hand: int, other_hand: int, unplayed: int, thirds: int, low: int, high: int,
    depth: int, opens: Ints, memory: Memory,
) -> int:  # fmt: skip
    """Return the thirds of the side that answers ``led_card``: exact from ``low`` to ``high``, else a bound."""
    hidden = unplayed & ~(own_hand | other_hand)
    own_after, cards_after = hand_after(own_hand, card, unplayed, hidden, opens), unplayed ^ (1 << card)
    gain = WORTH[card] + WORTH[led_card]
    thirds_after = thirds - gain
    if card > led_card and SUIT[card] == SUIT[led_card]:
        return gain + leader_value(
            own_after, other_hand, cards_after, thirds_after, low - gain, high - gain, depth, opens, memory
        )
    return thirds_after - leader_value(
        other_hand, own_after, cards_after, thirds_after, thirds_after - high, thirds_after - low, depth, opens, memory
    )


@compiled
def fill_values(
    values: Ints, own_hand: int, other_hand: int, led_card: int, unplayed: int, thirds: int, picks: int, low: int,
    depth: int, opens: Ints, memory: Memory,
) -> bool:  # fmt: skip
    """Store how many of the ``thirds`` the side to move takes after each move. Return False at the node limit.

    Moves are the cards in its hand and the ``picks``, honours that it can pick up. ``led_card`` is the card on the
    table, or -1; it is no longer in ``other_hand`` or ``unplayed``, and ``thirds`` counts it. ``low`` is -1 and
    ``depth`` 0. They are arguments because numba compiles `leader_value` again for each constant in a call, and cannot
    cache recursive functions compiled that way.
    """
    moves, counters = memory.moves, memory.counters
    counters[NODES] = 0
    start = (DEPTHS - 1) * 2 * WIDTH
    hidden = unplayed & ~(own_hand | other_hand)
    pickable = pickable_honours(own_hand, hidden, opens)
    if led_card < 0:
        count = list_leads(moves, start, own_hand, other_hand, unplayed, hidden, pickable, opens)
    else:
        count = list_replies(moves, start, led_card, own_hand, unplayed | 1 << led_card, hidden, pickable, opens)
    highest = low
    for index in range(start, start + count):
        card = moves[index] & 63
        if not own_hand >> card & 1:
            # This card can only be played after picks.
            continue
        if led_card < 0:
            result = lead_value(card, own_hand, other_hand, unplayed, thirds, low, depth, opens, memory)
        else:
            result = reply_value(
                card, led_card, own_hand, other_hand, unplayed, thirds, low, thirds + 1, depth, opens, memory
            )
        values[card] = result
        highest = max(highest, result)
    if picks:
        reached = 0
        if pickable:
            # Cards played after picks matter only if they bring more than all others.
            for index in range(start, start + count):
                card = moves[index] & 63
                if own_hand >> card & 1:
                    continue
                if led_card < 0:
                    result = lead_value(card, own_hand, other_hand, unplayed, thirds, highest, depth, opens, memory)
                else:
                    result = reply_value(
                        card,
                        led_card,
                        own_hand,
                        other_hand,
                        unplayed,
                        thirds,
                        highest,
                        thirds + 1,
                        depth,
                        opens,
                        memory,
                    )
                if result > highest:
                    highest, reached = result, opens[ABOVE + card] & pickable
        fill_pick_values(
            values, picks, reached, own_hand, other_hand, led_card, unplayed, thirds, low, highest, depth, opens, memory
        )
    return counters[NODES] <= counters[MAX_NODES]


@compiled
def fill_pick_values(
    values: Ints, picks: int, reached: int, own_hand: int, other_hand: int, led_card: int, unplayed: int, thirds:
    int, low: int, highest: int, depth: int, opens: Ints, memory: Memory,
) -> None:  # fmt: skip
    """Store the thirds of the side to move after each pick.

    No pick brings more than ``highest``, the result of the best move: see the top of this file. A pick brings exactly
    ``highest`` if it uncovers nothing, or if the best move begins with it (``reached``). The other arguments are as in
    `fill_values`.
    """
    hidden = unplayed & ~(own_hand | other_hand)
    while picks:
        bit = picks & -picks
        picks ^= bit
        card = bit_index(bit)
        card_below = opens[card] & hidden
        value = highest
        if card_below and not reached & bit:
            value = low
            if values[card] > low and (led_card < 0 or bit & SUIT[led_card] or not card_below & SUIT[led_card]):
                # Playing the honour after picking it up has the same value as playing it at once.
                value = values[card]
        if value < highest:
            value = best_value(
                own_hand | card_below, other_hand, led_card, unplayed, thirds, value, highest, depth, opens, memory
            )
        values[PICK_OF[card]] = value


@compiled
def best_value(
    own_hand: int, other_hand: int, led_card: int, unplayed: int, thirds: int, lowest: int, highest: int, depth:
    int, opens: Ints, memory: Memory,
) -> int:  # fmt: skip
    """Return the thirds of the side to move after its best move, known to be between ``lowest`` and ``highest``."""
    if led_card < 0:
        return leader_value(own_hand, other_hand, unplayed, thirds, lowest, highest, depth, opens, memory)
    start = (DEPTHS - 1) * 2 * WIDTH
    hidden = unplayed & ~(own_hand | other_hand)
    pickable = pickable_honours(own_hand, hidden, opens)
    count = list_replies(memory.moves, start, led_card, own_hand, unplayed | 1 << led_card, hidden, pickable, opens)
    for index in range(start, start + count):
        card = memory.moves[index] & 63
        value = reply_value(
            card, led_card, own_hand, other_hand, unplayed, thirds, lowest, highest, depth, opens, memory
        )
        lowest = max(lowest, value)
        if lowest >= highest:
            break
    return lowest
