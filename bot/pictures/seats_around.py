"""The layout of four seats around a mat, with all hands open: the viewer below, the partner above."""

from collections.abc import Sequence
from typing import NamedTuple

from bot.pictures.canvas import MARGIN, SMALL, WIDTH, Canvas, height_of
from bot.pictures.scene import Holder, PlayedCard, Scene

MAT, PLAYED = 256, 76  # width of the mat, and of the cards on it
LABEL = 76  # height of a name with its note
GAP = 10


class _Spread(NamedTuple):
    """How a style of cards is spread: cards in a row beside the mat, and the visible height of a card there."""

    across: int
    visible: int


SPREAD = {"classic": _Spread(5, height_of(SMALL)), "easy": _Spread(3, 118)}


def add_seats_around(canvas: Canvas, scene: Scene) -> None:
    """Add the three others, the trick and the viewer's place in it below ``canvas.y``, and move it down."""
    right, partner, left = scene.others
    spread = SPREAD[scene.deck.style]
    side, top = (WIDTH - MAT) // 2 - MARGIN - GAP, canvas.y + GAP
    visible = max(SMALL, spread.visible - 34)
    step = min(SMALL, side // 3)
    x = (WIDTH - SMALL - (len(partner.cards) - 1) * step) // 2
    _add_label(canvas, partner, MARGIN, top, x - MARGIN - GAP)
    for number, card in enumerate(partner.cards):
        canvas.add_card(card.code, x + number * step, top, SMALL, visible)
    top += visible + GAP
    rows = max(-(-len(holder.cards) // spread.across) for holder in (left, right))
    height = max(2 * height_of(PLAYED) + 3 * GAP, LABEL + rows * (spread.visible + GAP))
    canvas.add_box((WIDTH - MAT) // 2, top, MAT, height, "mat", 26)
    for holder, x in ((left, MARGIN), (right, (WIDTH + MAT) // 2 + GAP)):
        _add_label(canvas, holder, x, top, side)
        for start in range(0, len(holder.cards), spread.across):
            y = top + LABEL + start // spread.across * (spread.visible + GAP)
            row = holder.cards[start : start + spread.across]
            step = min(SMALL - 20, (side - SMALL) // max(1, spread.across - 1))
            for number, card in enumerate(row):
                canvas.add_card(card.code, x + number * step, y, SMALL, spread.visible)
    _add_trick(canvas, scene.trick, top, height)
    canvas.y = top + height


def _add_label(canvas: Canvas, holder: Holder, x: int, y: int, width: int) -> None:
    canvas.add_text(holder.name, x, y + 24, 26, "white", "felt", width)
    canvas.add_text(holder.note, x, y + 56, 24, "gold", "felt", width)


def _add_trick(canvas: Canvas, trick: Sequence[PlayedCard], top: int, height: int) -> None:
    """Add the cards in front of their players, and the place for the viewer's card."""
    centre, middle = WIDTH // 2 - PLAYED // 2, top + (height - height_of(PLAYED)) // 2
    shift = PLAYED + GAP // 2
    places = (
        (centre, top + height - GAP - height_of(PLAYED)),
        (centre + shift, middle),
        (centre, top + GAP),
        (centre - shift, middle),
    )
    x, y = places[0]
    canvas.add_box(x, y, PLAYED, height_of(PLAYED), "felt", 8)
    canvas.add_text("?", x + PLAYED // 2, y + height_of(PLAYED) // 2, 40, "gold", "felt", PLAYED, "middle")
    # The viewer plays next, so the last card is that of the player on the left.
    for played_card, (x, y) in zip(reversed(trick), reversed(places), strict=False):
        if played_card.wins:
            canvas.add_box(x - 5, y - 5, PLAYED + 10, height_of(PLAYED) + 10, "gold", 12)
        canvas.add_card(played_card.card.code, x, y, PLAYED)
