"""Worlds: the possible places of the unseen cards, and random draws of them."""

from math import exp, log
from typing import NamedTuple

from ..declarations import HONOURS
from ..position import SearchPosition
from . import playing
from .compiled import Ints, compiled
from .playing import SIZE, Board
from .simple_players import appeal, expected_tricks, sensible_move

MAX_TRIES = 50
SILENCE = -4.0  # log probability that a player lets the last moment for a declaration pass, one in fifty
NEGLIGIBLE = 12.0  # log ratio below the likeliest world at which a world is no longer weighed


class Worlds(NamedTuple):
    """All worlds that a player's knowledge allows.

    ``start`` is the state of play (`engine.search.playing`). By seat, ``known_cards`` are the cards that the seat can
    certainly play, ``need`` is the number of its unseen cards, and ``allowed`` are the cards that these can be.
    ``unseen`` are the unseen cards. ``packets`` has three numbers for each packet: its seat, its top, and
    the number of cards below. A packet of one card is only included if that card is an honour.

    ``pool`` can hold prepared worlds, as the hands of all seats. They are drawn by ``weights``, which are cumulative.
    Without weights each world is dealt when it is drawn.
    """

    start: Ints
    known_cards: Ints
    need: Ints
    allowed: Ints
    unseen: Ints
    packets: Ints
    pool: Ints
    weights: Ints


def only_position(worlds: Worlds) -> SearchPosition:
    """Return the position of the only possible world, without the cards already taken."""
    start = worlds.start
    position: SearchPosition = object.__new__(SearchPosition)
    position.hands = [int(worlds.known_cards[seat]) for seat in range(start[playing.SEATS])]
    position.turn, position.cards_left = int(start[playing.TURN]), int(start[playing.CARDS_LEFT])
    position.trick_size, position.allowed_cards = int(start[playing.TRICK_SIZE]), int(start[playing.ALLOWED_CARDS])
    position.pot, position.taken = int(start[playing.POT]), [0, 0]
    best_card, winner = int(start[playing.BEST_CARD]), int(start[playing.WINNER])
    position.best_card, position.winner = (best_card, winner) if position.trick_size else (-1, -1)
    return position


@compiled
def draw_world(worlds: Worlds, board: Board) -> bool:
    """Set up the start of a random world on the board. Return False if none could be found."""
    for index in range(SIZE):
        board.state[index] = worlds.start[index]
    if len(worlds.weights):
        draw_from_pool(worlds, board)
        return True
    return deal_world(worlds, board)


@compiled
def deal_world(worlds: Worlds, board: Board) -> bool:
    """Deal until each unseen card is in an allowed place. Return False after `MAX_TRIES`."""
    unseen, seats = worlds.unseen, worlds.start[playing.SEATS]
    for _ in range(MAX_TRIES):
        for index in range(len(unseen) - 1, 0, -1):
            swap_index = playing.random_below(board, index + 1)
            unseen[index], unseen[swap_index] = unseen[swap_index], unseen[index]
        for seat in range(seats):
            board.hands[seat] = worlds.known_cards[seat]
        if deal_two_hands(worlds, board) if seats == 2 else deal_four_hands(worlds, board):
            return True
    return False


@compiled
def draw_from_pool(worlds: Worlds, board: Board) -> None:
    weights, seats = worlds.weights, worlds.start[playing.SEATS]
    low, high = 0, len(weights) - 1
    board.random[0] = board.random[0] * playing.FACTOR % playing.PRIME
    random_weight = int(board.random[0] / playing.PRIME * weights[high])
    while low < high:
        middle = (low + high) // 2
        if weights[middle] > random_weight:
            high = middle
        else:
            low = middle + 1
    for seat in range(seats):
        board.hands[seat] = worlds.pool[low * seats + seat]


@compiled
def deal_two_hands(worlds: Worlds, board: Board) -> bool:
    """Deal an unseen hand, then the cards below packets' tops, then the stock; at Spades the rest is out of play."""
    unseen, packets = worlds.unseen, worlds.packets
    seat = 0 if worlds.need[0] else 1
    cards_needed, free = worlds.need[seat], 0
    for index in range(len(unseen)):
        if cards_needed and worlds.allowed[seat] >> unseen[index] & 1:
            board.hands[seat] |= 1 << unseen[index]
            cards_needed -= 1
        else:
            unseen[free], unseen[index] = unseen[index], unseen[free]
            free += 1
    used = 0
    for card in range(len(board.opens)):
        board.opens[card] = 0
    board.covering[0] = board.covering[1] = 0
    for number in range(0, len(packets), 3):
        owner, upper_card = packets[number], packets[number + 1]
        if packets[number + 2]:
            board.covering[owner] |= 1 << upper_card & HONOURS
        for _ in range(packets[number + 2]):
            board.opens[upper_card] = 1 << unseen[used]
            upper_card = unseen[used]
            used += 1
    for index in range(used, free):
        board.stock[index - used] = unseen[index]
    if cards_needed == 0 and board.state[playing.WINDOW] == playing.AS_THEY_COME:
        for number in range(0, len(packets), 3):
            if packets[number + 2] == 0:
                # The honour's player picks it up at once: see `engine.search.playing`.
                playing.declare(board, packets[number], 1 << packets[number + 1])
    return cards_needed == 0


