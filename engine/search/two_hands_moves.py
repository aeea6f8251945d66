"""The moves of two open hands of Tressette, as `engine.search.two_hands` searches them.

A list of moves is part of an array, from ``start`` on, the best guess first. A move's lowest six bits are its card.
"""

from engine.cards import ITALIAN
from engine.declarations import HONOURS
from engine.search.compiled import Ints, compiled, ints, place_of
from engine.tressette import THIRDS

WORTH = ints(THIRDS)
SUIT = ints(ITALIAN.suit_of)
RANKS = 10
SUIT_BITS = (1 << RANKS) - 1

ABOVE, COVERING, OPENS = 40, 80, 81
"""The packets of a deal as an array ``opens`` of this size, which stays the same while the deal is played.

``opens[card]`` is the card that lies right below one, as a set. ``opens[ABOVE + card]`` are the honours right above it,
up to the first other card. ``opens[COVERING]`` are all honours that have a card below them.
"""


@compiled
def one_of_each(mine: int, rest: int, hidden: int, opens: Ints) -> int:
    """The lowest of each run of cards in one suit that are one move. ``rest`` is what is left of that suit:
    what lies between two of mine parts them, and so does another worth, or a ``hidden`` card that one of them uncovers.
    """
    chosen, run = 0, -1
    left = rest if mine else 0
    while left:
        low = left & -left
        left ^= low
        if not mine & low:
            run = -1
            continue
        card = place_of(low)
        if run < 0 or WORTH[card] != WORTH[run] or (hidden and (opens[card] | opens[run]) & hidden):
            chosen |= low
        run = card
    return chosen


@compiled
def hand_after(mine: int, card: int, rest: int, hidden: int, opens: Ints) -> int:
    """Return what a hand can play from after it has picked up the honours above a card and played it."""
    if hidden:
        mine |= (opens[ABOVE + card] & rest) | (opens[card] & hidden)
    return mine & ~(1 << card)


@compiled
def pickable_of(hands: int, hidden: int, opens: Ints) -> int:
    """Return the honours that lie on another card. Picking up any other honour changes nothing."""
    found, honours = 0, hands & opens[COVERING]
    while honours:
        low = honours & -honours
        honours ^= low
        if opens[place_of(low)] & hidden:
            found |= low
    return found


@compiled
def add_leads_by_picking(
    moves: Ints, start: int, count: int, honours: int, other: int, hidden: int, opens: Ints
) -> int:
    """List the cards that can be led once some of the ``honours`` are picked up; returns the new count."""
    while honours:
        low = honours & -honours
        honours ^= low
        below = opens[place_of(low)] & hidden
        while below:
            card = place_of(below)
            moves[start + count] = lead_guess(card, below, other & SUIT[card]) << 6 | card
            count += 1
            below = opens[card] & hidden if below & HONOURS else 0
    return count


@compiled
def add_replies_by_picking(
    moves: Ints, start: int, count: int, led: int, other: int, honours: int, hidden: int, opens: Ints
) -> int:
    """List the cards that can answer a lead once some of the ``honours`` are picked up; returns the new count."""
    while honours:
        low = honours & -honours
        honours ^= low
        must_follow = other & SUIT[led] != 0
        below = opens[place_of(low)] & hidden
        while below:
            reply = place_of(below)
            follows = below & SUIT[led] != 0
            must_follow = must_follow or follows
            if follows or not must_follow:
                moves[start + count] = reply_guess(reply, led, follows and reply > led) << 6 | reply
                count += 1
            below = opens[reply] & hidden if below & HONOURS else 0
    return count


@compiled
def lead_guess(card: int, bit: int, theirs: int) -> int:
    """How promising a lead is; ``theirs`` are the opponent's cards of its suit."""
    if not theirs:
        return 40 + WORTH[card]
    if theirs < bit:
        return 60 + 4 * WORTH[card]
    return 20 - 6 * WORTH[card]


@compiled
def reply_guess(reply: int, card: int, wins: bool) -> int:
    """How promising an answer is."""
    gain = 4 * (WORTH[card] + WORTH[reply])
    return 30 + gain if wins else 30 - gain


@compiled
def leads_into(
    moves: Ints, start: int, leader: int, other: int, rest: int, hidden: int, pickable: int, opens: Ints
) -> int:
    """List what there is to lead, the best guess first; returns how many. ``pickable`` is what `pickable_of` says."""
    count = 0
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        if not leader & mask:
            continue
        theirs = other & mask
        mine = one_of_each(leader & mask, rest & mask, hidden, opens)
        while mine:
            low = mine & -mine
            mine ^= low
            card = place_of(low)
            moves[start + count] = lead_guess(card, low, theirs) << 6 | card
            count += 1
    if leader & pickable:
        count = add_leads_by_picking(moves, start, count, leader & pickable, other, hidden, opens)
    sort(moves, start, count)
    return count


@compiled
def replies_into(
    moves: Ints, start: int, card: int, other: int, rest: int, hidden: int, pickable: int, opens: Ints
) -> int:
    """List what can answer a lead, the best guess first; returns how many. ``pickable`` is what `pickable_of` says."""
    count = 0
    led = SUIT[card]
    follow = other & led
    playable = follow if follow else other
    for suit in range(4):
        mask = SUIT_BITS << (RANKS * suit)
        if not playable & mask:
            continue
        mine = one_of_each(playable & mask, rest & mask, hidden, opens)
        while mine:
            low = mine & -mine
            mine ^= low
            reply = place_of(low)
            moves[start + count] = reply_guess(reply, card, follow != 0 and reply > card) << 6 | reply
            count += 1
    if other & pickable:
        count = add_replies_by_picking(moves, start, count, card, other, other & pickable, hidden, opens)
    sort(moves, start, count)
    return count


@compiled
def sort(moves: Ints, start: int, count: int) -> None:
    """Put the highest first."""
    for place in range(start + 1, start + count):
        move, at = moves[place], place
        while at > start and moves[at - 1] < move:
            moves[at] = moves[at - 1]
            at -= 1
        moves[at] = move
