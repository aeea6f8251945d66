"""The expected result of a bid at Spades, found by drafting the other hand at random and playing out the deal."""

from math import exp

from .compiled import Ints, compiled
from .playing import BIDS, SIZE, Board, outcome, random_below
from .simple_players import TRICK_WORTH, expected_tricks, play_out

WORTH_KEEPING = 40  # hundredths of a trick, about the worth of the stock's next card
CAUTION = 30  # hundredths of a trick by which a bid stays below the expected tricks
MAX_TRIES = 20


@compiled
def draft_hand(board: Board, unseen: Ints) -> int:
    """Draft a plausible hand from ``unseen``, which is shuffled: keep good cards and pass bad ones."""
    count = len(unseen)
    for index in range(26):
        swap_index = index + random_below(board, count - index)
        unseen[index], unseen[swap_index] = unseen[swap_index], unseen[index]
    hand = 0
    for index in range(0, 26, 2):
        first = unseen[index]
        hand |= 1 << (first if TRICK_WORTH[first] >= WORTH_KEEPING else unseen[index + 1])
    return hand


@compiled
def try_bids(
    points: Ints, board: Board, start: Ints, unseen: Ints, own_hand: int, me: int, opponent_bid: int, bids: Ints,
    rounds: int, wild: int,
) -> None:  # fmt: skip
    """Add each bid's result in each round to ``points[bid]``: this seat's points minus the opponent's.

    ``opponent_bid`` is the opponent's bid, or -1 before it.
    """
    for _ in range(rounds):
        hand, guess = 0, 0
        for _again in range(MAX_TRIES):
            hand = draft_hand(board, unseen)
            guess = expected_tricks(hand)
            if opponent_bid < 0:
                break
            deviation = (guess - CAUTION - 50 - 100 * opponent_bid) / 100.0
            if random_below(board, 1000) < 1000 * exp(-deviation * deviation / 2):
                break
        for bid in bids:
            for index in range(SIZE):
                board.state[index] = start[index]
            board.state[BIDS + me] = bid
            board.state[BIDS + 1 - me] = opponent_bid if opponent_bid >= 0 else max(1, (guess - CAUTION) // 100)
            board.hands[me], board.hands[1 - me] = own_hand, hand
            play_out(board, wild)
            won = outcome(board.state)
            points[bid] += won if me == 0 else -won
