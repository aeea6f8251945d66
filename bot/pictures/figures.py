"""Court cards: each rank has a body with a head, a hat and the suit's sign in one hand.

The drawings in `art/figures/` have the livery of coins. For other suits the colours are replaced. Italian figures are
drawn in full, French ones to the waist and twice.
"""

from typing import NamedTuple

from bot.pictures.colours import FIGURE_GROUND, INK, SUIT_COLOURS
from bot.pictures.drawings import drawing

CARD_WIDTH = 250


class PlacedDrawing(NamedTuple):
    """A drawing of `art/figures/`, its centre on the card and its height. The livery fills in the {} in its name."""

    name: str
    x: float
    y: float
    height: float


class Figure(NamedTuple):
    """Drawings from back to front. The sign is at ``hand``, behind ``arm``."""

    body: tuple[PlacedDrawing, ...]
    arm: PlacedDrawing
    hand: tuple[float, float]


def _french_figure(*body: PlacedDrawing) -> Figure:
    return Figure((*body, PlacedDrawing("rod-{rod}", 78, 116.5, 167)), PlacedDrawing("fist", 78, 116.5, 167), (76, 60))


# figures by rank, Italian and French
FIGURES = {
    "F": Figure(
        (
            PlacedDrawing("fante", 120, 200, 400),
            PlacedDrawing("head", 115, 98, 80),
            PlacedDrawing("face-{face}", 115, 98, 80),
            PlacedDrawing("hat-{hat}", 115, 62, 60),
        ),
        PlacedDrawing("raised-arm", 176, 164, 80),
        (193, 128),
    ),
    "C": Figure(
        (
            PlacedDrawing("horse", 112, 204, 384),
            PlacedDrawing("rider", 112, 204, 384),
            PlacedDrawing("head", 128, 129, 74),
            PlacedDrawing("face-{face}", 128, 129, 74),
            PlacedDrawing("hat-{hat}", 128, 96, 57),
        ),
        PlacedDrawing("raised-arm", 184, 197, 74),
        (200, 162),
    ),
    "R": Figure(
        (
            PlacedDrawing("re", 118, 200, 400),
            PlacedDrawing("head-re", 113, 122, 120),
            PlacedDrawing("crown-{crown}", 113, 63, 58),
        ),
        PlacedDrawing("raised-arm", 176, 170, 80),
        (193, 134),
    ),
    "J": _french_figure(
        PlacedDrawing("jack", 131, 116.5, 167),
        PlacedDrawing("head", 134, 103, 82),
        PlacedDrawing("face-{face}", 134, 103, 82),
        PlacedDrawing("hat-{hat}", 134, 66, 59),
    ),
    "Q": _french_figure(
        PlacedDrawing("queen", 131, 116.5, 167),
        PlacedDrawing("head-queen", 134, 98, 96),
        PlacedDrawing("queen-{queen}", 134, 93.2, 144),
    ),
    "K": _french_figure(
        PlacedDrawing("king", 131, 116.5, 167),
        PlacedDrawing("head-re", 134, 106, 112),
        PlacedDrawing("crown-{crown}", 134, 51, 54),
    ),
}

# height of a held Italian sign, and how far its centre is above the hand
HELD = {"coins": (66, 34), "cups": (84, 31), "swords": (136, 44), "batons": (128, 34)}


class Livery(NamedTuple):
    """The look of a suit's people and horse.

    ``colours`` are cloth, lining, hair and beard, and for Italian suits the horse's coat, shade and mane.
    French figures hold a ``rod`` next to their sign, and their ``queen`` has her own headdress. They look left, towards
    the sign. With ``looks_right`` they are mirrored.
    """

    hat: str
    face: str
    crown: str
    colours: tuple[str, ...]
    rod: str = ""
    queen: str = ""
    looks_right: bool = False


# by suit name; the drawings have the colours of coins
LIVERIES = {
    "coins": Livery(
        "beret", "shaven", "points", ("#e8a020", "#a8321f", "#5a3216", "#e9e2d6", "#f4ece0", "#c9b8a6", "#3a2a22")
    ),
    "cups": Livery(
        "turban", "goatee", "arches", ("#b0101a", "#e9b440", "#2f2420", "#5a3a22", "#a5683a", "#7d4b27", "#2b1b18")
    ),
    "swords": Livery(
        "helmet", "moustache", "towers", ("#2b459f", "#b4c0da", "#d9a441", "#a9adb3", "#7d8596", "#5b6272", "#23252c")
    ),
    "batons": Livery(
        "hunter", "beard", "leaves", ("#24755a", "#d9822b", "#a8481f", "#b5602e", "#dcae70", "#b5844a", "#fbf3e0")
    ),
    "clubs": Livery(
        "hunter", "goatee", "leaves", ("#24755a", "#e2c46c", "#a8481f", "#b5602e"), rod="staff", queen="wreath"
    ),
    "diamonds": Livery(
        "beret",
        "shaven",
        "points",
        ("#d86f10", "#2f5d8a", "#5a3216", "#e9e2d6"),
        rod="sceptre",
        queen="hennin",
        looks_right=True,
    ),
    "hearts": Livery(
        "turban", "shaven", "arches", ("#a80c1c", "#e9b440", "#d9a441", "#c98f3a"), rod="rose", queen="tiara"
    ),
    "spades": Livery(
        "helmet",
        "moustache",
        "towers",
        ("#2f3857", "#b4c0da", "#2a2426", "#4a4448"),
        rod="sword",
        queen="veil",
        looks_right=True,
    ),
}


def italian_figure(rank: str, name: str) -> str:
    """Return a figure of the named suit as SVG groups, in card units."""
    figure = FIGURES[rank]
    height, sign_offset = HELD[name]
    sign = drawing(f"pips/{name}").place(figure.hand[0], figure.hand[1] - sign_offset, height)
    return _body(figure, name) + sign + _dress(figure.arm, name)


def french_figure(rank: str, name: str) -> str:
    """Return a figure of the named suit, once upright and once upside down, with a band between them."""
    figure, colour = FIGURES[rank], SUIT_COLOURS[name]
    x, y = figure.hand
    half = _body(figure, name) + _dress(figure.arm, name)
    if LIVERIES[name].looks_right:
        half, x = f'<g transform="matrix(-1 0 0 1 {CARD_WIDTH} 0)">{half}</g>', CARD_WIDTH - x
    half += drawing(f"signs/{name}").place(x, y, 37, colour=colour)
    frame = 'x="50" y="22" width="150" height="356"'
    return (
        f'<rect {frame} fill="{FIGURE_GROUND}"/>{half}<g transform="rotate(180 125 200)">{half}</g>'
        f'{drawing("figures/band").place(125, 200, 16, colour=colour)}<rect {frame} fill="none" stroke="{INK}"/>'
    )


def _body(figure: Figure, name: str) -> str:
    return "".join(_dress(placed_drawing, name) for placed_drawing in figure.body)


def _dress(placed_drawing: PlacedDrawing, name: str) -> str:
    livery = LIVERIES[name]
    template, x, y, height = placed_drawing
    text = drawing(f"figures/{template.format_map(livery._asdict())}").place(x, y, height)
    for original_colour, new_colour in zip(LIVERIES["coins"].colours, livery.colours, strict=False):
        text = text.replace(original_colour, new_colour)
    return text
