"""Scenes agree with the view: cards on the table, playable cards, the trick's winner and the score."""

from collections.abc import Sequence

import pytest

from benchmarks.pictures import scenes_of
from bot.panels.hand import hand_panel
from bot.pictures.lettering import are_drawable, drawable_names, drawable_text
from bot.pictures.results import deal_sheet
from bot.pictures.scene import Scene, TallyLine
from bot.pictures.scene_builder import board_scene, hand_scene, tally_lines
from bot.pictures.sheet import Tally
from bot.store.entries import Deal, Entry, FirstDeal, Move, Open, Sit
from bot.tables.snapshot import isolate_name, take_snapshot
from bot.tables.table import Table
from bot.words.wording import Wording
from engine import GAMES
from engine.options import RELEASE, resolve

SECRET = bytes(31) + b"\1"


def table_of(game: str, moves: Sequence[str] = (), names: Sequence[str] = ("Anna", "Bruno", "Carla", "Dino")) -> Table:
    """Return a table with these moves in the first deal, each made by the player to move."""
    kind = GAMES[game]
    chairs = [Sit(seat, f"p:{seat}", names[seat]) for seat in range(kind.seats)]
    opening: list[Entry] = [
        Open(game, "p:0", names[0]),
        *chairs,
        FirstDeal(SECRET, RELEASE, resolve(kind.rules, {}).model_dump()),
    ]
    table = Table("TABLE").with_entries(opening, "u")
    for move in moves:
        assert table.game
        assert table.game.turn is not None
        table = table.with_entries([Move(table.game.turn, move)], "u")
    return table


def first_card(table: Table) -> str:
    """Return a move of the player to move that plays a card."""
    assert table.game
    assert table.game.turn is not None
    return next(move for move in table.game.legal_moves(table.game.turn) if move.startswith("play "))


def hand_of_seat(table: Table, seat: int, suits: str = "italian", language: str = "en") -> Scene:
    scene = hand_scene(take_snapshot(table, seat), language, suits, "classic")
    assert scene
    return scene


def test_playable_cards_are_bright() -> None:
    table = table_of("metamazzo")
    table = table.with_entries([Move(table.game.turn, first_card(table))], "u")  # type: ignore[union-attr,arg-type]
    assert table.game
    seat = table.game.turn
    assert seat is not None
    legal = {move.split()[1] for move in table.game.legal_moves(seat) if move.startswith("play ")}
    hand = hand_of_seat(table, seat).hand
    assert {card.code for card in hand if card.light == "playable"} == legal
    assert {card.light for card in hand if card.code not in legal} <= {"dim"}
    assert {card.light for card in hand_of_seat(table, 1 - seat).hand} == {""}


def test_winning_card_of_a_trick_is_marked() -> None:
    table = table_of("tressette")
    for _ in range(3):
        table = table.with_entries([Move(table.game.turn, first_card(table))], "u")  # type: ignore[union-attr,arg-type]
    assert table.game
    assert table.game.turn is not None
    view = table.game.view(None)
    assert view.deal
    trick = hand_of_seat(table, table.game.turn).trick
    order = "4567FCRA23"
    led_suit = trick[0].card.code[1]
    best = max(
        (played.card.code for played in trick if played.card.code[1] == led_suit), key=lambda code: order.index(code[0])
    )
    assert [played.card.code for played in trick if played.wins] == [best]
    assert [played.card.code for played in trick] == [played.card for played in view.deal.trick]


def test_forty_cards_can_have_french_suits() -> None:
    table = table_of("testa")
    italian, french = hand_of_seat(table, 0), hand_of_seat(table, 0, "french")
    assert (italian.deck.suits, french.deck.suits) == ("italian", "french")
    suits, ranks = {"D": "D", "C": "H", "S": "S", "B": "C"}, {"R": "K", "C": "Q", "F": "J"}
    expected = [ranks.get(card.code[0], card.code[0]) + suits[card.code[1]] for card in italian.hand]
    assert [card.code for card in french.hand] == expected


def test_viewer_is_first_and_called_you() -> None:
    table = table_of("tressette")
    assert [drawable_text(side.name) for side in hand_of_seat(table, 1).sides] == ["you and Dino", "Anna and Carla"]
    assert [drawable_text(side.name) for side in hand_of_seat(table, 0, language="it").sides] == [
        "tu e Carla",
        "Bruno e Dino",
    ]
    board = board_scene(take_snapshot(table, None), "en", "italian", "classic")
    assert board
    assert [drawable_text(side.name) for side in board.sides] == ["Anna and Carla", "Bruno and Dino"]
    assert board.hand == ()


def test_undrawable_name_becomes_the_seat() -> None:
    scene = hand_of_seat(table_of("metamazzo", names=("Anna", "王小明")), 0)
    assert drawable_text(scene.sides[1].name) == "seat 2"


def test_names_equal_without_emoji_get_their_seat() -> None:
    assert drawable_names(["Anna", "Anna 🌸"], "en") == ["Anna", "Anna (seat 2)"]
    assert drawable_names(["Anna 🌸", "Anna 🎴"], "it") == ["Anna (posto 1)", "Anna (posto 2)"]
    assert drawable_names(["Anna", "Anna"], "en") == ["Anna", "Anna"]
    assert drawable_names([isolate_name("Anna"), isolate_name("Anna 🌸")], "en") == ["Anna", "Anna (seat 2)"]


@pytest.mark.parametrize(
    ("names", "is_drawable"),
    [(["Anna", "Bruno"], True), (["Anna", "Anna 🌸"], False), (["Anna", "小明"], False), ([], True)],
)
def test_undrawable_or_ambiguous_names_are_detected(names: list[str], is_drawable: bool) -> None:
    assert are_drawable(names) is is_drawable


