"""The rules of play with all cards known, compiled for searches that try many worlds.

A state is an array of integers; its indices are named here. Hands are sets of the cards that a seat can play, including
packets' tops. Tressette counts in thirds.

Moves are the numbers of `engine.position`, and one more kind: from `FIRST_THREE` on a move declares three of a kind.

Optional moves are searched, unless one of the choices never costs points:

- Picking up an honour that covers a card is a move. An honour with no card below is picked up at once: the pick
  uncovers nothing, and the honour can serve a declaration.
- A napoletana, a four, and with ``reuse`` a three is declared at once (`AS_THEY_COME`). It cannot count more later, and
  does not prevent other declarations.
- With packets and without ``reuse``, a three is a move as long as it can be declared, because it can become a four.
- A combination that can be declared at several turns (`FOUR_TRICKS`) is declared at the last turn, or before one of its
  cards is played. Waiting loses nothing, and a three can become a four.
- In games for four a hand only shrinks, and every seat has a turn before it plays a card. So declarations do not depend
  on the cards played, and are not counted.
"""

from typing import NamedTuple

from ..cards import FRENCH, ITALIAN
from ..declarations import HONOURS
from ..position import FIRST_PICK, PICKABLE, pick_move
from ..spades import NOT_SPADES, SPADE_SUIT
from ..tressette import THIRDS, TressetteDeal
from .compiled import Ints, bit_index, compiled, int_array, zeros


class Board(NamedTuple):
    """A position in play.

    ``state`` has the indices named below. ``hands`` are by seat. ``opens[card]`` is the
    card right below ``card`` in its packet, as a set. ``covering`` are, by seat, the honours on a packet with a card
    below. ``stock`` are the cards to be drawn. ``random`` is the state of the random generator.
    """

    state: Ints
    hands: Ints
    opens: Ints
    covering: Ints
    stock: Ints
    random: Ints


def new_board(seed: int) -> Board:
    """Return an empty board; ``seed`` is from 1 to `PRIME` - 1."""
    return Board(zeros(SIZE), zeros(4), zeros(52), zeros(4), zeros(52), int_array([seed]))


SEATS, TURN, ALLOWED_CARDS, BEST_CARD, WINNER, TRICK_SIZE, CARDS_LEFT, POT, DRAWN_COUNT, TRICK, BROKEN, SPADES = range(
    12
)
STOCK, WINDOW, REUSE, PACKETS = range(12, 16)
TAKEN, DECLARED, SCORED, BIDS, BAGS, BLIND, PENDING = 16, 18, 20, 24, 26, 28, 30
SIZE = 34
"""From TAKEN on, each index begins two entries, by side. SCORED and PENDING begin four, by seat. WINNER is the seat
that wins the current trick so far.

PENDING are the kinds of threes that a seat can declare now, or keep back for the fourth card.
"""

FIRST_THREE = FIRST_PICK + len(PICKABLE)
CARDS = (1 << FIRST_PICK) - 1  # the moves that play a card, in games with picks

PICK_OF = int_array(pick_move(card) if HONOURS >> card & 1 else -1 for card in range(ITALIAN.size))
PICKED_BY = int_array(PICKABLE)

NO_WINDOW, AS_THEY_COME, FOUR_TRICKS, AFTER_FIRST_TRICK, ANY_TURN = range(5)
LAST = TressetteDeal.LAST_TRICK

ITALIAN_SUIT, FRENCH_SUIT = int_array(ITALIAN.suit_of), int_array(FRENCH.suit_of)
WORTH = int_array([*THIRDS, *[0] * 12])

BAG_COSTS = 10  # points that a bag costs in the end, since ten cost a hundred

THREES = int_array([ITALIAN.mask(rank + suit for suit in ITALIAN.suits) for rank in "32A"])
NAPOLETANE = int_array([ITALIAN.mask(rank + suit for rank in "32A") for suit in ITALIAN.suits])


PRIME = 2147483647
FACTOR = 48271


@compiled
def random_below(board: Board, limit: int) -> int:
    """Return a random number from 0 to ``limit`` - 1, by the generator of Park and Miller."""
    board.random[0] = board.random[0] * FACTOR % PRIME
    return board.random[0] * limit // PRIME


@compiled
def suit_of(state: Ints, card: int) -> int:
    return FRENCH_SUIT[card] if state[SPADES] else ITALIAN_SUIT[card]


@compiled
def legal_cards(board: Board) -> int:
    hand = board.hands[board.state[TURN]]
    follow = hand & board.state[ALLOWED_CARDS]
    return follow if follow else hand


@compiled
def count_cards(cards: int) -> int:
    count = 0
    while cards:
        cards &= cards - 1
        count += 1
    return count


@compiled
def declarable_kinds(hand: int, fresh: int, scored: int) -> int:
    """Return the kinds (`engine.declarations.Combination`) not yet scored that a hand can declare with fresh cards."""
    kinds = 0
    for rank in range(3):
        four = THREES[rank]
        if fresh & four and count_cards(hand & four) >= 3:
            kinds |= 1 << rank
    for suit in range(4):
        three = NAPOLETANE[suit]
        if fresh & three and hand & three == three:
            kinds |= 8 << suit
    return kinds & ~scored


