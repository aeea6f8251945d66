"""Cards without figures: pips and aces."""

from bot.pictures.colours import PAPER, SUIT_COLOURS
from bot.pictures.drawings import drawing

LEFT, MIDDLE, RIGHT = 82, 125, 168
ROWS_OF_THREE = (96, 200, 304)

# Centres of the pips. Seven pips are in rows of two, three and two, so that they can be counted at a glance.
ITALIAN_PIPS: dict[str, tuple[tuple[float, float], ...]] = {
    "2": ((MIDDLE, 122), (MIDDLE, 278)),
    "3": ((MIDDLE, 122), (LEFT, 278), (RIGHT, 278)),
    "4": ((LEFT, 122), (RIGHT, 122), (LEFT, 278), (RIGHT, 278)),
    "5": ((LEFT, 96), (RIGHT, 96), (MIDDLE, 200), (LEFT, 304), (RIGHT, 304)),
    "6": tuple((x, y) for y in ROWS_OF_THREE for x in (LEFT, RIGHT)),
    "7": ((LEFT, 96), (RIGHT, 96), (50, 200), (MIDDLE, 200), (200, 200), (LEFT, 304), (RIGHT, 304)),
}

ACE_HEIGHTS = {"coins": 202, "cups": 270, "swords": 330, "batons": 320}

# by number of pips: two, three or four, five or six, seven
PIP_HEIGHTS = {
    "coins": (100, 80, 78, 68),
    "cups": (125, 101, 95, 86),
    "swords": (146, 128, 102, 98),
    "batons": (142, 124, 101, 96),
}

# Heights of the pips in each column at the sides, and of those in the middle.
FRENCH_COLUMNS = {
    "2": ((), (80, 320)),
    "3": ((), (80, 200, 320)),
    "4": ((80, 320), ()),
    "5": ((80, 320), (200,)),
    "6": ((80, 200, 320), ()),
    "7": ((80, 200, 320), (140,)),
    "8": ((80, 200, 320), (140, 260)),
    "9": ((80, 160, 240, 320), (200,)),
    "T": ((80, 160, 240, 320), (120, 280)),
}
# Centres of the pips. Those of the lower half are upside down.
FRENCH_PIPS = {
    rank: tuple((x, y) for x in (LEFT, RIGHT) for y in sides) + tuple((MIDDLE, y) for y in middle)
    for rank, (sides, middle) in FRENCH_COLUMNS.items()
}


def italian_pips(rank: str, name: str) -> str:
    """Return the pips or the ace of the named suit as SVG groups, in card units."""
    if rank == "A":
        return drawing(f"aces/{name}").place(125, 200, ACE_HEIGHTS[name])
    pip, height = drawing(f"pips/{name}"), PIP_HEIGHTS[name][(int(rank) - 1) // 2]
    return "".join(pip.place(x, y, height) for x, y in ITALIAN_PIPS[rank])


def french_pips(rank: str, name: str) -> str:
    """Return the pips or the ace of the named suit as SVG groups, in card units."""
    sign, colour = drawing(f"signs/{name}"), SUIT_COLOURS[name]
    if rank == "A":
        return "".join(
            sign.place(125, 200, height, colour=ink)
            for height, ink in ((180, colour), (142, PAPER), (132, colour), (48, PAPER))
        )
    return "".join(sign.place(x, y, 54, 180 if y > 200 else 0, colour) for x, y in FRENCH_PIPS[rank])
