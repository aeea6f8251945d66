"""Greedy play at Spades: draft high cards and spades, or low cards after a double nil, and make exactly the bid."""

from collections.abc import Sequence
from math import floor
from random import Random

from ..cards import FRENCH
from ..game import MoveEntry
from ..spades import SPADE_SUIT
from ..views import SpadesView
from .memory import Memory, remember

HIGH = {"A": 0.95, "K": 0.75, "Q": 0.45, "J": 0.2}
WORTH_KEEPING = 0.4
DISCARDS = 26  # cards discarded in the draft; exchanged cards are replaced from these


def trick_worth(code: str) -> float:
    """Return the number of tricks that a card is likely to win."""
    if code[1] == "S":
        return 0.55 + 0.45 * FRENCH.ranks.index(code[0]) / 12
    return HIGH.get(code[0], 0.05)


def choose_draft(worth: float, usual: float, *, blind: bool) -> str:
    """Return "keep" if the drawn card is worth at least the ``usual`` one, else "pass"; the opposite if ``blind``."""
    return "keep" if (worth >= usual) != blind else "pass"


def likely_tricks(hand: Sequence[str]) -> float:
    return sum(map(trick_worth, hand))


def choose_move(deal: SpadesView, history: Sequence[MoveEntry], seat: int, moves: Sequence[str], random: Random) -> str:
    hand = deal.hand or ()
    match deal.phase:
        case "draft" if deal.drawn:
            return choose_draft(trick_worth(deal.drawn), WORTH_KEEPING, blind=deal.bids[seat] == "double nil")
        case "draft":
            return "draw"
        case "exchange":
            return " ".join(["exchange", *_choose_exchange(hand, deal.discarded)])
        case "bid":
            likely = likely_tricks(hand)
            return f"bid {0 if likely < 1.2 else max(1, floor(likely - 0.3))}"
        case _:
            return f"play {FRENCH.codes[_choose_card(deal, remember(deal, history, seat), seat, moves)]}"


def _choose_exchange(hand: Sequence[str], discarded: Sequence[str]) -> list[str]:
    """Return up to three cards that are likelier to win a trick than the draft's average discard.

    Chance replaces them with discards. Some discards are this seat's own; the rest are unseen.
    """
    unseen = [code for code in FRENCH.codes if code not in hand and code not in discarded]
    unseen_mean = likely_tricks(unseen) / len(unseen)
    mean = (likely_tricks(discarded) + (DISCARDS - len(discarded)) * unseen_mean) / DISCARDS
    return sorted(sorted((code for code in hand if trick_worth(code) > mean), key=trick_worth)[-3:])


def _choose_card(deal: SpadesView, memory: Memory, seat: int, moves: Sequence[str]) -> int:
    playable = [FRENCH.index[move.split(" ")[1]] for move in moves if move.startswith("play ")]
    bid = deal.bids[seat]
    wants = isinstance(bid, int) and deal.tricks[seat] < bid
    if not deal.trick:

        def lead_value(card: int) -> tuple[float, float]:
            unbeaten = memory.chance_without(1 - seat, FRENCH.suit_of[card] & -(1 << card))
            return round(unbeaten, 1), -_strength(card)

        return (max if wants else min)(playable, key=lead_value)
    led_card = FRENCH.index[deal.trick[0].card]
    winning = [card for card in playable if _beats(card, led_card)]
    losing = [card for card in playable if not _beats(card, led_card)]
    if wants and winning:
        return min(winning)
    if losing:
        return min(losing, key=_strength) if wants else max(losing, key=_strength)
    # Every card wins, so play the highest, which would otherwise win another unwanted trick later.
    return max(winning)


def _beats(card: int, led_card: int) -> bool:
    return card > led_card and bool(1 << card & (FRENCH.suit_of[led_card] | SPADE_SUIT))


def _strength(card: int) -> float:
    return trick_worth(FRENCH.codes[card]) + card % 13 / 100
