"""The card art: any card of any deck, and a back for each, as SVG that needs nothing from outside.

Cards are `WIDTH` by `HEIGHT` units, 5 to 8, in every deck. Drawings are in `bot/pictures/art/`; what is repeated, such
as pips, indices and liveries, is put together by the modules beside this one.
"""

from functools import cache

from bot.picture import Deck, Suits
from bot.pictures.colours import PAPER, SUIT_COLOURS
from bot.pictures.drawings import drawing, glyph
from bot.pictures.figures import CARD_WIDTH, FIGURES, french_figure, italian_figure
from bot.pictures.pips import french_pips, italian_pips
from engine.cards import FRENCH, ITALIAN, Pack

WIDTH, HEIGHT = CARD_WIDTH, 400

PACKS: dict[Suits, Pack] = {"italian": ITALIAN, "french": FRENCH}


@cache
def card_svg(card: str, deck: Deck) -> str:
    """A card by the engine's code for it, such as "3D"; KeyError for a code that is not in the deck's pack."""
    if card not in PACKS[deck.suits].index:
        raise KeyError(card)
    rank, name = card[0], suit_name(card[1], deck.suits)
    if deck.style == "easy":
        return _card(_easy_face(rank, name))
    corner = _index(rank, name)
    return _card(f'{_face(rank, name, deck.suits)}{corner}<g transform="rotate(180 125 200)">{corner}</g>')


@cache
def back_svg(deck: Deck) -> str:
    """The back of every card of a deck."""
    return _card(drawing(f"backs/{deck.suits}").place(125, 200, HEIGHT))


def suit_name(suit: str, suits: Suits) -> str:
    """The English name of a suit by its letter, as drawings are called; ValueError for no suit of these."""
    pack = PACKS[suits]
    return pack.suit_names[pack.suits.index(suit)]


def _card(content: str) -> str:
    """A sheet of paper with a thin outline, so that it stands out on light and on dark."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<rect x="1" y="1" width="248" height="398" rx="17" fill="{PAPER}" stroke="#8d8071" stroke-width="2"/>'
        f"{content}</svg>"
    )


def _face(rank: str, name: str, suits: Suits) -> str:
    if suits == "italian":
        return italian_figure(rank, name) if rank in FIGURES else italian_pips(rank, name)
    return french_figure(rank, name) if rank in FIGURES else french_pips(rank, name)


def _index(rank: str, name: str) -> str:
    """A corner's rank, and the suit's sign below it."""
    colour = SUIT_COLOURS[name]
    return _index_group(rank, name, glyph(rank).place(26, 34, 38, colour=colour), _sign(name, 26, 73, 29))


def _easy_face(rank: str, name: str) -> str:
    """A rank and below it a sign, as large as both can be, on the left: there they are seen where cards overlap."""
    letter = glyph(rank).place(90, 104, 170, colour=SUIT_COLOURS[name])
    return _index_group(rank, name, letter, _sign(name, 98, 286, 168))


def _sign(name: str, x: float, y: float, height: float) -> str:
    return drawing(f"signs/{name}").place(x, y, height, colour=SUIT_COLOURS[name])


def _index_group(rank: str, name: str, *index: str) -> str:
    """An index with what it says, for those who read the drawing instead of looking at it."""
    return f'<g class="index" data-rank="{rank}" data-suit="{name}">{"".join(index)}</g>'


@cache
def sprite_svg(deck: Deck) -> str:
    """All cards of a deck and their back as one drawing, in which each is a symbol by its code or "back"."""
    drawn = {**{code: card_svg(code, deck) for code in PACKS[deck.suits].codes}, "back": back_svg(deck)}
    symbols = (
        f'<symbol id="{name}" viewBox="0 0 {WIDTH} {HEIGHT}">{_inner_svg(svg)}</symbol>' for name, svg in drawn.items()
    )
    return f'<svg xmlns="http://www.w3.org/2000/svg">{"".join(symbols)}</svg>'


def _inner_svg(svg: str) -> str:
    """What a drawing is made of, without its outermost element."""
    return svg[svg.index(">") + 1 : svg.rindex("</svg>")]
