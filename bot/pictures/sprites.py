"""Cards as pixels, each rendered once in the palette that all pictures of its deck share.

Pictures consist of palette indices, so they are small and quick to write.
"""

from functools import lru_cache
from io import BytesIO

import resvg_py
from cachetools import LRUCache, cached
from PIL import Image

from bot.panel_picture import DECKS, Deck
from bot.pictures.canvas import CARD, height_of
from bot.pictures.cards import PACKS, back_svg, card_svg
from bot.pictures.colours import COLOURS, RGB, TEXT_COLOURS, Colour

SHADES = 8  # steps from a ground's colour to a text's, for smooth edges

DIM_SHARE = 0.42  # how much of the felt shows through a card that cannot be played
BRIGHT, DIM = 64, 16  # palette colours for bright and for dim cards; fewer make smaller pictures
SAMPLE = 60  # width of the cards that the palette is computed from
SPRITES_BYTES = 14 * 1024 * 1024  # cache of cards: 77 kB for a large one, 11 kB for a small one


class Palette:
    """The palette of a deck's pictures: the fixed colours first, then the cards' colours, at most 256 in all.

    ``numbers`` are the indices of the fixed colours. ``shades`` has the first of `SHADES` indices from a ground's
    colour to a text's, by the names of the text's colour and the ground's. ``dimmed`` has, by index, the index of the
    dim colour.
    """

    def __init__(self, deck: Deck) -> None:
        self.numbers = {name: number for number, name in enumerate(COLOURS)}
        self.shades: dict[tuple[Colour, Colour], int] = {}
        colours = list(COLOURS.values())
        for ink, ground in TEXT_COLOURS:
            self.shades[ink, ground] = len(colours)
            colours += [_mix(COLOURS[ground], COLOURS[ink], step / (SHADES - 1)) for step in range(SHADES)]
        sheet = _sheet(deck)
        colours += _colours_of(sheet, BRIGHT) + _colours_of(_dim(sheet), DIM)
        self.flat = bytes(part for colour in colours for part in colour)
        self._image = Image.new("P", (1, 1))
        self._image.putpalette(self.flat)
        swatches = Image.new("RGB", (len(colours), 1))
        swatches.putdata(colours)
        self.dimmed = [*self.apply(_dim(swatches)).tobytes(), *[0] * (256 - len(colours))]

    def apply(self, image: Image.Image) -> Image.Image:
        return image.quantize(palette=self._image, dither=Image.Dither.NONE)


@lru_cache
def palette(deck: Deck) -> Palette:
    return Palette(deck)


@cached(LRUCache(SPRITES_BYTES, getsizeof=lambda image: image.width * image.height))
def sprite(deck: Deck, code: str, width: int) -> Image.Image:
    """Return a card, or the back for an empty ``code``, as palette indices. ``width`` is in pixels."""
    card = raster(deck, code, width)
    opaque_card = Image.new("RGB", card.size, COLOURS["ink"])
    opaque_card.paste(card, mask=card.getchannel("A"))
    return palette(deck).apply(opaque_card)


@lru_cache
def mask(width: int) -> Image.Image:
    """Return the mask of a card's rounded corners, the same for all cards."""
    return raster(DECKS[0], "", width).getchannel("A").point(lambda alpha: 255 * (alpha > 127), "1")


def warm_up() -> None:
    """Render the large cards of the most common deck."""
    for code in ("", *PACKS[DECKS[0].suits].codes):
        sprite(DECKS[0], code, CARD)


def raster(deck: Deck, code: str, width: int) -> Image.Image:
    """Render a card, or the back for an empty ``code``, in true colour."""
    svg = card_svg(code, deck) if code else back_svg(deck)
    png = resvg_py.svg_to_bytes(svg_string=svg, width=width, skip_system_fonts=True)
    return Image.open(BytesIO(bytes(png))).convert("RGBA")


def _dim(image: Image.Image) -> Image.Image:
    return Image.blend(image, Image.new("RGB", image.size, COLOURS["felt"]), DIM_SHARE)


def _sheet(deck: Deck) -> Image.Image:
    """Return all cards of a deck side by side."""
    codes = ("", *PACKS[deck.suits].codes)
    sheet = Image.new("RGB", (len(codes) * SAMPLE, height_of(SAMPLE)), COLOURS["ink"])
    for number, code in enumerate(codes):
        card = raster(deck, code, SAMPLE)
        sheet.paste(card, (number * SAMPLE, 0), card.getchannel("A"))
    return sheet


def _colours_of(image: Image.Image, count: int) -> list[RGB]:
    """Return at most ``count`` colours that best represent an image."""
    quantized = image.quantize(count, method=Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE)
    channels = quantized.getpalette() or []
    return [(channels[start], channels[start + 1], channels[start + 2]) for start in range(0, len(channels), 3)][:count]


def _mix(first_colour: RGB, second_colour: RGB, share: float) -> RGB:
    red, green, blue = (
        round(first + (second - first) * share) for first, second in zip(first_colour, second_colour, strict=True)
    )
    return red, green, blue
