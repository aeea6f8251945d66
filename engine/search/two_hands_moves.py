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

# Layout of the array ``opens``: the packets of a deal, unchanged during play. ``opens[card]`` is the card right below a
# card, as a set. ``opens[ABOVE + card]`` are the honours right above it, up to the first other card.
# ``opens[COVERING]`` are all honours that have a card below them. OPENS is the array's size.
ABOVE, COVERING, OPENS = 40, 80, 81


@compiled
def distinct_cards(own_cards: int, unplayed: int, hidden: int, opens: Ints) -> int:
    """Return the lowest card of each run of equal cards in one suit. ``unplayed`` are the remaining cards of that suit.

    A run ends at a card of another player, at another worth, and at a card that uncovers a ``hidden`` one.
    """
    distinct, run = 0, -1
    unchecked = unplayed if own_cards else 0
    while unchecked:
        low = unchecked & -unchecked
        unchecked ^= low
        if not own_cards & low:
            run = -1
            continue
        card = bit_index(low)
        if run < 0 or WORTH[card] != WORTH[run] or (hidden and (opens[card] | opens[run]) & hidden):
            distinct |= low
        run = card
    return distinct


@compiled
def hand_after(hand: int, card: int, unplayed: int, hidden: int, opens: Ints) -> int:
    """Return the playable cards of a hand that picked up the honours above a card and played it."""
    if hidden:
        hand |= (opens[ABOVE + card] & unplayed) | (opens[card] & hidden)
    return hand & ~(1 << card)


@compiled
def pickable_honours(hands: int, hidden: int, opens: Ints) -> int:
    """Return the honours that lie on another card. Picking up any other honour changes nothing."""
    pickable, honours = 0, hands & opens[COVERING]
    while honours:
        low = honours & -honours
        honours ^= low
        if opens[bit_index(low)] & hidden:
            pickable |= low
    return pickable


@compiled
def add_leads_by_picking(
    moves: Ints, start: int, count: int, honours: int, other_hand: int, hidden: int, opens: Ints
) -> int:
    """List the cards that can be led after picking up some of the ``honours``; return the new count."""
    while honours:
        low = honours & -honours
        honours ^= low
        below = opens[bit_index(low)] & hidden
        while below:
            card = bit_index(below)
            moves[start + count] = lead_guess(card, below, other_hand & SUIT[card]) << 6 | card
            count += 1
            below = opens[card] & hidden if below & HONOURS else 0
    return count


@compiled
def add_replies_by_picking(
    moves: Ints, start: int, count: int, led_card: int, other_hand: int, honours: int, hidden: int, opens: Ints
) -> int:
    """List the cards that can answer a lead after picking up some of the ``honours``; return the new count."""
    while honours:
        low = honours & -honours
        honours ^= low
        must_follow = other_hand & SUIT[led_card] != 0
        below = opens[bit_index(low)] & hidden
        while below:
            reply = bit_index(below)
            follows = below & SUIT[led_card] != 0
            must_follow = must_follow or follows
            if follows or not must_follow:
                moves[start + count] = reply_guess(reply, led_card, follows and reply > led_card) << 6 | reply
                count += 1
            below = opens[reply] & hidden if below & HONOURS else 0
    return count


@compiled
def lead_guess(card: int, bit: int, other_suit: int) -> int:
    """Return how promising a lead is; ``other_suit`` are the opponent's cards of its suit."""
    if not other_suit:
        return 40 + WORTH[card]
    if other_suit < bit:
        return 60 + 4 * WORTH[card]
    return 20 - 6 * WORTH[card]


@compiled
def reply_guess(reply: int, card: int, wins: bool) -> int:
    gain = 4 * (WORTH[card] + WORTH[reply])
    return 30 + gain if wins else 30 - gain


@compiled
def list_leads(
    moves: Ints, start: int, leader_hand: int, other_hand: int, unplayed: int, hidden: int, pickable: int, opens: Ints
) -> int:
    """List all leads, the most promising first; return their number. ``pickable`` comes from `pickable_honours`."""
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        if not leader_hand & mask:
            continue
        other_suit = other_hand & mask
        candidates = distinct_cards(leader_hand & mask, unplayed & mask, hidden, opens)
        while candidates:
            low = candidates & -candidates
            candidates ^= low
            card = bit_index(low)
            moves[start + count] = lead_guess(card, low, other_suit) << 6 | card
            count += 1
    if leader_hand & pickable:
        count = add_leads_by_picking(moves, start, count, leader_hand & pickable, other_hand, hidden, opens)
    sort_moves(moves, start, count)
    return count


@compiled
def list_replies(
    moves: Ints, start: int, card: int, other_hand: int, unplayed: int, hidden: int, pickable: int, opens: Ints
) -> int:
    """List all answers to a lead, the most promising first; return their number. ``pickable`` is as in `list_leads`."""
    count = 0
    led_suit = SUIT[card]
    follow = other_hand & led_suit
    playable = follow if follow else other_hand
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        if not playable & mask:
            continue
        candidates = distinct_cards(playable & mask, unplayed & mask, hidden, opens)
        while candidates:
            low = candidates & -candidates
            candidates ^= low
            reply = bit_index(low)
            moves[start + count] = reply_guess(reply, card, follow != 0 and reply > card) << 6 | reply
            count += 1
    if other_hand & pickable:
        count = add_replies_by_picking(moves, start, count, card, other_hand, other_hand & pickable, hidden, opens)
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
