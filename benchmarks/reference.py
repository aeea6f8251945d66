"""A reference opponent for the strong robot: plain determinized Monte Carlo, in plain Python.

It deals the unseen cards at random and plays every legal card in each such world. A simple greedy player finishes the
deal in all seats. The card with the best mean result is chosen. The limit is CPU time, so the same seed can give
different choices.
"""

import time
from collections.abc import Sequence
from random import Random

from engine.cards import FRENCH, ITALIAN, cards
from engine.game import MoveEntry
from engine.position import BIT, PacketsPosition, SearchPosition, SpadesPosition, StockPosition, pick_move
from engine.robots.medium import KEEP_VALUE, MediumRobot
from engine.robots.memory import Memory, remember
from engine.spades import NOT_SPADES, SPADE_SUIT
from engine.tressette import THIRDS
from engine.views import DealView, PacketsView, SpadesView, StockView, View

KEEPING = tuple(KEEP_VALUE[code[0]] for code in ITALIAN.codes)
LEADING = 0.3


KINDS: dict[type[DealView], type[SearchPosition]] = {
    StockView: StockPosition,
    PacketsView: PacketsPosition,
    SpadesView: SpadesPosition,
}


class ReferenceRobot:
    """Plain determinized Monte Carlo with ``seconds`` of CPU a card. The medium robot makes all other moves."""

    def __init__(self, random: Random, seconds: float = 0.01) -> None:
        self.random, self.seconds = random, seconds
        self._medium = MediumRobot(random)

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        move = self._medium.choose(view, history)
        if move is None or not move.startswith("play ") or view.deal is None or view.seat is None:
            return move
        plays = [option for option in view.moves if option.startswith("play ") and option.count(" ") == 1]
        if len(plays) == 1:
            return plays[0]
        end = time.process_time() + self.seconds
        memory = remember(view.deal, history, view.seat)
        pack = FRENCH if isinstance(view.deal, SpadesView) else ITALIAN
        sums = dict.fromkeys((pack.index[play.split(" ")[1]] for play in plays), 0.0)
        while time.process_time() < end:
            world = self._world(view.deal, memory, view.seat)
            for card in sums:
                position = world.copy()
                position.play(card)
                sums[card] += self._finish(position, view.deal, view.seat & 1)
        return f"play {pack.codes[max(sums, key=sums.__getitem__)]}"

    def _world(self, deal: DealView, memory: Memory, seat: int) -> SearchPosition:
        """Return a position with the unseen cards dealt at random."""
        pack = FRENCH if isinstance(deal, SpadesView) else ITALIAN
        unseen = [*cards(memory.unseen)]
        self.random.shuffle(unseen)
        kind = KINDS.get(type(deal), SearchPosition)
        world: SearchPosition = object.__new__(kind)
        world.hands = memory.open_to.copy()
        for other, count in enumerate(memory.hidden):
            if other != seat:
                world.hands[other] |= sum(BIT[unseen.pop()] for _ in range(count))
        seats = len(deal.counts)
        world.turn, world.trick_size = seat, len(deal.trick)
        world.cards_left = ((13 if pack is FRENCH else 40 // seats) - sum(deal.tricks)) * seats - world.trick_size
        world.taken, world.pot = [0, 0], 0
        world.allowed_cards, world.best_card, world.winner = 0, -1, seat
        for index, (by, code, _signal) in enumerate(deal.trick):
            card = pack.index[code]
            if index == 0:
                world.allowed_cards = pack.suit_of[card]
            if index == 0 or (card > world.best_card and BIT[card] & (world.allowed_cards | kind.TRUMPS)):
                world.best_card, world.winner = card, by
            world.pot += kind.WORTH[card]
        if isinstance(deal, StockView) and isinstance(world, StockPosition):
            world.stock, world.drawn_count = tuple(unseen), 0
        if isinstance(deal, PacketsView) and isinstance(world, PacketsPosition):
            world.packets = [[], []]
            for packet in deal.packets:
                if packet.place == "table" and packet.top and packet.owner is not None:
                    below = tuple(unseen.pop() for _ in range(packet.left - 1))
                    world.packets[packet.owner].append((pack.index[packet.top], *below))
        if isinstance(deal, SpadesView) and isinstance(world, SpadesPosition):
            world.taken, world.broken = list(deal.tricks), deal.broken
            if not world.trick_size:
                world.allowed_cards = 0 if deal.broken else NOT_SPADES
        return world

    def _finish(self, position: SearchPosition, deal: DealView, side: int) -> float:
        """Play greedily to the end. Return this side's lead, in thirds of a point or, at Spades, points."""
        if isinstance(deal, SpadesView):
            while position.cards_left:
                position.play(_greedy_spade(position, deal))
            points = [_spades_points(deal.bids[player], position.taken[player]) for player in (0, 1)]
            return points[side] - points[1 - side]
        while position.cards_left:
            if not position.trick_size:
                # Pick up everything possible before the lead.
                while picks := position.legal_picks():
                    position.make_move(pick_move(picks.bit_length() - 1))
            position.play(_greedy_card(position))
        return position.taken[side] - position.taken[1 - side]


def _greedy_card(position: SearchPosition) -> int:
    """Choose a card by this trick alone and the possible answers of the next players."""
    legal, seat, seats = position.legal_cards(), position.turn, len(position.hands)
    if legal & (legal - 1) == 0:
        return legal.bit_length() - 1
    best_choice, highest = -1, -1e9
    rivals = [(seat + step) % seats for step in range(1, seats - position.trick_size)]
    for card in cards(legal):
        led_suit = position.allowed_cards if position.trick_size else ITALIAN.suit_of[card]
        is_own_side = (
            not position.trick_size
            or (bool(led_suit & BIT[card]) and card > position.best_card)
            or (position.winner ^ seat) & 1 == 0
        )
        best_card = (
            card
            if not position.trick_size or (led_suit & BIT[card] and card > position.best_card)
            else position.best_card
        )
        if is_own_side and any(
            (rival ^ seat) & 1 and (position.hands[rival] & led_suit) >> (best_card + 1) for rival in rivals
        ):
            is_own_side = False
        pot = position.pot + THIRDS[card] + LEADING
        value = (pot if is_own_side else -pot) - KEEPING[card]
        if value > highest:
            best_choice, highest = card, value
    return best_choice


def _greedy_spade(position: SearchPosition, deal: SpadesView) -> int:
    """Choose a card to make exactly the bid. A leader considers the opponent's answers."""
    seat = position.turn
    bid = deal.bids[seat]
    wants = isinstance(bid, int) and position.taken[seat] < bid
    chosen, highest = -1, -1e9
    for card in cards(position.legal_cards()):
        suit, other = FRENCH.suit_of[card], position.hands[1 - seat]
        if position.trick_size:
            wins = card > position.best_card and bool(BIT[card] & (position.allowed_cards | SPADE_SUIT))
        elif other & suit:
            wins = not (other & suit) >> (card + 1)
        else:
            wins = suit == SPADE_SUIT or not other & SPADE_SUIT
        strength = card % 13 + (14 if suit == SPADE_SUIT else 0)
        value = (100 * wins - strength) if wants else (strength - 100 * wins)
        if value > highest:
            chosen, highest = card, value
    return chosen


def _spades_points(bid: int | str | None, won: int) -> int:
    if isinstance(bid, int):
        return 10 * bid - 9 * (won - bid) if won >= bid else -10 * bid
    worth = 200 if bid == "double nil" else 100
    return -worth if won else worth
