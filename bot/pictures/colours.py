"""Colours that several drawings of the card art share."""

INK, PAPER = "#2b1b17", "#fdf8ec"

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
"""Colours of suits on cards, by English name.

They are distinct for every kind of colour vision: tests/bot/pictures/test_colours.py checks this.
"""
