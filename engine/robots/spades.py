"""Greedy play at Spades for two: draft high cards and spades, or low ones after a double nil, bid the likely tricks,
then make the bid and no more.
"""

from collections.abc import Sequence
from math import floor
from random import Random

from engine.cards import FRENCH
from engine.game import MoveEntry
from engine.robots.memory import Memory, remember
from engine.spades import SPADE_SUIT
from engine.views import SpadesView

HIGH = {"A": 0.95, "K": 0.75, "Q": 0.45, "J": 0.2}
WORTH_KEEPING = 0.4
DISCARDS = 26
"""How many cards the draft throws away, of which an exchange gives."""


def trick_worth(code: str) -> float:
    """How many tricks a card is likely to win."""
    if code[1] == "S":
        return 0.55 + 0.45 * FRENCH.ranks.index(code[0]) / 12
    return HIGH.get(code[0], 0.05)


def draft(worth: float, usual: float, *, blind: bool) -> str:
    """What to do with a drawn card, by how many tricks it is likely to win and how many the next one is: "keep" what
    wins more, or less after a double nil, else "pass".
    """
    return "keep" if (worth >= usual) != blind else "pass"


def likely_tricks(hand: Sequence[str]) -> float:
    """How many tricks these cards are likely to win, in a hand of thirteen."""
    return sum(map(trick_worth, hand))


def choose(deal: SpadesView, history: Sequence[MoveEntry], seat: int, moves: Sequence[str], random: Random) -> str:
    """A move for the seat whose turn it is."""
    hand = deal.hand or ()
    match deal.phase:
        case "draft" if deal.drawn:
            return draft(trick_worth(deal.drawn), WORTH_KEEPING, blind=deal.bids[seat] == "double nil")
        case "draft":
            return "draw"
        case "exchange":
            return " ".join(["exchange", *_to_exchange(hand, deal.discarded)])
        case "bid":
            return f"bid {_bid(hand)}"
        case _:
            return f"play {FRENCH.codes[_card(deal, remember(deal, history, seat), seat, moves)]}"


def _to_exchange(hand: Sequence[str], thrown: Sequence[str]) -> list[str]:
    """Up to three cards that are likelier to win a trick than what comes for them on average, out of the draft's
    discards: what this seat threw away, and of the others, for all that it knows, any that it does not hold.
    """
    unseen = [code for code in FRENCH.codes if code not in hand and code not in thrown]
    others = likely_tricks(unseen) / len(unseen)
    mean = (likely_tricks(thrown) + (DISCARDS - len(thrown)) * others) / DISCARDS
    return sorted(sorted((code for code in hand if trick_worth(code) > mean), key=trick_worth)[-3:])


def _bid(hand: Sequence[str]) -> int:
    likely = likely_tricks(hand)
    return 0 if likely < 1.2 else max(1, floor(likely - 0.3))


def _card(deal: SpadesView, memory: Memory, seat: int, moves: Sequence[str]) -> int:
    playable = [FRENCH.index[move.split(" ")[1]] for move in moves if move.startswith("play ")]
    bid = deal.bids[seat]
    wants = isinstance(bid, int) and deal.tricks[seat] < bid
    if not deal.trick:
        return _lead(playable, memory, seat, wants)
    led = FRENCH.index[deal.trick[0].card]
    winning = [card for card in playable if _beats(card, led)]
    losing = [card for card in playable if not _beats(card, led)]
    if wants and winning:
        return min(winning)
    if losing:
        return min(losing, key=_strength) if wants else max(losing, key=_strength)
    # Every card wins, so let the dearest go: it would win another trick later.
    return max(winning)


def _beats(card: int, led: int) -> bool:
    return card > led and bool(1 << card & (FRENCH.suit_of[led] | SPADE_SUIT))


def _strength(card: int) -> float:
    return trick_worth(FRENCH.codes[card]) + card % 13 / 100


def _lead(playable: list[int], memory: Memory, seat: int, wants: bool) -> int:
    def chance(card: int) -> float:
        return memory.chance_without(1 - seat, FRENCH.suit_of[card] & -(1 << card))

    if wants:
        return max(playable, key=lambda card: (round(chance(card), 1), -_strength(card)))
    return min(playable, key=lambda card: (round(chance(card), 1), -_strength(card)))
