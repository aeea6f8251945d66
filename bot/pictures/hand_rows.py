"""Divides the viewer's cards into rows."""

from collections.abc import Sequence

from bot.pictures.canvas import CARD, INNER
from bot.pictures.scene import Card, Pile

GAP = 12
MIN_STEP = 46  # visible width of a covered card, enough to read its rank and suit

# Easy cards do not overlap, because their signs fill them. A row has EASY_ACROSS of them, or MAX_ACROSS if that avoids
# a third row: picture and buttons should fit on a phone's screen.
EASY_ACROSS, MAX_ACROSS = 5, 6

EASY_CARD = 212  # width of an easy card in the trick, and in a hand of few cards


def overlapping_rows(slots: Sequence[Card | Pile]) -> list[list[Card | Pile]]:
    """Return the fewest rows with every card's index visible."""
    for count in range(1, len(slots) + 1):
        rows = _split(slots, -(-len(slots) // count))
        if all(row_step(row, CARD) >= MIN_STEP for row in rows):
            return rows
    raise AssertionError("a single card always fits")


def separate_rows(slots: Sequence[Card | Pile]) -> tuple[int, list[list[Card | Pile]]]:
    """Return the width and rows of cards side by side, evenly divided. Few cards are larger."""
    rows = -(-len(slots) // EASY_ACROSS)
    if len(slots) <= 2 * MAX_ACROSS:
        rows = min(rows, 2)
    row_length = -(-len(slots) // rows)
    if len(slots) < 4:
        return EASY_CARD, [list(slots)]
    return (INNER + GAP) // (EASY_ACROSS if rows > 2 else max(4, row_length)) - GAP, _split(slots, row_length)


def _split(slots: Sequence[Card | Pile], size: int) -> list[list[Card | Pile]]:
    return [list(slots[start : start + size]) for start in range(0, len(slots), size)]


def row_width(row: Sequence[Card | Pile], step: int, width: int) -> int:
    piles = sum(isinstance(slot, Pile) for slot in row)
    cards = (len(row) - piles) * step
    return cards + piles * (width + GAP) - GAP if piles else cards + width - step


def row_step(row: Sequence[Card | Pile], width: int) -> int:
    """Return the distance between a row's cards.

    Packets are side by side after the cards. The distance is negative if there is no room.
    """
    piles = sum(isinstance(slot, Pile) for slot in row)
    in_hand = len(row) - piles
    if piles:
        room = INNER - piles * (width + GAP) + GAP
        return room // in_hand if in_hand else room
    return (INNER - width) // (in_hand - 1) if in_hand > 1 else width