@compiled
def deal_four_hands(worlds: Worlds, board: Board) -> bool:
    """Deal to four hands, first the cards that the fewest hands can hold.

    A hand gets a card with a probability in proportion to its free places.
    """
    room, need, seats = board.stock, worlds.need, worlds.start[playing.SEATS]
    for seat in range(seats):
        room[seat] = need[seat]
    placed = 0
    for narrow in range(1, seats):
        for index in range(len(worlds.unseen)):
            card = worlds.unseen[index]
            homes, free = 0, 0
            for seat in range(seats):
                if need[seat] and worlds.allowed[seat] >> card & 1:
                    homes += 1
                    free += room[seat]
            if homes != narrow:
                continue
            if free == 0:
                return False
            drawn = playing.random_below(board, free)
            for seat in range(seats):
                if need[seat] and worlds.allowed[seat] >> card & 1:
                    if drawn < room[seat]:
                        board.hands[seat] |= 1 << card
                        room[seat] -= 1
                        placed += 1
                        break
                    drawn -= room[seat]
    return placed == len(worlds.unseen)


@compiled
def first_card(past: Ints, seat: int) -> int:
    index = 0
    while past[index] != seat:
        index += 2
    return past[index + 1]


@compiled
def fill_pool(
    worlds: Worlds, board: Board, past: Ints, beginning: Ints, me: int, doubt: float, mildness: float, spread: float
) -> bool:
    """Fill the pool with weighed worlds. Return False if no world could be found.

    A world's weight says how well it fits the others' bids, plays and missing declarations. ``past`` is a seat and a
    card for each play since ``beginning``, when hands were whole. A card that looks worse than the best by ``mildness``
    hundredths of a third divides the weight by e, down to the factor ``doubt``. A bid that is off by ``spread`` ** 0.5
    tricks also divides it by e.
    """
    seats, window, weights = beginning[playing.SEATS], worlds.start[playing.WINDOW], worlds.weights
    scored = worlds.start[playing.SCORED : playing.SCORED + 4]
    highest = -1e9
    for world in range(len(weights)):
        if not deal_world(worlds, board):
            return False
        for seat in range(seats):
            worlds.pool[world * seats + seat] = board.hands[seat]
        for index in range(0, len(past), 2):
            board.hands[past[index]] |= 1 << past[index + 1]
        for index in range(SIZE):
            board.state[index] = beginning[index]
        fit = 0.0
        if beginning[playing.SPADES] and not beginning[playing.BLIND + 1 - me]:
            deviation = (expected_tricks(board.hands[1 - me]) - 80 - 100 * beginning[playing.BIDS + 1 - me]) / 100.0
            fit -= deviation * deviation / spread
        for index in range(0, len(past), 2):
            seat, card = past[index], past[index + 1]
            if seat != me:
                hand, choices = board.hands[seat], playing.legal_cards(board)
                if choices & (choices - 1):
                    appeal_lost = appeal(board, sensible_move(board, choices)) - appeal(board, card)
                    fit += log(doubt + (1 - doubt) * exp(-appeal_lost / mildness))
                if window == playing.ANY_TURN and playing.declarable_kinds(hand, 1 << card, scored[seat]):
                    fit += SILENCE
                if window == playing.AFTER_FIRST_TRICK and board.state[playing.TRICK] == 1:
                    dealt = hand | 1 << first_card(past, seat)
                    if playing.declarable_kinds(dealt, dealt, scored[seat]):
                        fit += SILENCE
            if fit < highest - NEGLIGIBLE:
                break
            playing.play_card(board, card)
        highest = max(highest, fit)
        weights[world] = int(1000 * fit)
    total = 0
    for world in range(len(weights)):
        total += int(1000000 * exp(weights[world] / 1000.0 - highest))
        weights[world] = total
    return True
