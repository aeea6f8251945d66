"""The card art: every card of every deck has its own drawing with its rank and suit."""

import re
from pathlib import Path
from xml.etree.ElementTree import fromstring as parse_xml

import pytest

from bot.panel_picture import DECKS, Deck, Suits
from bot.pictures import cards
from bot.pictures.cards import PACKS, back_svg, card_svg, suit_name
from bot.pictures.colours import SUIT_COLOURS
from bot.pictures.drawings import drawing, glyph
from bot.pictures.figures import FIGURES, LIVERIES
from bot.words.wording import IN_FRENCH
from tests.bot.pictures.sheets import DECKS_IN_DOCS, sheet_svg

SVG = "{http://www.w3.org/2000/svg}"
EVERY_DECK = pytest.mark.parametrize("deck", DECKS, ids="-".join)
ART = Path(cards.__file__).with_name("art")
CLASSIC = {deck.suits: deck for deck in DECKS if deck.style == "classic"}


def draw_cards(deck: Deck) -> dict[str, str]:
    return {code: card_svg(code, deck) for code in PACKS[deck.suits].codes} | {"back": back_svg(deck)}


def find_paths(text: str) -> set[str]:
    return set(re.findall(r' d="([^"]+)"', text))


@pytest.mark.parametrize("deck", CLASSIC.values(), ids="-".join)
@pytest.mark.parametrize("rank", FIGURES)
def test_figures_of_a_rank_differ_by_more_than_colours(rank: str, deck: Deck) -> None:
    """Each figure has clothes, a face or an object that the others of its rank do not have."""
    paths_of_figures = {code: find_paths(text) for code, text in draw_cards(deck).items() if code[0] == rank and text}
    for code, paths in paths_of_figures.items():
        signs = find_paths(drawing(f"signs/{suit_name(code[1], deck.suits)}").content)
        other_paths: set[str] = set().union(*(other for name, other in paths_of_figures.items() if name != code))
        assert len(paths - other_paths - signs) >= 4, code


@EVERY_DECK
def test_cards_and_back_are_5_by_8(deck: Deck) -> None:
    for code, text in draw_cards(deck).items():
        root = parse_xml(text)
        assert root.tag == f"{SVG}svg", code
        assert root.get("viewBox") == "0 0 250 400", code


@EVERY_DECK
def test_each_card_shows_its_rank_and_suit_in_a_corner(deck: Deck) -> None:
    for code in PACKS[deck.suits].codes:
        rank, suit = code[0], code[1]
        name = suit_name(suit, deck.suits)
        [index, *others] = parse_xml(card_svg(code, deck)).iterfind(f".//{SVG}g[@class='index']")
        assert len(others) == (deck.style == "classic"), code
        assert (index.get("data-rank"), index.get("data-suit")) == (rank, name)
        paths = {path.get("d") for path in index.iter(f"{SVG}path")}
        assert find_paths(glyph(rank).content) | find_paths(drawing(f"signs/{name}").content) == paths, code
        assert {group.get("color") for group in index.iterfind(f"{SVG}g")} == {SUIT_COLOURS[name]}


def test_all_cards_look_different() -> None:
    faces = [card_svg(code, deck) for deck in DECKS for code in PACKS[deck.suits].codes]
    backs = [back_svg(deck) for deck in CLASSIC.values()]
    assert len(faces) == 2 * (40 + 52)
    assert len({*faces, *backs}) == len(faces) + len(backs)


@EVERY_DECK
def test_card_svg_refers_to_no_other_file(deck: Deck) -> None:
    for code, text in draw_cards(deck).items():
        root = parse_xml(text)
        tags = {str(element.tag).removeprefix(SVG) for element in root.iter()}
        assert tags <= {"svg", "g", "rect", "path", "circle", "ellipse"}, code
        references = [
            name for element in root.iter() for name in element.attrib if "href" in name or name.startswith("on")
        ]
        assert references == [], code
        assert "url(" not in text, code


@pytest.mark.parametrize("suits", PACKS)
def test_number_card_shows_its_number_of_pips(suits: Suits) -> None:
    for code in PACKS[suits].codes:
        rank, suit = code[0], code[1]
        if rank in "23456789T":
            name = suit_name(suit, suits)
            pip = drawing(f"{'pips' if suits == 'italian' else 'signs'}/{name}").content
            pips = card_svg(code, CLASSIC[suits]).count(pip)
            signs = 2 if suits == "french" else 0
            assert pips - signs == (10 if rank == "T" else int(rank)), code


def test_only_figures_of_coins_wear_the_colours_of_coins() -> None:
    coins = set(LIVERIES["coins"].colours)
    assert all(colour in card_svg("RD", CLASSIC["italian"]) + card_svg("CD", CLASSIC["italian"]) for colour in coins)
    for deck in CLASSIC.values():
        for code in PACKS[deck.suits].codes:
            if code[0] in FIGURES and suit_name(code[1], deck.suits) != "coins":
                used = set(re.findall(r"#[0-9a-f]{6}", card_svg(code, deck)))
                livery = set(LIVERIES[suit_name(code[1], deck.suits)].colours)
                assert not used & (coins - livery), code


def test_every_drawing_is_used() -> None:
    used_paths = find_paths("".join(text for deck in DECKS for text in draw_cards(deck).values()))
    for file in ART.rglob("*.svg"):
        name = file.relative_to(ART).with_suffix("").as_posix()
        assert find_paths(drawing(name).content) <= used_paths, f"{file} is on no card: use or delete it"


@EVERY_DECK
def test_contact_sheet_shows_all_cards_and_the_back(deck: Deck) -> None:
    placed_cards = parse_xml(sheet_svg(deck)).findall(f"{SVG}svg")
    assert len({(card.get("x"), card.get("y")) for card in placed_cards}) == PACKS[deck.suits].size + 1
    file = DECKS_IN_DOCS / f"{'-'.join(deck)}.png"
    assert file.is_file(), f"run `python -m tests.bot.pictures.sheets` to draw {file}"


def test_unknown_drawing_is_refused() -> None:
    with pytest.raises(FileNotFoundError):
        drawing("pips/acorns")
    with pytest.raises(KeyError):
        glyph("X")


def test_cards_of_another_pack_are_refused() -> None:
    with pytest.raises(KeyError):
        card_svg("RD", CLASSIC["french"])
    with pytest.raises(KeyError):
        card_svg("KH", CLASSIC["italian"])


def test_forty_cards_have_french_equivalents() -> None:
    assert len(set(IN_FRENCH.values())) == len(IN_FRENCH) == 40
    assert (IN_FRENCH["RC"], IN_FRENCH["CB"], IN_FRENCH["7D"]) == ("KH", "QC", "7D")
    assert set(IN_FRENCH.values()) <= set(PACKS["french"].codes)
