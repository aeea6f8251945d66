"""The suits' colours are distinct for every kind of colour vision and contrast with the card."""

from itertools import combinations

import pytest
from coloraide import Color

from bot.pictures.cards import PACKS
from bot.pictures.colours import PAPER, SUIT_COLOURS
from engine.cards import Pack

# Normal vision, and vision that lacks one kind of cone, simulated in three ways:
# - brettel: Brettel, Viénot and Mollon, 1997
# - vienot: Viénot, Brettel and Mollon, 1999
# - machado: Machado, Oliveira and Fernandes, 2009, at severity 1
VISIONS = [
    None,
    *[(deficiency, method) for deficiency in ("protan", "deutan", "tritan") for method in ("machado", "brettel")],
    # Viénot's method does not cover tritanopia.
    *[(deficiency, "vienot") for deficiency in ("protan", "deutan")],
]
# Pairs of CIELAB colours and their distance, from Sharma, Wu and Dalal, "The CIEDE2000 color-difference formula:
# implementation notes, supplementary test data, and mathematical observations", 2005, table 1.
SHARMA = [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
    ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0),
    ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
    ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
    ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((90.8027, -2.0831, 1.441), (91.1528, -1.6435, 0.0447), 1.4441),
    ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
]


def simulate_vision(colour: str, vision: tuple[str, str] | None) -> Color:
    return Color(colour).filter(vision[0], 1, method=vision[1]) if vision else Color(colour)


def distance(first: Color, second: Color) -> float:
    return float(first.delta_e(second, method="2000"))


@pytest.mark.parametrize(("first", "second", "published"), SHARMA)
def test_distances_agree_with_published_values(
    first: tuple[float, ...], second: tuple[float, ...], published: float
) -> None:
    computed = distance(Color("lab-d65", list(first)), Color("lab-d65", list(second)))
    assert computed == pytest.approx(published, abs=0.0001)


def test_protanopia_confuses_red_and_green() -> None:
    assert distance(simulate_vision("#c8202f", None), simulate_vision("#1d5c2e", None)) > 50
    assert (
        distance(simulate_vision("#c8202f", ("protan", "machado")), simulate_vision("#1d5c2e", ("protan", "machado")))
        < 5
    )


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("vision", VISIONS, ids=lambda vision: "-".join(vision or ("trichromat",)))
def test_suit_colours_differ_by_at_least_15(pack: Pack, vision: tuple[str, str] | None) -> None:
    colours = {name: SUIT_COLOURS[name] for name in pack.suit_names}
    for first, second in combinations(colours, 2):
        difference = distance(simulate_vision(colours[first], vision), simulate_vision(colours[second], vision))
        assert difference >= 15, (
            f"{first} and {second}: {difference:.1f}; choose other colours in bot/pictures/colours.py"
        )


@pytest.mark.parametrize("name", SUIT_COLOURS)
def test_suit_colours_contrast_with_the_card(name: str) -> None:
    assert Color(SUIT_COLOURS[name]).contrast(PAPER) >= 3