@compiled
def legal_moves(board: Board) -> int:
    """Return the moves of the seat to move: cards, and with packets also picks and threes to declare."""
    state = board.state
    seat, moves = state[TURN], legal_cards(board)
    honours = board.covering[seat]
    while honours:
        low = honours & -honours
        honours ^= low
        moves |= 1 << PICK_OF[bit_index(low)]
    return moves | state[PENDING + seat] << FIRST_THREE


@compiled
def make_move(board: Board, move: int) -> None:
    state = board.state
    if state[SPADES] or move < FIRST_PICK:
        play_card(board, move)
    elif move < FIRST_THREE:
        seat, card = state[TURN], PICKED_BY[move - FIRST_PICK]
        board.covering[seat] &= ~(1 << card)
        if state[WINDOW] == AS_THEY_COME:
            declare(board, seat, 1 << card)
        uncover(board, seat, card)
    else:
        score_declaration(state, state[TURN], move - FIRST_THREE, 9)


@compiled
def score_declaration(state: Ints, seat: int, kind: int, thirds: int) -> None:
    state[DECLARED + (seat & 1)] += thirds
    state[PENDING + seat] &= ~(1 << kind)
    if not state[REUSE]:
        state[SCORED + seat] |= 1 << kind


@compiled
def declare(board: Board, seat: int, fresh: int) -> None:
    """Score a seat's declarations with fresh cards; a three that can become a four is only noted as pending."""
    state = board.state
    hand = board.hands[seat] & ~board.covering[seat]
    kinds = declarable_kinds(hand, fresh, state[SCORED + seat])
    if kinds == 0:
        return
    for kind in range(7):
        if kinds >> kind & 1:
            count = count_cards(hand & THREES[kind]) if kind < 3 else 3
            if count == 3 and kind < 3 and state[PACKETS] and not state[REUSE]:
                state[PENDING + seat] |= 1 << kind
            else:
                score_declaration(state, seat, kind, 3 * count)


@compiled
def uncover(board: Board, seat: int, card: int) -> None:
    """Turn up the card below ``card``, which leaves its packet."""
    uncovered = board.opens[card]
    board.opens[card] = 0
    board.hands[seat] |= uncovered
    if uncovered & HONOURS:
        if board.opens[bit_index(uncovered)]:
            board.covering[seat] |= uncovered
        elif board.state[WINDOW] == AS_THEY_COME:
            declare(board, seat, uncovered)


@compiled
def play_card(board: Board, card: int) -> None:
    state, hands = board.state, board.hands
    seat, bit = state[TURN], 1 << card
    if state[WINDOW] == FOUR_TRICKS and state[TRICK] < 4:
        declare(board, seat, HONOURS if state[TRICK] == 3 else bit & HONOURS)
    state[PENDING + seat] = 0
    hands[seat] ^= bit
    if board.opens[card]:
        board.covering[seat] &= ~bit
        uncover(board, seat, card)
    state[CARDS_LEFT] -= 1
    state[POT] += WORTH[card] if not state[SPADES] else 0
    suit = suit_of(state, card)
    if state[SPADES] and bit & SPADE_SUIT and state[ALLOWED_CARDS] != SPADE_SUIT:
        state[BROKEN] = 1
    if state[TRICK_SIZE] == 0:
        state[ALLOWED_CARDS], state[BEST_CARD], state[WINNER], state[TRICK_SIZE] = suit, card, seat, 1
    else:
        if card > state[BEST_CARD] and (suit == state[ALLOWED_CARDS] or (state[SPADES] and bit & SPADE_SUIT)):
            state[BEST_CARD], state[WINNER] = card, seat
        state[TRICK_SIZE] += 1
        if state[TRICK_SIZE] == state[SEATS]:
            end_trick(board)
            return
    state[TURN] = (seat + 1) % state[SEATS]


@compiled
def end_trick(board: Board) -> None:
    state, hands, stock = board.state, board.hands, board.stock
    winner = state[WINNER]
    if state[SPADES]:
        state[TAKEN + winner] += 1
        state[ALLOWED_CARDS] = 0 if state[BROKEN] else NOT_SPADES
    else:
        state[TAKEN + (winner & 1)] += state[POT] + (0 if state[CARDS_LEFT] else LAST)
        state[ALLOWED_CARDS] = 0
    state[POT] = state[TRICK_SIZE] = 0
    state[TURN] = winner
    state[TRICK] += 1
    if state[DRAWN_COUNT] < state[STOCK]:
        for step in range(2):
            seat = winner if step == 0 else 1 - winner
            bit = 1 << stock[state[DRAWN_COUNT] + step]
            hands[seat] |= bit
            if bit & HONOURS and state[WINDOW] == AS_THEY_COME:
                declare(board, seat, bit)
        state[DRAWN_COUNT] += 2


@compiled
def spades_points(state: Ints, side: int) -> int:
    """Return a side's points for a deal of Spades. Each bag costs ten points at once."""
    bid, won = state[BIDS + side], state[TAKEN + side]
    bags = max(won - bid, 0)
    if bid:
        points = 10 * bid + bags if won >= bid else -10 * bid
    else:
        worth = 200 if state[BLIND + side] else 100
        points = -worth if won else worth
    return points - BAG_COSTS * bags


@compiled
def outcome(state: Ints) -> int:
    """Return side 0's result minus side 1's: points at Spades; at Tressette whole points, in thirds."""
    if state[SPADES]:
        return spades_points(state, 0) - spades_points(state, 1)
    return 3 * (state[TAKEN] // 3 - state[TAKEN + 1] // 3) + state[DECLARED] - state[DECLARED + 1]
