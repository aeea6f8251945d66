"""Contact sheets of the decks, to look at: `python -m tests.bot.pictures.sheets` draws those in docs/decks anew.

With `--width 400 --into FOLDER` the cards are larger: what is drawn is looked at with 90, 160 and 400 pixels a card.
"""

from argparse import ArgumentParser
from io import BytesIO
from pathlib import Path

from PIL import Image
from resvg_py import svg_to_bytes

from bot.picture import DECKS, Deck
from bot.pictures.cards import HEIGHT, PACKS, WIDTH, back_svg, card_svg

DECKS_IN_DOCS = Path(__file__).parents[3] / "docs" / "decks"

GAP = 10
TABLE = "#2f6b4f"


def sheet_svg(deck: Deck) -> str:
    """All cards of a deck, a row a suit, with the back behind the last card."""
    pack = PACKS[deck.suits]
    a_row = len(pack.new) // 4
    drawn = [card_svg(code, deck) for code in pack.new]
    places = [(column, row) for row in range(4) for column in range(a_row)]
    cards = [_placed(card, *place) for card, place in zip(drawn, places, strict=True)]
    cards.append(_placed(back_svg(deck), a_row, 3))
    width, height = (a_row + 1) * (WIDTH + GAP) + GAP, 4 * (HEIGHT + GAP) + GAP
    ground = f'<rect width="{width}" height="{height}" fill="{TABLE}"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">{ground}{"".join(cards)}</svg>'


def _placed(card: str, column: int, row: int) -> str:
    x, y = GAP + column * (WIDTH + GAP), GAP + row * (HEIGHT + GAP)
    return card.replace("<svg ", f'<svg x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" ', 1)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=120, help="of a card, in pixels")
    parser.add_argument("--into", type=Path, default=DECKS_IN_DOCS, help="the folder that the pictures are put into")
    asked = parser.parse_args()
    for deck in DECKS:
        picture = svg_to_bytes(svg_string=sheet_svg(deck), zoom=asked.width / WIDTH, skip_system_fonts=True)
        few_colours = Image.open(BytesIO(bytes(picture))).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        few_colours.save(asked.into / f"{'-'.join(deck)}.png", optimize=True)


if __name__ == "__main__":
    main()
