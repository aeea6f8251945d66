"""The medium robot: greedy, by rules of thumb."""

from collections.abc import Sequence
from random import Random

from ..cards import ITALIAN
from ..declarations import COMBINATIONS, Combination, combinations_in, possible_combinations
from ..game import MoveEntry
from ..tressette import THIRDS
from ..views import DealView, Packet, PacketsView, SpadesView, TressetteView, View
from . import spades
from .memory import Memory, remember
from .signals import signal_of

# Value of keeping a card of this rank for later tricks, in thirds, in addition to its points.
KEEP_VALUE = {"3": 1.3, "2": 1.0, "A": 0.6, "R": 0.35, "C": 0.25, "F": 0.15, "7": 0.08, "6": 0.05, "5": 0.02, "4": 0.0}
LEAD_VALUE = 0.3  # value of leading the next trick, in thirds


class MediumRobot:
    """A robot that looks one trick ahead, remembers the cards played and counts the points that its side has taken."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        deal, seat = view.deal, view.seat
        if deal is None or seat is None:
            return None
        if declarations := [COMBINATIONS[move] for move in view.moves if move in COMBINATIONS]:
            best = max(declarations, key=lambda combination: combination.points)
            return pick_for_four(view, best) or best.move
        if view.turn != seat:
            return None
        if isinstance(deal, SpadesView):
            return spades.choose_move(deal, history, seat, view.moves, self.random)
        if isinstance(deal, PacketsView) and deal.phase != "play":
            return self._choose_packets(deal, view.moves)
        memory = remember(deal, history, seat)
        if picks := _wise_picks(view, history, memory):
            return picks[0]
        if "claim" in view.moves and has_won(view, memory):
            return "claim"
        plays = [move for move in view.moves if move.startswith("play ") and move.count(" ") == 1]
        best_play = max(plays, key=lambda move: _card_value(deal, memory, seat, ITALIAN.index[move[5:]]))
        return best_play + signal_of(deal, view, ITALIAN.index[best_play[5:]])

    def _choose_packets(self, deal: PacketsView, moves: Sequence[str]) -> str:
        """Take any four packets, because all are unseen. Then hold the two with the least valuable top cards."""
        choices = [move for move in moves if move.startswith(("take ", "hold "))]
        self.random.shuffle(choices)
        worth = {str(packet.number): THIRDS[ITALIAN.index[packet.top]] if packet.top else 0 for packet in deal.packets}
        return min(choices, key=lambda move: sum(worth[number] for number in move.split(" ")[1:]))


def can_serve_declaration(view: View, history: Sequence[MoveEntry], packet: Packet) -> bool:
    """Return whether picking up this packet's top honour can still lead to a declaration, as far as the seat knows.

    The declaration's other cards must be in the seat's hand or on its packets, or be unseen, because its packets could
    hide them.
    """
    deal, seat = view.deal, view.seat
    if not isinstance(deal, PacketsView) or seat is None or not packet.top or view.rules["declare"] != "acquired":
        return False
    memory, hidden = remember(deal, history, seat), _count_hidden(deal, seat)
    top, known = 1 << ITALIAN.index[packet.top], memory.own_cards | memory.unseen
    possible = possible_combinations(top, known, _scored_kinds(view))
    return any((combination.cards & ~memory.own_cards).bit_count() <= hidden for combination in possible)


def _count_hidden(deal: PacketsView, seat: int) -> int:
    """Return the number of cards below the tops of a seat's packets."""
    return sum(max(0, packet.left - 1) for packet in deal.packets if packet.owner == seat and packet.place == "table")


def _scored_kinds(view: View) -> int:
    """Return the kinds of declarations that the viewer has scored and cannot score again."""
    scored = 0
    if isinstance(view.deal, TressetteView) and not view.rules["reuse"]:
        for declaration in view.deal.declarations:
            scored |= COMBINATIONS[declaration.move].kind if declaration.seat == view.seat else 0
    return scored


def pick_for_four(view: View, three: Combination) -> str | None:
    """Return the pick that turns a three into a four, if the four would not count after declaring the three."""
    if isinstance(view.deal, PacketsView) and view.rules["declare"] == "acquired" and not view.rules["reuse"]:
        for packet in view.deal.packets:
            if packet.top and f"pick {packet.number}" in view.moves:
                with_top = three.cards | 1 << ITALIAN.index[packet.top]
                if any(combination.points > three.points for combination in combinations_in(with_top)):
                    return f"pick {packet.number}"
    return None


