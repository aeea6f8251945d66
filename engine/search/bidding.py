"""What a bid at Spades is likely to bring: the other's hand is dealt as it may have been drafted, and played out."""

from math import exp

from engine.search.compiled import Ints, compiled
from engine.search.playing import BIDS, SIZE, TRICK_WORTH, Board, chance, finish, likely, outcome

WORTH_KEEPING = 40
"""Hundredths of a trick: about what the next card of the stock is worth."""

CAUTION = 30
"""Hundredths of a trick that a bid stays below what is likely."""

MOST_TRIES = 20


@compiled
def drafted(board: Board, unseen: Ints) -> int:
    """A hand that somebody may have drafted from these cards, who keeps what is good and passes what is not."""
    count = len(unseen)
    for place in range(26):
        other = place + chance(board, count - place)
        unseen[place], unseen[other] = unseen[other], unseen[place]
    hand = 0
    for place in range(0, 26, 2):
        first = unseen[place]
        hand |= 1 << (first if TRICK_WORTH[first] >= WORTH_KEEPING else unseen[place + 1])
    return hand


@compiled
def try_bids(
    points: Ints,
    board: Board,
    start: Ints,
    unseen: Ints,
    mine: int,
    me: int,
    theirs: int,
    bids: Ints,
    rounds: int,
    wild: int,
) -> None:
    """Add up in ``points`` what each of these bids brings this side and not the other, in so many worlds. ``theirs`` is
    the other's bid, or -1 if they have yet to bid.
    """
    for _ in range(rounds):
        hand, guess = 0, 0
        for _again in range(MOST_TRIES):
            hand = drafted(board, unseen)
            guess = likely(hand)
            if theirs < 0:
                break
            off = (guess - CAUTION - 50 - 100 * theirs) / 100.0
            if chance(board, 1000) < 1000 * exp(-off * off / 2):
                break
        for bid in bids:
            for place in range(SIZE):
                board.state[place] = start[place]
            board.state[BIDS + me] = bid
            board.state[BIDS + 1 - me] = theirs if theirs >= 0 else max(1, (guess - CAUTION) // 100)
            board.hands[me], board.hands[1 - me] = mine, hand
            finish(board, wild)
            won = outcome(board.state)
            points[bid] += won if me == 0 else -won
