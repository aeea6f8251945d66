"""Simple players, who look at one trick only: they choose quickly, and searches let them finish a deal."""

from math import comb

from ..cards import FRENCH, ITALIAN
from ..spades import SPADE_SUIT
from . import playing
from .compiled import bit_index, compiled, int_array
from .playing import FRENCH_SUIT, ITALIAN_SUIT, PICK_OF, WORTH, Board, count_cards

_KEEP_VALUE = {"3": 130, "2": 100, "A": 60, "R": 35, "C": 25, "F": 15, "7": 8, "6": 5, "5": 2, "4": 0}
# value of keeping a card for later tricks, in hundredths of a third
KEEP_VALUE = int_array(_KEEP_VALUE[code[0]] for code in ITALIAN.codes)
LEAD_VALUE = 30

HIGH = {"A": 95, "K": 75, "Q": 45, "J": 20}
# Hundredths of a trick that a card is likely to win.
TRICK_WORTH = int_array(
    55 + 45 * FRENCH.ranks.index(code[0]) // 12 if code[1] == "S" else HIGH.get(code[0], 5) for code in FRENCH.codes
)


@compiled
def expected_tricks(hand: int) -> int:
    """Return the hundredths of a trick that a hand is likely to win."""
    total = 0
    while hand:
        low = hand & -hand
        total += TRICK_WORTH[bit_index(low)]
        hand ^= low
    return total


MAX_UNSEEN, MAX_HIGHER, MAX_HELD = 30, 9, 10
MILLION = 1000000
# Probability that a hand has no higher card, in millionths, by the numbers of unseen, higher and held cards.
CHANCE_WITHOUT = int_array(
    MILLION * comb(max(0, unseen - higher), held) // max(1, comb(unseen, held))
    for unseen in range(MAX_UNSEEN + 1)
    for higher in range(MAX_HIGHER + 1)
    for held in range(MAX_HELD + 1)
)

PARTNER_TAKES = 0.3  # probability that a partner still to play takes a trick back


@compiled
def appeal(board: Board, card: int) -> int:
    """Return how good a card looks to a simple player, in hundredths of a third."""
    state = board.state
    if state[playing.SPADES]:
        return spades_appeal(board, card)
    seat = state[playing.TURN]
    to_come = state[playing.SEATS] - state[playing.TRICK_SIZE] - 1
    suit = state[playing.ALLOWED_CARDS] if state[playing.TRICK_SIZE] else ITALIAN_SUIT[card]
    best_card, holder = state[playing.BEST_CARD], state[playing.WINNER]
    if state[playing.TRICK_SIZE] == 0 or (card > best_card and suit >> card & 1):
        best_card, holder = card, seat
    pot = 100 * (state[playing.POT] + WORTH[card]) + 70 * to_come
    if state[playing.CARDS_LEFT] <= state[playing.SEATS]:
        pot += 100 * playing.LAST
    if state[playing.SEATS] == 4:
        own_chance = trick_chance(board, suit, best_card, holder)
    else:
        # Two players are assumed to know each other's hands.
        is_beaten = to_come > 0 and (board.hands[1 - seat] & suit) >> (best_card + 1) != 0
        own_chance = 1.0 if holder == seat and not is_beaten else 0.0
    return int((2 * own_chance - 1) * (pot + LEAD_VALUE)) - KEEP_VALUE[card]