def test_packets_show_numbers_and_then_top_cards() -> None:
    table = table_of("spizzichino")
    assert table.game
    seat = table.game.turn
    assert seat is not None
    scene = hand_scene(take_snapshot(table, seat), "en", "italian", "classic", "13")
    assert scene
    assert [pile.label for pile in scene.middle] == list("12345678")
    assert [pile.label for pile in scene.middle if pile.top.light == "chosen"] == ["1", "3"]
    for _ in range(4):
        table = table.with_entries([Move(table.game.turn, table.game.legal_moves(table.game.turn)[0])], "u")  # type: ignore[arg-type]
    scene = hand_of_seat(table, seat)
    assert not scene.middle
    assert [(bool(pile.top.code), pile.label) for pile in (*scene.packets, *scene.others[0].packets)] == [
        (True, "")
    ] * 4


def test_opponents_hand_shows_known_cards_first() -> None:
    scenes_with_others = [(scene, scene.others[0].cards) for scene in scenes_of("metamazzo", "classic") if scene.others]
    scenes = [(scene, cards) for scene, cards in scenes_with_others if any(card.code for card in cards)]
    assert scenes
    for scene, cards in scenes:
        codes = [card.code for card in cards]
        assert codes == sorted(codes, key=lambda code: not code), "known cards must come first"
        assert not set(filter(None, codes)) & {card.code for card in scene.hand}


@pytest.mark.parametrize("game", GAMES)
def test_scenes_are_equal_if_their_digests_are(game: str) -> None:
    scenes = scenes_of(game, "classic")
    assert [scene.digest for scene in scenes] == [scene.digest for scene in scenes_of(game, "classic")]
    assert len({scene.digest for scene in scenes}) == len(set(scenes))


@pytest.mark.parametrize("seat", [0, 1])
def test_resigned_deal_has_no_tally(seat: int) -> None:
    table = table_of("metamazzo")
    while table.game and table.game.turn is not None:
        table = table.with_entries([Move(table.game.turn, first_card(table))], "u")
    table = table.with_entries([Deal(SECRET), Move(0, "resign")], "u")
    scene = hand_of_seat(table, seat)
    assert (scene.tally, scene.tally_title) == ((), "")


@pytest.mark.parametrize(
    ("declared", "shown_rows"),
    [
        ((0, 0), {"left over": ("−⅔", "0"), "points": ("6", "5")}),
        ((0, 3), {"declared": ("0", "3"), "left over": ("−⅔", "0"), "points": ("6", "8")}),
    ],
)
def test_score_of_a_deal_has_no_row_of_zeros(declared: tuple[int, int], shown_rows: dict[str, tuple[str, str]]) -> None:
    entries = {"thirds": (20, 15), "declared": declared, "points": (6, 5 + declared[1])}
    tricks = {"points in tricks": ("6⅔", "4"), "the last trick": ("0", "1")}
    assert dict(tally_lines(Wording("en", ()), entries, {}, last_seat=1)) == tricks | shown_rows


def test_missing_bid_is_a_dash() -> None:
    moves = [Move(0, "draw"), Move(0, "resign")]
    game = table_of("spades").with_entries(moves, "u").game
    assert game
    sheet = deal_sheet(game.record(), 1, "ABCD", ("Anna", "Bruno"), "it")
    [tally] = [part for part in sheet.parts if isinstance(part, Tally)]
    assert tally.lines[0] == TallyLine("dichiarazioni", ("–", "–"))


def test_nil_bid_has_one_name() -> None:
    table = table_of("spades")
    while table.game and table.game.deal_number == 1 and table.game.turn is not None:
        moves = table.game.legal_moves(table.game.turn)
        move = next((move for move in moves if move in ("bid 0", "draw")), moves[0])
        table = table.with_entries([Move(table.game.turn, move)], "u")
    assert table.game
    record = table.with_entries([Deal(SECRET), Move(0, "resign")], "u").game.record()  # type: ignore[union-attr]
    [tally] = [part for part in deal_sheet(record, 1, "ABCD", ("Anna", "Bruno"), "it").parts if isinstance(part, Tally)]
    assert tally.lines[0] == TallyLine("dichiarazioni", ("zero", "zero"))


def test_new_deal_shows_the_last_trick_of_the_one_before() -> None:
    table = table_of("metamazzo")
    while table.game and table.game.turn is not None:
        table = table.with_entries([Move(table.game.turn, first_card(table))], "u")
    table = table.with_entries([Deal(SECRET)], "u")
    assert table.game
    mover = table.game.turn
    assert mover is not None
    trick = hand_of_seat(table, mover).final_trick
    assert len(trick) == 2
    table = table.with_entries([Move(mover, first_card(table))], "u")
    assert hand_of_seat(table, mover).final_trick == ()
    assert {played.card for played in hand_of_seat(table, 1 - mover).final_trick} == {played.card for played in trick}


def test_points_of_an_unfinished_deal_are_not_shown() -> None:
    table = table_of("metamazzo")
    while table.game and table.game.turn is not None:
        table = table.with_entries([Move(table.game.turn, first_card(table))], "u")
    table = table.with_entries([Deal(SECRET)], "u")
    assert table.game
    before = [str(points) for points in table.game.totals]
    for _ in range(20):
        assert table.game.turn is not None
        table = table.with_entries([Move(table.game.turn, first_card(table))], "u")
    table = table.with_entries([Move(0, "resign")], "u")
    assert table.game
    assert [str(points) for points in table.game.totals] != before, "the engine counts them"
    assert [side.points for side in hand_of_seat(table, 0).sides] == before
    panel = hand_panel(take_snapshot(table, 0), "en", "italian").plain
    assert panel.startswith("You lose: you resigned.")
    assert f"you {before[0]}, " in panel
