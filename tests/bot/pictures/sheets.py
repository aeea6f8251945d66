"""Contact sheets of the decks. `python -m tests.bot.pictures.sheets` draws the pictures in docs/decks.

Use `--width` and `--into FOLDER` to draw larger cards. Inspect changed art with cards 90, 160 and 400 pixels wide.
"""

from argparse import ArgumentParser
from io import BytesIO
from pathlib import Path

from PIL import Image
from resvg_py import svg_to_bytes

from bot.panel_picture import DECKS, Deck
from bot.pictures.cards import HEIGHT, PACKS, WIDTH, back_svg, card_svg
from tests.paths import ROOT

DECKS_IN_DOCS = ROOT / "docs" / "decks"

GAP = 10
TABLE = "#2f6b4f"


def sheet_svg(deck: Deck) -> str:
    """Draw all cards of a deck, one row per suit, with the back after the last card."""
    pack = PACKS[deck.suits]
    columns = len(pack.new) // 4
    card_svgs = [card_svg(code, deck) for code in pack.new]
    places = [(column, row) for row in range(4) for column in range(columns)]
    cards = [_place_card(card, *place) for card, place in zip(card_svgs, places, strict=True)]
    cards.append(_place_card(back_svg(deck), columns, 3))
    width, height = (columns + 1) * (WIDTH + GAP) + GAP, 4 * (HEIGHT + GAP) + GAP
    background = f'<rect width="{width}" height="{height}" fill="{TABLE}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">{background}{"".join(cards)}</svg>'


def _place_card(card: str, column: int, row: int) -> str:
    x, y = GAP + column * (WIDTH + GAP), GAP + row * (HEIGHT + GAP)
    return card.replace("<svg ", f'<svg x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" ', 1)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=120, help="width of a card in pixels")
    parser.add_argument("--into", type=Path, default=DECKS_IN_DOCS, help="folder for the pictures")
    options = parser.parse_args()
    for deck in DECKS:
        picture = svg_to_bytes(svg_string=sheet_svg(deck), zoom=options.width / WIDTH, skip_system_fonts=True)
        few_colours = Image.open(BytesIO(bytes(picture))).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few_colours.save(options.into / f"{'-'.join(deck)}.png", optimize=True)


if __name__ == "__main__":
    main()