@compiled
def trick_chance(board: Board, suit: int, best_card: int, holder: int) -> float:
    """Return the probability, in a game for four, that the player's side wins the trick, as far as the player knows."""
    state, hands = board.state, board.hands
    seat = state[playing.TURN]
    to_come = 3 - state[playing.TRICK_SIZE]
    hand_size = (state[playing.CARDS_LEFT] + state[playing.TRICK_SIZE]) // 4
    unseen = state[playing.CARDS_LEFT] - hand_size
    higher = (hands[0] | hands[1] | hands[2] | hands[3]) & ~hands[seat] & suit
    count = count_cards(higher >> (best_card + 1))
    own_chance = 1.0 if (holder ^ seat) & 1 == 0 else 0.0
    chance_without = CHANCE_WITHOUT[(unseen * (MAX_HIGHER + 1) + count) * (MAX_HELD + 1) + hand_size] / MILLION
    if to_come & 1:
        own_chance *= chance_without
    if to_come == 3:
        own_chance *= chance_without
    if to_come >= 2:
        own_chance += (1 - own_chance) * PARTNER_TAKES
    return own_chance


@compiled
def spades_appeal(board: Board, card: int) -> int:
    """Return how good a card looks to a simple player at Spades, who wants to make exactly the bid."""
    state = board.state
    seat = state[playing.TURN]
    other_hand = board.hands[1 - seat]
    wants = state[playing.TAKEN + seat] < state[playing.BIDS + seat]
    if state[playing.BIDS + 1 - seat] == 0 and state[playing.TAKEN + 1 - seat] == 0:
        # The opponent has bid nil: lose tricks, so that it must win one.
        wants = False
    suit = FRENCH_SUIT[card]
    trump = suit == SPADE_SUIT
    strength = card % 13 + (14 if trump else 0)
    if state[playing.TRICK_SIZE]:
        wins = card > state[playing.BEST_CARD] and (suit == state[playing.ALLOWED_CARDS] or trump)
    else:
        follow = other_hand & suit
        wins = follow >> (card + 1) == 0 if follow else (trump or other_hand & SPADE_SUIT == 0)
    if wants:
        return 100 - strength if wins else -strength
    return strength - 100 if wins else strength


@compiled
def sensible_move(board: Board, choices: int) -> int:
    """Return the most appealing of these moves; picks and declarations come first."""
    if not board.state[playing.SPADES] and choices & ~playing.CARDS:
        choices &= ~playing.CARDS
        return bit_index(choices & -choices)
    best_move, highest = -1, -1000000
    while choices:
        bit = choices & -choices
        choices ^= bit
        card = bit_index(bit)
        value = appeal(board, card)
        if value > highest:
            highest, best_move = value, card
    return best_move


@compiled
def simple_move(board: Board, choices: int, wild: int) -> int:
    """Return a simple player's move; ``wild`` of 1000 cards are random."""
    if not board.state[playing.SPADES] and choices & ~playing.CARDS:
        move = move_before_card(board)
        if move >= 0:
            return move
        choices &= playing.CARDS
    if choices & (choices - 1) == 0:
        return bit_index(choices)
    if playing.random_below(board, 1000) < wild:
        for _ in range(playing.random_below(board, count_cards(choices))):
            choices &= choices - 1
        return bit_index(choices & -choices)
    return sensible_move(board, choices)


@compiled
def move_before_card(board: Board) -> int:
    """Return a simple player's pick or declaration before it plays a card, or -1.

    A player who cannot follow suit does not pick up honours, because the card below could follow and would then have to
    be played.
    """
    state, seat = board.state, board.state[playing.TURN]
    hand, honours = board.hands[seat] & ~board.covering[seat], board.covering[seat]
    is_free = state[playing.TRICK_SIZE] == 0 or board.hands[seat] & state[playing.ALLOWED_CARDS] != 0
    while honours:
        low = honours & -honours
        honours ^= low
        if is_free or (
            state[playing.WINDOW] == playing.AS_THEY_COME
            and playing.declarable_kinds(hand | low, low, state[playing.SCORED + seat])
        ):
            return int(PICK_OF[bit_index(low)])
    kinds = state[playing.PENDING + seat]
    return playing.FIRST_THREE + bit_index(kinds & -kinds) if kinds else -1


@compiled
def play_out(board: Board, wild: int) -> None:
    while board.state[playing.CARDS_LEFT]:
        playing.make_move(board, simple_move(board, playing.legal_moves(board), wild))
