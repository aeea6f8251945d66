"""Colours of the cards and of the pictures around them. A figure's clothes are in `bot.pictures.figures`."""

from typing import Literal

INK, PAPER = "#2b1b17", "#fdf8ec"
OUTLINE = "#8d8071"  # visible on light and dark backgrounds
FIGURE_GROUND = "#f7eed8"  # behind French figures

# Colours of suits on cards, by English name. They are distinct for every kind of colour vision.
SUIT_COLOURS = {
    "coins": "#c27f00",
    "cups": "#b0101a",
    "swords": "#1d2f86",
    "batons": "#24755a",
    "clubs": "#24755a",
    "diamonds": "#d86f10",
    "hearts": "#a80c1c",
    "spades": "#181b21",
}

Colour = Literal["felt", "mat", "strip", "gold", "sky", "white", "soft", "ink"]
RGB = tuple[int, int, int]

COLOURS: dict[Colour, RGB] = {
    "felt": (23, 84, 62),
    "mat": (32, 102, 76),
    "strip": (12, 51, 40),
    "gold": (245, 196, 66),
    "sky": (140, 200, 255),
    "white": (255, 255, 255),
    "soft": (176, 214, 196),
    "ink": (43, 27, 23),
}

# text colours, each with its ground
TEXT_COLOURS: tuple[tuple[Colour, Colour], ...] = (
    ("white", "felt"),
    ("gold", "felt"),
    ("sky", "felt"),
    ("soft", "felt"),
    ("white", "mat"),
    ("soft", "mat"),
    ("gold", "mat"),
    ("sky", "mat"),
    ("white", "strip"),
    ("gold", "strip"),
    ("soft", "strip"),
    ("ink", "gold"),
)