def can_become_four(view: View, history: Sequence[MoveEntry], three: Combination) -> bool:
    """Return whether a three should wait because it can still become a four, as far as the seat knows."""
    deal, seat = view.deal, view.seat
    if not isinstance(deal, PacketsView) or seat is None or view.rules["reuse"] or view.rules["declare"] != "acquired":
        return False
    _word, kind, rank, *missing_suits = three.move.split(" ")
    if kind != "three":
        return False
    fourth, memory = ITALIAN.index[rank + missing_suits[-1]], remember(deal, history, seat)
    return bool(memory.own_cards >> fourth & 1 or (memory.unseen >> fourth & 1 and _count_hidden(deal, seat)))


def _wise_picks(view: View, history: Sequence[MoveEntry], memory: Memory) -> list[str]:
    """Return the picks that are likely to help.

    A player who cannot follow suit should not uncover a card that might have to follow, unless the honour completes a
    declaration.
    """
    picks, deal = useful_picks(view, history), view.deal
    if not picks or not isinstance(deal, PacketsView) or not deal.trick:
        return picks
    if memory.own_cards & ITALIAN.suit_of[ITALIAN.index[deal.trick[0].card]]:
        return picks
    wise = []
    for packet in deal.packets:
        if packet.top and f"pick {packet.number}" in picks:
            top = 1 << ITALIAN.index[packet.top]
            in_hand = ITALIAN.mask(deal.hand or ()) | top
            completed = [
                combination
                for combination in combinations_in(in_hand)
                if combination.cards & top and not combination.kind & _scored_kinds(view)
            ]
            if packet.left == 1 or (completed and view.rules["declare"] == "acquired"):
                wise.append(f"pick {packet.number}")
    return wise


def useful_picks(view: View, history: Sequence[MoveEntry]) -> list[str]:
    """Return the picks of honours that uncover a card or can still serve a declaration."""
    if not isinstance(view.deal, PacketsView):
        return []
    pickable = [packet for packet in view.deal.packets if f"pick {packet.number}" in view.moves]
    useful = [packet for packet in pickable if packet.left > 1 or can_serve_declaration(view, history, packet)]
    return [f"pick {packet.number}" for packet in useful]


def has_won(view: View, memory: Memory) -> bool:
    """Return whether a claim would be right, as far as the seat has counted.

    Games of earlier releases are checked by the current rules, which are stricter.
    """
    deal, side, target = view.deal, (view.seat or 0) & 1, int(view.rules["target"])
    declared = deal.declared if isinstance(deal, TressetteView) else (0, 0)
    points = [view.totals[each] + declared[each] + memory.thirds[each] // 3 for each in (0, 1)]
    is_tie_break = min(view.totals) >= target
    return points[side] >= target and (points[side] > points[1 - side] or not is_tie_break)


def _card_value(deal: DealView, memory: Memory, seat: int, card: int) -> float:
    seats = len(deal.counts)
    trick = [(played.seat, ITALIAN.index[played.card]) for played in deal.trick]
    to_come = [(seat + step) % seats for step in range(1, seats - len(trick))]
    rivals = [other for other in to_come if (other - seat) & 1]
    led_suit = ITALIAN.suit_of[trick[0][1] if trick else card]
    best_card, holder = max(
        ((card_played, player) for player, card_played in trick if led_suit >> card_played & 1), default=(-1, seat)
    )
    if led_suit >> card & 1 and card > best_card:
        best_card, holder = card, seat
    higher = led_suit & -(1 << best_card)
    holds = 1.0
    for rival in rivals:
        holds *= memory.chance_without(rival, higher)
    own_chance = holds if (holder - seat) & 1 == 0 else 0.0
    if len(to_come) > len(rivals):
        # The partner plays later and can take the trick back.
        own_chance += (1 - own_chance) * 0.3
    pot = sum(THIRDS[other] for _, other in trick) + THIRDS[card] + 0.7 * len(to_come)
    return (2 * own_chance - 1) * pot + LEAD_VALUE * own_chance - KEEP_VALUE[ITALIAN.codes[card][0]]
