"""Play on with every card in its place: the same step for all games, for searches that try many worlds.

A state is an array of integers; its places are named here. Hands are sets of the cards that a seat may play, packets'
tops among them. Tressette counts in thirds.

Moves are numbers, those of `engine.position`, and one more kind: from `FIRST_THREE` on a move declares three of a kind.

What is optional by the rules is a choice here, unless one way is never worse in points:

- Picking up an honour that covers a card is a move. One with no card below it is picked up at once: that uncovers
  nothing, and in hand it can serve for a declaration.
- A napoletana, a four, and with ``reuse`` a three is declared at once (`AS_THEY_COME`): it cannot count more later, and
  does not keep anything else from counting. With packets and without ``reuse`` a three is a move, for as long as it
  can be declared: kept back, it may become a four.
- Where a combination may be declared at several turns (`FOUR_TRICKS`) it is declared at the last one, or before a card
  of it is played: until then nothing is lost, and a three may become a four.
- In games for four a hand only shrinks, and every seat has a turn before its cards go. So what is declared does not
  depend on the cards that are played, and is not counted.
"""

from math import comb
from typing import NamedTuple

from engine.cards import FRENCH, ITALIAN
from engine.declarations import HONOURS
from engine.position import FIRST_PICK, PICKABLE, pick_of
from engine.search.compiled import Ints, compiled, ints, place_of, zeros
from engine.spades import NOT_SPADES, SPADE_SUIT
from engine.tressette import THIRDS, TressetteDeal


class Board(NamedTuple):
    """A position that is played on.

    ``state`` has the places named below. ``hands`` are by seat. ``opens`` is what a card uncovers when it leaves its
    packet. ``covering`` are by seat the honours that lie on a packet with a card below. ``stock`` are the cards to be
    drawn, and ``random`` is the state of the generator.
    """

    state: Ints
    hands: Ints
    opens: Ints
    covering: Ints
    stock: Ints
    random: Ints


def new_board(seed: int) -> Board:
    """Room for a position; the ``seed`` is from 1 up to `PRIME`."""
    return Board(zeros(SIZE), zeros(4), zeros(52), zeros(4), zeros(52), ints([seed]))


SEATS, TURN, WANTED, BEST, WINNER, LAID, LEFT, POT, DRAWN, TRICK, BROKEN, SPADES = range(12)
STOCK, WINDOW, REUSE, PACKETS = range(12, 16)
TAKEN, DECLARED, SCORED, BIDS, BAGS, BLIND, PENDING = 16, 18, 20, 24, 26, 28, 30
SIZE = 34
"""Two places each from TAKEN on, by side; SCORED and PENDING have four, by seat. WINNER is of the trick under way.
PENDING are the kinds of threes that a seat can declare now, or keep back for the fourth card.
"""

FIRST_THREE = FIRST_PICK + len(PICKABLE)
ALL_THREES = 7 << FIRST_THREE
CARDS = (1 << FIRST_PICK) - 1
"""In games with picks the moves that play a card."""

PICK_OF = ints(pick_of(card) if HONOURS >> card & 1 else -1 for card in range(ITALIAN.size))
PICKED_BY = ints(PICKABLE)

NO_WINDOW, AS_THEY_COME, FOUR_TRICKS, AFTER_FIRST_TRICK, ANY_TURN = range(5)
LAST = TressetteDeal.LAST_TRICK

ITALIAN_SUIT, FRENCH_SUIT = ints(ITALIAN.suit_of), ints(FRENCH.suit_of)
WORTH = ints([*THIRDS, *[0] * 12])

_SPENT = {"3": 130, "2": 100, "A": 60, "R": 35, "C": 25, "F": 15, "7": 8, "6": 5, "5": 2, "4": 0}
SPENT = ints(_SPENT[code[0]] for code in ITALIAN.codes)
"""What it costs to play a card now and not to have it later, in hundredths of a third."""
LEADING = 30

BAG_COSTS = 10
"""Points that a bag costs in the end: a hundred for each ten."""

THREES = ints([ITALIAN.mask(rank + suit for suit in ITALIAN.suits) for rank in "32A"])
TOP_THREE = ints([ITALIAN.mask(rank + suit for rank in "32A") for suit in ITALIAN.suits])


PRIME = 2147483647
FACTOR = 48271


