"""The colours of the card art that more than one drawing has."""

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
"""The suits' colours on a card, by their English names.

People of every colour vision tell those of a pack apart: tests/bot/pictures/test_colours.py checks it.
"""
