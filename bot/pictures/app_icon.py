"""The icon of the installed site: an ace in front of a card's back, on felt."""

from functools import cache

import resvg_py

from bot.panel_picture import DECKS
from bot.pictures.cards import HEIGHT, WIDTH, back_svg, card_svg
from bot.pictures.colours import COLOURS

SIZE = 512  # units of the drawing
CORNER = 96  # radius of the corners; phones that cut icons into their own shape get a full square
CARD = 192  # width of a card: both stay inside the circle that every phone shows
# The corner of each card and its turn in degrees.
BEHIND, IN_FRONT = (194, 98, 12), (126, 104, -8)


@cache
def app_icon(pixels: int, *, is_square: bool = False) -> bytes:
    """Return the icon as a PNG. With ``is_square`` its corners are not rounded."""
    deck = DECKS[0]
    cards = _place(back_svg(deck), *BEHIND) + _place(card_svg("AD", deck), *IN_FRONT)
    red, green, blue = COLOURS["felt"]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}">'
        f'<rect width="{SIZE}" height="{SIZE}" rx="{0 if is_square else CORNER}" fill="rgb({red},{green},{blue})"/>'
        f"{cards}</svg>"
    )
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=pixels, skip_system_fonts=True))


def _place(card: str, x: int, y: int, turn: int) -> str:
    height = CARD * HEIGHT // WIDTH
    positioned_card = card.replace("<svg ", f'<svg x="{x}" y="{y}" width="{CARD}" height="{height}" ', 1)
    return f'<g transform="rotate({turn} {x + CARD // 2} {y + height // 2})">{positioned_card}</g>'