@compiled
def chance(board: Board, below: int) -> int:
    """A number from 0 up to ``below``, by the generator of Park and Miller."""
    board.random[0] = board.random[0] * FACTOR % PRIME
    return board.random[0] * below // PRIME


@compiled
def suit_of(state: Ints, card: int) -> int:
    return FRENCH_SUIT[card] if state[SPADES] else ITALIAN_SUIT[card]


@compiled
def legal(board: Board) -> int:
    held = board.hands[board.state[TURN]]
    follow = held & board.state[WANTED]
    return follow if follow else held


@compiled
def count_of(cards: int) -> int:
    """How many cards are in a set."""
    count = 0
    while cards:
        cards &= cards - 1
        count += 1
    return count


@compiled
def declarable(hand: int, fresh: int, scored: int) -> int:
    """The kinds (`engine.declarations.Combination`) of what a hand has to declare that fresh cards are part of, but for
    those that have scored.
    """
    kinds = 0
    for rank in range(3):
        four = THREES[rank]
        if fresh & four and count_of(hand & four) >= 3:
            kinds |= 1 << rank
    for suit in range(4):
        three = TOP_THREE[suit]
        if fresh & three and hand & three == three:
            kinds |= 8 << suit
    return kinds & ~scored


@compiled
def moves(board: Board) -> int:
    """Return the moves of the seat to move: cards, and with packets picks and threes to declare."""
    state = board.state
    seat, found = state[TURN], legal(board)
    honours = board.covering[seat]
    while honours:
        low = honours & -honours
        honours ^= low
        found |= 1 << PICK_OF[place_of(low)]
    return found | state[PENDING + seat] << FIRST_THREE


@compiled
def make(board: Board, move: int) -> None:
    """Make one of the `moves`."""
    state = board.state
    if state[SPADES] or move < FIRST_PICK:
        play(board, move)
    elif move < FIRST_THREE:
        pick(board, PICKED_BY[move - FIRST_PICK])
    else:
        score(state, state[TURN], move - FIRST_THREE, 9)


@compiled
def score(state: Ints, seat: int, kind: int, thirds: int) -> None:
    """Count a declaration."""
    state[DECLARED + (seat & 1)] += thirds
    state[PENDING + seat] &= ~(1 << kind)
    if not state[REUSE]:
        state[SCORED + seat] |= 1 << kind


@compiled
def declare(board: Board, seat: int, fresh: int) -> None:
    """Count what a seat can declare of its hand that has to do with fresh cards, or note what it may keep back."""
    state = board.state
    hand = board.hands[seat] & ~board.covering[seat]
    kinds = declarable(hand, fresh, state[SCORED + seat])
    if kinds == 0:
        return
    for kind in range(7):
        if kinds >> kind & 1:
            count = count_of(hand & THREES[kind]) if kind < 3 else 3
            if count == 3 and kind < 3 and state[PACKETS] and not state[REUSE]:
                state[PENDING + seat] |= 1 << kind
            else:
                score(state, seat, kind, 3 * count)


@compiled
def pick(board: Board, card: int) -> None:
    """Pick up an honour that covers a card."""
    seat = board.state[TURN]
    board.covering[seat] &= ~(1 << card)
    if board.state[WINDOW] == AS_THEY_COME:
        declare(board, seat, 1 << card)
    uncover(board, seat, card)


@compiled
def uncover(board: Board, seat: int, card: int) -> None:
    """Turn up the card below one that leaves its packet."""
    opened = board.opens[card]
    board.opens[card] = 0
    board.hands[seat] |= opened
    if opened & HONOURS:
        if board.opens[place_of(opened)]:
            board.covering[seat] |= opened
        elif board.state[WINDOW] == AS_THEY_COME:
            declare(board, seat, opened)


