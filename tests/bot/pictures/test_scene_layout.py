"""Cards are inside the picture and large enough to read, and the player's own cards show their index."""

from dataclasses import replace
from itertools import combinations, pairwise

import pytest

from benchmarks.pictures import scenes_of
from bot.panel_picture import DECKS, CardStyle, Deck
from bot.pictures.canvas import CARD, SMALL, WIDTH, Box, CardAt, TextAt, height_of
from bot.pictures.hand_rows import MIN_STEP
from bot.pictures.lettering import drawable_text
from bot.pictures.painter import fit_text
from bot.pictures.scene import Card, Holder, Pile, PlayedCard, Scene, Side, TallyLine
from bot.pictures.scene_layout import OPEN_WIDTH, lay_out
from bot.pictures.sheet import Sheet, Tally
from bot.pictures.sheet_layout import lay_out_sheet
from bot.texts import texts
from engine import GAMES

INDEX = 48 * CARD // 250  # width of a large card's index from its left edge (bot/pictures/cards.py)
STYLES: tuple[CardStyle, ...] = ("classic", "easy")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("game", GAMES)
def test_everything_is_inside_the_picture(game: str, style: CardStyle) -> None:
    for scene in scenes_of(game, style):
        height, items, _curves = lay_out(scene)
        assert height <= 1350
        for item in items:
            match item:
                case CardAt():
                    assert item.x >= 0
                    assert item.x + item.width <= WIDTH + 16, "only cards below a packet's top may cross the edge"
                    assert 0 <= item.y < height
                case Box():
                    assert 0 <= item.x < item.x + item.width <= WIDTH + 16
                case TextAt():
                    assert 0 <= item.x <= WIDTH
                    assert 0 <= item.y < height
                    assert item.max_width > 0


@pytest.mark.parametrize("game", GAMES)
def test_own_cards_follow_the_buttons_and_show_indices(game: str) -> None:
    assert MIN_STEP >= INDEX
    for scene in scenes_of(game, "classic"):
        codes = [card.code for card in scene.hand]
        if not codes:
            continue
        _height, items, _curves = lay_out(scene)
        large = [item for item in items if isinstance(item, CardAt) and item.width == CARD and item.code]
        tops = [pile.top.code for pile in scene.packets if pile.top.code]
        own_cards = large[-len(codes) - len(tops) :]
        assert [item.code for item in own_cards] == [*codes, *tops]
        for left, right in pairwise(own_cards):
            is_same_row = abs(left.y - right.y) < 40
            assert not is_same_row or right.x - left.x >= MIN_STEP


@pytest.mark.parametrize("game", GAMES)
def test_own_easy_cards_do_not_overlap(game: str) -> None:
    for scene in scenes_of(game, "easy"):
        _height, items, _curves = lay_out(scene)
        cards = [item for item in items if isinstance(item, CardAt) and item.code]
        own_count = len(scene.hand) + len([pile for pile in scene.packets if pile.top.code])
        for first, second in combinations(cards[len(cards) - own_count :], 2):
            assert abs(first.x - second.x) >= first.width or abs(first.y - second.y) >= first.width


def test_packets_to_choose_from_show_their_numbers() -> None:
    piles = [[Pile(Card(), 5, str(number)) for number in numbers] for numbers in ((1, 4, 6, 7), (2, 3, 5, 8))]
    sides = (Side("Ada", "0"), Side("Bea", "0"))
    scene = Scene(
        deck=DECKS[0], sides=sides, target="to 21", others=(Holder("", (), tuple(piles[0])),), packets=tuple(piles[1])
    )
    _height, items, _curves = lay_out(scene)
    for number, item in enumerate(items):
        if isinstance(item, TextAt) and item.text in "12345678":
            covering = [
                card
                for card in items[number:]
                if isinstance(card, CardAt) and card.y <= item.y <= card.y + card.visible
            ]
            assert not any(card.x < item.x < card.x + card.width for card in covering), f"{item.text} is covered"
    packets = [item for item in items if isinstance(item, CardAt) and item.visible > 200]
    assert max(item.y for item in packets) - min(item.y for item in packets) < 20, "the packets must be in one row"


