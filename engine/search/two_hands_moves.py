"""The moves of two open hands of Tressette, for `engine.search.two_hands`.

A list of moves is part of an array, from ``start`` on, the most promising first. The lowest six bits of a move are its
card.
"""

from ..cards import ITALIAN
from ..declarations import HONOURS
from ..tressette import THIRDS
from .compiled import Ints, bit_index, compiled, int_array

WORTH = int_array(THIRDS)
SUIT = int_array(ITALIAN.suit_of)
RANKS = 10
SUIT_BITS = (1 << RANKS) - 1

ABOVE, COVERING, OPENS = 40, 80, 81
"""Layout of the array ``opens``: the packets of a deal, unchanged during play. OPENS is its size.

``opens[card]`` is the card right below a card, as a set. ``opens[ABOVE + card]`` are the honours right above it, up to
the first other card. ``opens[COVERING]`` are all honours that have a card below them.
"""


@compiled
def distinct_cards(mine: int, rest: int, hidden: int, opens: Ints) -> int:
    """Return the lowest card of each run of equal cards in one suit. ``rest`` are the remaining cards of that suit.

    A run ends at a card of another player, at another worth, and at a card that uncovers a ``hidden`` one.
    """
    chosen, run = 0, -1
    left = rest if mine else 0
    while left:
        low = left & -left
        left ^= low
        if not mine & low:
            run = -1
            continue
        card = bit_index(low)
        if run < 0 or WORTH[card] != WORTH[run] or (hidden and (opens[card] | opens[run]) & hidden):
            chosen |= low
        run = card
    return chosen


@compiled
def hand_after(mine: int, card: int, rest: int, hidden: int, opens: Ints) -> int:
    """Return the playable cards of a hand that picked up the honours above a card and played it."""
    if hidden:
        mine |= (opens[ABOVE + card] & rest) | (opens[card] & hidden)
    return mine & ~(1 << card)


@compiled
def pickable_honours(hands: int, hidden: int, opens: Ints) -> int:
    """Return the honours that lie on another card. Picking up any other honour changes nothing."""
    found, honours = 0, hands & opens[COVERING]
    while honours:
        low = honours & -honours
        honours ^= low
        if opens[bit_index(low)] & hidden:
            found |= low
    return found


@compiled
def add_leads_by_picking(
    moves: Ints, start: int, count: int, honours: int, other: int, hidden: int, opens: Ints
) -> int:
    """List the cards that can be led after picking up some of the ``honours``; return the new count."""
    while honours:
        low = honours & -honours
        honours ^= low
        below = opens[bit_index(low)] & hidden
        while below:
            card = bit_index(below)
            moves[start + count] = lead_guess(card, below, other & SUIT[card]) << 6 | card
            count += 1
            below = opens[card] & hidden if below & HONOURS else 0
    return count


@compiled
def add_replies_by_picking(
    moves: Ints, start: int, count: int, led: int, other: int, honours: int, hidden: int, opens: Ints
) -> int:
    """List the cards that can answer a lead after picking up some of the ``honours``; return the new count."""
    while honours:
        low = honours & -honours
        honours ^= low
        must_follow = other & SUIT[led] != 0
        below = opens[bit_index(low)] & hidden
        while below:
            reply = bit_index(below)
            follows = below & SUIT[led] != 0
            must_follow = must_follow or follows
            if follows or not must_follow:
                moves[start + count] = reply_guess(reply, led, follows and reply > led) << 6 | reply
                count += 1
            below = opens[reply] & hidden if below & HONOURS else 0
    return count


@compiled
def lead_guess(card: int, bit: int, theirs: int) -> int:
    """Return how promising a lead is; ``theirs`` are the opponent's cards of its suit."""
    if not theirs:
        return 40 + WORTH[card]
    if theirs < bit:
        return 60 + 4 * WORTH[card]
    return 20 - 6 * WORTH[card]


@compiled
def reply_guess(reply: int, card: int, wins: bool) -> int:
    gain = 4 * (WORTH[card] + WORTH[reply])
    return 30 + gain if wins else 30 - gain


@compiled
def list_leads(
    moves: Ints, start: int, leader: int, other: int, rest: int, hidden: int, pickable: int, opens: Ints
) -> int:
    """List all leads, the most promising first; return their number. ``pickable`` comes from `pickable_honours`."""
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        if not leader & mask:
            continue
        theirs = other & mask
        mine = distinct_cards(leader & mask, rest & mask, hidden, opens)
        while mine:
            low = mine & -mine
            mine ^= low
            card = bit_index(low)
            moves[start + count] = lead_guess(card, low, theirs) << 6 | card
            count += 1
    if leader & pickable:
        count = add_leads_by_picking(moves, start, count, leader & pickable, other, hidden, opens)
    sort_moves(moves, start, count)
    return count


@compiled
def list_replies(
    moves: Ints, start: int, card: int, other: int, rest: int, hidden: int, pickable: int, opens: Ints
) -> int:
    """List all answers to a lead, the most promising first; return their number. ``pickable`` is as in `list_leads`."""
    count = 0
    led = SUIT[card]
    follow = other & led
    playable = follow if follow else other
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        if not playable & mask:
            continue
        mine = distinct_cards(playable & mask, rest & mask, hidden, opens)
        while mine:
            low = mine & -mine
            mine ^= low
            reply = bit_index(low)
            moves[start + count] = reply_guess(reply, card, follow != 0 and reply > card) << 6 | reply
            count += 1
    if other & pickable:
        count = add_replies_by_picking(moves, start, count, card, other, other & pickable, hidden, opens)
    sort_moves(moves, start, count)
    return count


@compiled
def sort_moves(moves: Ints, start: int, count: int) -> None:
    """Sort in place, highest first."""
    for index in range(start + 1, start + count):
        move, place = moves[index], index
        while place > start and moves[place - 1] < move:
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = move