@compiled
def play(board: Board, card: int) -> None:
    """Play a legal card."""
    state, hands = board.state, board.hands
    seat, bit = state[TURN], 1 << card
    if state[WINDOW] == FOUR_TRICKS and state[TRICK] < 4:
        declare(board, seat, HONOURS if state[TRICK] == 3 else bit & HONOURS)
    state[PENDING + seat] = 0
    hands[seat] ^= bit
    if board.opens[card]:
        board.covering[seat] &= ~bit
        uncover(board, seat, card)
    state[LEFT] -= 1
    state[POT] += WORTH[card] if not state[SPADES] else 0
    suit = suit_of(state, card)
    if state[SPADES] and bit & SPADE_SUIT and state[WANTED] != SPADE_SUIT:
        state[BROKEN] = 1
    if state[LAID] == 0:
        state[WANTED], state[BEST], state[WINNER], state[LAID] = suit, card, seat, 1
    else:
        if card > state[BEST] and (suit == state[WANTED] or (state[SPADES] and bit & SPADE_SUIT)):
            state[BEST], state[WINNER] = card, seat
        state[LAID] += 1
        if state[LAID] == state[SEATS]:
            end_trick(board)
            return
    state[TURN] = (seat + 1) % state[SEATS]


@compiled
def end_trick(board: Board) -> None:
    state, hands, stock = board.state, board.hands, board.stock
    winner = state[WINNER]
    if state[SPADES]:
        state[TAKEN + winner] += 1
        state[WANTED] = 0 if state[BROKEN] else NOT_SPADES
    else:
        state[TAKEN + (winner & 1)] += state[POT] + (0 if state[LEFT] else LAST)
        state[WANTED] = 0
    state[POT] = state[LAID] = 0
    state[TURN] = winner
    state[TRICK] += 1
    if state[DRAWN] < state[STOCK]:
        for step in range(2):
            seat = winner if step == 0 else 1 - winner
            bit = 1 << stock[state[DRAWN] + step]
            hands[seat] |= bit
            if bit & HONOURS and state[WINDOW] == AS_THEY_COME:
                declare(board, seat, bit)
        state[DRAWN] += 2


HIGH = {"A": 95, "K": 75, "Q": 45, "J": 20}
TRICK_WORTH = ints(
    55 + 45 * FRENCH.ranks.index(code[0]) // 12 if code[1] == "S" else HIGH.get(code[0], 5) for code in FRENCH.codes
)
"""How many hundredths of a trick a card is likely to win."""


@compiled
def likely(hand: int) -> int:
    """Hundredths of a trick that a hand is likely to win."""
    total = 0
    while hand:
        low = hand & -hand
        total += TRICK_WORTH[place_of(low)]
        hand ^= low
    return total


@compiled
def spades_points(state: Ints, side: int) -> int:
    """What a hand of Spades counts for a side, ten bags counted as they come, at ten points a bag."""
    bid, won = state[BIDS + side], state[TAKEN + side]
    over = max(won - bid, 0)
    if bid:
        points = 10 * bid + over if won >= bid else -10 * bid
    else:
        worth = 200 if state[BLIND + side] else 100
        points = -worth if won else worth
    return points - BAG_COSTS * over