def test_shown_cards_are_readable_in_little_room() -> None:
    cards = tuple(map(Card, ("2D", "2C", "2S", "2B", *[""] * 6)))
    packets = (Pile(Card("4C"), 4), Pile(Card("7C"), 4))
    sides = (Side("Ada", "0"), Side("Bea", "0"))
    scene = Scene(deck=DECKS[0], sides=sides, target="to 21", others=(Holder("Bea", cards, packets),))
    _height, items, _curves = lay_out(scene)
    small_cards = [item for item in items if isinstance(item, CardAt) and item.width == SMALL]
    assert all(right.x - left.x >= 48 * SMALL // 250 for left, right in pairwise(small_cards[:5]))
    tops = [item for item in items if isinstance(item, CardAt) and item.code in ("4C", "7C")]
    assert small_cards[-1].x + SMALL <= min(item.x for item in tops), "the cards must end before the packets"


def test_playable_cards_are_higher_than_others() -> None:
    scenes_compared = 0
    for scene in scenes_of("metamazzo", "classic"):
        lights = {card.code: card.light for card in scene.hand}
        _height, items, _curves = lay_out(scene)
        own_cards = [item for item in items if isinstance(item, CardAt)][-len(lights) :] if lights else []
        bright = [item for item in own_cards if lights.get(item.code) == "playable"]
        dim = [item for item in own_cards if lights.get(item.code) == "dim"]
        assert all(item.is_dim for item in dim)
        assert not any(item.is_dim for item in bright)
        if bright and dim:
            scenes_compared += 1
            assert max(item.y for item in bright) < min(item.y for item in dim)
    assert scenes_compared


def test_only_the_name_of_the_player_to_move_is_gold() -> None:
    sides = Side("Anna", "3", is_to_move=True), Side("Bruno", "12")
    items = lay_out(Scene(deck=DECKS[0], sides=sides, target="to 21")).items
    colours = {item.text: item.colour for item in items if isinstance(item, TextAt)}
    assert colours == {"Anna": "gold", "Bruno": "white", "3": "white", "12": "white", "to 21": "soft"}


def side_texts(*sides: Side) -> list[TextAt]:
    scene = Scene(deck=DECKS[0], sides=(sides[0], sides[1]), target="to 500")
    return [item for item in lay_out(scene).items if isinstance(item, TextAt)]


@pytest.mark.parametrize("points", ["0", "23", "−9", "498", "−100", "−288", "−1110"])
def test_points_are_never_cut(points: str) -> None:
    point_texts = [line for line in side_texts(Side("Anna", points), Side("Bruno", points)) if line.text == points]
    assert len(point_texts) == 2
    assert all(fit_text(line.text, line.size, line.max_width)[0] == points for line in point_texts)


@pytest.mark.parametrize("language", ["en", "it"])
def test_tally_labels_are_never_cut_and_do_not_overlap(language: str) -> None:
    gettext = texts(language).gettext
    label, bid = gettext("the last trick"), gettext("double nil")
    tally_lines = (TallyLine(label, ("−1110", "24")), TallyLine(label, (bid, bid)))
    sides = (Side("Anna", "3"), Side("Bruno", "12"))
    scene = Scene(deck=DECKS[0], sides=sides, target="", tally=tally_lines)
    for layout in (lay_out(scene), lay_out_sheet(Sheet(title="", parts=(Tally(tally_lines),)))):
        tally_texts = [
            item for item in layout.items if isinstance(item, TextAt) and item.text in (label, bid, "−1110", "24")
        ]
        assert len(tally_texts) == 6
        assert all(
            fit_text(drawable_text(text.text), text.size, text.max_width)[0] == text.text for text in tally_texts
        )
        for middle, left, right in (tally_texts[:3], tally_texts[3:]):
            assert left.x + left.max_width // 2 <= middle.x - middle.max_width // 2
            assert middle.x + middle.max_width // 2 <= right.x - right.max_width // 2


def test_long_notes_get_their_own_line() -> None:
    notes = ("tricks 10", "bid double nil", "bags 9")
    long, short = (
        side_texts(Side("Anna", "−200", notes), Side("Bruno", "3")),
        side_texts(Side("Anna", "−200"), Side("B", "3")),
    )
    [line] = [line for line in long if line.text == " · ".join(notes)]
    assert fit_text(line.text, line.size, line.max_width)[0] == line.text
    [points] = [line for line in long if line.text == "−200"]
    assert line.y - line.size / 2 > points.y + points.size / 2
    assert all(abs(text.y - line.y) > line.size for text in short)


def test_partners_are_listed_below_each_other() -> None:
    names = ("Massimiliano Bartolomeo", "Nonna Rosa")
    lines = side_texts(
        Side(" and ".join(names), "0", ("tricks 1",), players=names), Side("B and D", "0", players=("B", "D"))
    )
    heights = {line.text: line.y for line in lines}
    assert heights[names[0]] < heights[names[1]] < heights["tricks 1"]
    # A text is painted on a box 1.5 times as high as its size. The box must not cover the text above.
    sizes = {line.text: line.size for line in lines}
    for above, below in pairwise([*names, "tricks 1"]):
        assert heights[below] - heights[above] >= 0.55 * sizes[above] + 0.75 * sizes[below]
    assert not any(" and " in text for text in heights)


def test_signs_of_easy_cards_are_visible() -> None:
    """The suit sign is on the left, below the rank, and starts halfway down the card."""
    cards_compared = 0
    for game in GAMES:
        for scene in scenes_of(game, "easy"):
            items = lay_out(scene).items
            for number, item in enumerate(items):
                if not isinstance(item, CardAt) or not item.code:
                    continue
                assert item.visible >= 0.75 * height_of(item.width), (game, item)
                covering = [
                    card for card in items[number + 1 :] if isinstance(card, CardAt) and card.y < item.y + item.visible
                ]
                right = min((card.x for card in covering if card.x > item.x), default=WIDTH)
                assert right - item.x >= 0.5 * item.width, (game, item)
                cards_compared += 1
    assert cards_compared


def test_empty_table_has_a_mat_only_below_other_cards() -> None:
    sides = Side("Anna", "0"), Side("Bruno", "0")
    own_hand_only = Scene(deck=DECKS[0], sides=sides, target="to 21", hand=(Card("3D"),))
    both_hands = Scene(deck=DECKS[0], sides=sides, target="to 21", hand=(Card("3D"),), others=(Holder("", (Card(),)),))
    for scene, mats in ((own_hand_only, 0), (both_hands, 1)):
        assert sum(isinstance(item, Box) and item.colour == "mat" for item in lay_out(scene).items) == mats


@pytest.mark.parametrize("style", STYLES)
def test_cards_of_others_are_larger_when_all_are_known(style: CardStyle) -> None:
    sides = (Side("Ada", "0"), Side("Bea", "0"))

    def measure_width(*codes: str) -> int:
        others = (Holder("Bea", tuple(map(Card, codes))),)
        items = lay_out(Scene(deck=Deck("italian", style), sides=sides, target="to 21", others=others)).items
        cards = [item for item in items if isinstance(item, CardAt)]
        assert all(right.x - left.x >= INDEX * left.width // CARD for left, right in pairwise(cards))
        assert cards[-1].x + cards[-1].width <= WIDTH
        [size] = {item.width for item in cards}
        return size

    assert measure_width("3D", "7S", "4S") == OPEN_WIDTH
    assert measure_width("3D", "7S", "") == SMALL
    assert measure_width(*(f"{rank}{suit}" for rank in "765" for suit in "DCB")) == SMALL, "nine large cards do not fit"


@pytest.mark.parametrize("style", STYLES)
def test_three_others_sit_around_a_compact_mat(style: CardStyle) -> None:
    sides = (Side("You", "0"), Side("They", "0"))
    hands = (("3C", "2C", "AC", "RC", "CC"), ("3D", "2D", "AD", "RD", "CD"), ("3S", "2S", "AS", "RS", "CS"))
    holders = tuple(Holder(name, tuple(map(Card, codes))) for name, codes in zip("ENW", hands, strict=True))
    trick = tuple(PlayedCard(Card(code), "") for code in ("4C", "4D", "4S"))
    scene = Scene(
        deck=Deck("italian", style),
        sides=sides,
        target="",
        others=holders,
        trick=trick,
        hand=(Card("7B"),),
        is_compact=True,
    )
    layout = lay_out(scene)
    cards = {item.code: item for item in layout.items if isinstance(item, CardAt)}
    assert cards.keys() == {card.code for holder in holders for card in holder.cards} | {"4C", "4D", "4S", "7B"}
    east, partner, west = ([cards[code] for code in codes] for codes in hands)
    assert max(card.x + card.width for card in west) <= cards["4S"].x
    assert cards["4S"].x < cards["4D"].x < cards["4C"].x
    assert cards["4C"].x + cards["4C"].width <= min(card.x for card in east)
    assert max(card.x + card.width for card in east) <= WIDTH
    assert max(card.y + card.visible for card in partner) <= cards["4D"].y
    assert layout.height <= 1.2 * WIDTH, "question and buttons need room on a phone"


@pytest.mark.parametrize("language", ["en", "it"])
@pytest.mark.parametrize("style", STYLES)
def test_title_of_the_previous_trick_is_not_cut(style: CardStyle, language: str) -> None:
    title = texts(language).gettext("previous trick")
    signs_found = 0
    for game in GAMES:
        for scene in scenes_of(game, style):
            items = lay_out(replace(scene, last_title=title)).items
            for item in items:
                if isinstance(item, TextAt) and item.text == title:
                    assert fit_text(title, item.size, item.max_width)[0] == title
                    signs_found += 1
    assert signs_found


@pytest.mark.parametrize("points", ["31", "−200", "4⅓", "10⅔"])
def test_points_are_drawn_whole(points: str) -> None:
    scene = scenes_of("metamazzo", "classic")[8]
    first_side, second_side = scene.sides
    scene = replace(scene, sides=(first_side._replace(points=points), second_side._replace(points=points)))
    name_texts = [
        item for item in lay_out(scene).items if isinstance(item, TextAt) and item.text == drawable_text(points)
    ]
    assert len(name_texts) == 2
    assert all(fit_text(item.text, item.size, item.max_width)[0] == item.text for item in name_texts)
