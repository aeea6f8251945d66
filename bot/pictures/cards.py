"""The card art: every card and the back of each deck, as self-contained SVG.

All cards are `WIDTH` by `HEIGHT` units, a ratio of 5 to 8. The drawings are in `bot/pictures/art/`. `pips` and
`figures` compose the repeated parts.
"""

from functools import cache

from bot.panel_picture import Deck, Suits
from bot.pictures.colours import OUTLINE, PAPER, SUIT_COLOURS
from bot.pictures.drawings import drawing, glyph
from bot.pictures.figures import CARD_WIDTH, FIGURES, french_figure, italian_figure
from bot.pictures.pips import french_pips, italian_pips
from engine.cards import FRENCH, ITALIAN, Pack

WIDTH, HEIGHT = CARD_WIDTH, 400

PACKS: dict[Suits, Pack] = {"italian": ITALIAN, "french": FRENCH}


@cache
def card_svg(card: str, deck: Deck) -> str:
    """Return a card by the engine's code, for example "3D". Raises KeyError if the deck's pack lacks it."""
    if card not in PACKS[deck.suits].index:
        raise KeyError(card)
    rank, name = card[0], suit_name(card[1], deck.suits)
    if deck.style == "easy":
        # As large as possible, and on the left: that part stays visible if cards overlap.
        letter = glyph(rank).place(90, 104, 170, colour=SUIT_COLOURS[name])
        return _card(_index_group(rank, name, letter, _sign(name, 98, 286, 168)))
    corner = _index(rank, name)
    if deck.suits == "italian":
        face = italian_figure(rank, name) if rank in FIGURES else italian_pips(rank, name)
    else:
        face = french_figure(rank, name) if rank in FIGURES else french_pips(rank, name)
    return _card(f'{face}{corner}<g transform="rotate(180 125 200)">{corner}</g>')


@cache
def back_svg(deck: Deck) -> str:
    return _card(drawing(f"backs/{deck.suits}").place(125, 200, HEIGHT))


def suit_name(suit: str, suits: Suits) -> str:
    """Return a suit's English name, used in file names. Raises ValueError for an unknown letter."""
    pack = PACKS[suits]
    return pack.suit_names[pack.suits.index(suit)]


def _card(content: str) -> str:
    """Put content on paper with a thin outline."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<rect x="1" y="1" width="248" height="398" rx="17" fill="{PAPER}" stroke="{OUTLINE}" stroke-width="2"/>'
        f"{content}</svg>"
    )


def _index(rank: str, name: str) -> str:
    """Return a corner: the rank with the suit's sign below."""
    colour = SUIT_COLOURS[name]
    return _index_group(rank, name, glyph(rank).place(26, 34, 38, colour=colour), _sign(name, 26, 73, 29))


def _sign(name: str, x: float, y: float, height: float) -> str:
    return drawing(f"signs/{name}").place(x, y, height, colour=SUIT_COLOURS[name])


def _index_group(rank: str, name: str, *index: str) -> str:
    """Return an index with data attributes for programs that read the drawing."""
    return f'<g class="index" data-rank="{rank}" data-suit="{name}">{"".join(index)}</g>'


@cache
def sprite_svg(deck: Deck) -> str:
    """Return one SVG with a symbol for each card of a deck and for its back. Ids are card codes and "back"."""
    svg_by_name = {**{code: card_svg(code, deck) for code in PACKS[deck.suits].codes}, "back": back_svg(deck)}
    symbols = []
    for name, svg in svg_by_name.items():
        content = svg[svg.index(">") + 1 : svg.rindex("</svg>")]
        symbols.append(f'<symbol id="{name}" viewBox="0 0 {WIDTH} {HEIGHT}">{content}</symbol>')
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'