@compiled
def outcome(state: Ints) -> int:
    """What the deal has brought side 0 and not side 1: points at Spades, at Tressette thirds of those that count, which
    are the whole ones.
    """
    if state[SPADES]:
        return spades_points(state, 0) - spades_points(state, 1)
    return 3 * (state[TAKEN] // 3 - state[TAKEN + 1] // 3) + state[DECLARED] - state[DECLARED + 1]


MOST_UNSEEN, MOST_HIGHER, MOST_HELD = 30, 9, 10
MILLION = 1000000
WITHOUT = ints(
    MILLION * comb(max(0, unseen - higher), held) // max(1, comb(unseen, held))
    for unseen in range(MOST_UNSEEN + 1)
    for higher in range(MOST_HIGHER + 1)
    for held in range(MOST_HELD + 1)
)
"""How likely a hand has none of the higher cards, in millionths: by how many are unseen, higher, and in the hand."""

PARTNER_TAKES = 0.3
"""How likely a partner still to play takes a trick back."""


@compiled
def appeal(board: Board, card: int) -> int:
    """How well a card looks to a simple player who looks at this trick only, in hundredths of a third."""
    state = board.state
    if state[SPADES]:
        return appeal_at_spades(board, card)
    seat = state[TURN]
    to_come = state[SEATS] - state[LAID] - 1
    suit = state[WANTED] if state[LAID] else ITALIAN_SUIT[card]
    best, holder = state[BEST], state[WINNER]
    if state[LAID] == 0 or (card > best and suit >> card & 1):
        best, holder = card, seat
    pot = 100 * (state[POT] + WORTH[card]) + 70 * to_come
    if state[LEFT] <= state[SEATS]:
        pot += 100 * LAST
    if state[SEATS] == 4:
        ours = chance_of_trick(board, suit, best, holder)
    else:
        ours = 1.0 if holder == seat and (to_come == 0 or (board.hands[1 - seat] & suit) >> (best + 1) == 0) else 0.0
    return int((2 * ours - 1) * (pot + LEADING)) - SPENT[card]


@compiled
def chance_of_trick(board: Board, suit: int, best: int, holder: int) -> float:
    """How likely the trick is our side's in the eyes of the one of four who has just put a card to it: it knows its own
    hand and what has been played. The two at one table are taken to know each other's hand.
    """
    state, hands = board.state, board.hands
    seat = state[TURN]
    to_come = 3 - state[LAID]
    held = (state[LEFT] + state[LAID]) // 4
    unseen = state[LEFT] - held
    higher = (hands[0] | hands[1] | hands[2] | hands[3]) & ~hands[seat] & suit
    count = count_of(higher >> (best + 1))
    ours = 1.0 if (holder ^ seat) & 1 == 0 else 0.0
    without = WITHOUT[(unseen * (MOST_HIGHER + 1) + count) * (MOST_HELD + 1) + held] / MILLION
    if to_come & 1:
        ours *= without
    if to_come == 3:
        ours *= without
    if to_come >= 2:
        ours += (1 - ours) * PARTNER_TAKES
    return ours


@compiled
def appeal_at_spades(board: Board, card: int) -> int:
    """At Spades a simple player makes the bid and no more."""
    state = board.state
    seat = state[TURN]
    other = board.hands[1 - seat]
    wants = state[TAKEN + seat] < state[BIDS + seat]
    if state[BIDS + 1 - seat] == 0 and state[TAKEN + 1 - seat] == 0:
        # A nil is broken by leaving tricks to it.
        wants = False
    suit = FRENCH_SUIT[card]
    trump = suit == SPADE_SUIT
    strength = card % 13 + (14 if trump else 0)
    if state[LAID]:
        wins = card > state[BEST] and (suit == state[WANTED] or trump)
    else:
        follow = other & suit
        wins = follow >> (card + 1) == 0 if follow else (trump or other & SPADE_SUIT == 0)
    if wants:
        return 100 - strength if wins else -strength
    return strength - 100 if wins else strength


@compiled
def sensible(board: Board, choices: int) -> int:
    """The most appealing of these moves: what is no card comes first."""
    if not board.state[SPADES] and choices & ~CARDS:
        choices &= ~CARDS
        return place_of(choices & -choices)
    chosen, highest = -1, -1000000
    while choices:
        bit = choices & -choices
        choices ^= bit
        card = place_of(bit)
        value = appeal(board, card)
        if value > highest:
            highest, chosen = value, card
    return chosen


@compiled
def simply(board: Board, choices: int, wild: int) -> int:
    """What a simple player plays; ``wild`` of 1000 cards are random."""
    if not board.state[SPADES] and choices & ~CARDS:
        move = before_playing(board)
        if move >= 0:
            return move
        choices &= CARDS
    if choices & (choices - 1) == 0:
        return place_of(choices)
    if chance(board, 1000) < wild:
        for _ in range(chance(board, count_of(choices))):
            choices &= choices - 1
        return place_of(choices & -choices)
    return sensible(board, choices)


@compiled
def before_playing(board: Board) -> int:
    """Return what a simple player picks up or declares before it plays a card, or -1.

    It leaves an honour where it lies if it cannot follow suit: the card below might have to.
    """
    state, seat = board.state, board.state[TURN]
    hand, honours = board.hands[seat] & ~board.covering[seat], board.covering[seat]
    is_free = state[LAID] == 0 or board.hands[seat] & state[WANTED] != 0
    while honours:
        low = honours & -honours
        honours ^= low
        if is_free or (state[WINDOW] == AS_THEY_COME and declarable(hand | low, low, state[SCORED + seat])):
            return int(PICK_OF[place_of(low)])
    kinds = state[PENDING + seat]
    return FIRST_THREE + place_of(kinds & -kinds) if kinds else -1


@compiled
def finish(board: Board, wild: int) -> None:
    """Play the rest as simple players would."""
    while board.state[LEFT]:
        make(board, simply(board, moves(board), wild))
