"""Scenes say what the view says: what lies there, what may be played, who is winning, how it stands."""

from collections.abc import Sequence

import pytest

from benchmarks.pictures import scenes_of
from bot.pictures.lettering import are_drawable, drawable_names, drawable_text
from bot.pictures.results import deal_sheet
from bot.pictures.scene import Scene, TallyLine
from bot.pictures.scenes import board_scene, hand_scene
from bot.pictures.sheet import Tally
from bot.store.entries import Deal, Entry, FirstDeal, Move, Open, Sit
from bot.tables.snapshot import isolated, snapshot
from bot.tables.table import Table
from engine import GAMES
from engine.rules import RELEASE, resolve

SECRET = bytes(31) + b"\1"


def table_of(game: str, moves: Sequence[str] = (), names: Sequence[str] = ("Anna", "Bruno", "Carla", "Dino")) -> Table:
    """A table of which the first deal has come to some moves, each made by whoever's turn it is."""
    kind = GAMES[game]
    sits = [Sit(seat, f"p:{seat}", names[seat]) for seat in range(kind.seats)]
    begun: list[Entry] = [
        Open(game, "p:0", names[0]),
        *sits,
        FirstDeal(SECRET, RELEASE, resolve(kind.rules, {}).model_dump()),
    ]
    table = Table("TABLE").after(begun, "u")
    for move in moves:
        assert table.game
        assert table.game.turn is not None
        table = table.after([Move(table.game.turn, move)], "u")
    return table


def first_card(table: Table) -> str:
    """A move of whoever's turn it is that plays a card."""
    assert table.game
    assert table.game.turn is not None
    return next(move for move in table.game.legal_moves(table.game.turn) if move.startswith("play "))


def hand_of(table: Table, seat: int, suits: str = "italian", language: str = "en") -> Scene:
    scene = hand_scene(snapshot(table, seat), language, suits, "classic")
    assert scene
    return scene


def test_cards_that_may_be_played_stand_out_from_the_others() -> None:
    table = table_of("metamazzo")
    table = table.after([Move(table.game.turn, first_card(table))], "u")  # type: ignore[union-attr,arg-type]
    assert table.game
    seat = table.game.turn
    assert seat is not None
    legal = {move.split()[1] for move in table.game.legal_moves(seat) if move.startswith("play ")}
    hand = hand_of(table, seat).hand
    assert {card.code for card in hand if card.light == "playable"} == legal
    assert {card.light for card in hand if card.code not in legal} <= {"dim"}
    assert {card.light for card in hand_of(table, 1 - seat).hand} == {""}


def test_the_card_that_nothing_beats_wins_the_trick() -> None:
    table = table_of("tressette")
    for _ in range(3):
        table = table.after([Move(table.game.turn, first_card(table))], "u")  # type: ignore[union-attr,arg-type]
    assert table.game
    assert table.game.turn is not None
    view = table.game.view(None)
    assert view.deal
    trick = hand_of(table, table.game.turn).trick
    order = "4567FCRA23"
    led = trick[0].card.code[1]
    best = max((one.card.code for one in trick if one.card.code[1] == led), key=lambda code: order.index(code[0]))
    assert [one.card.code for one in trick if one.wins] == [best]
    assert [one.card.code for one in trick] == [played.card for played in view.deal.trick]


def test_forty_cards_may_wear_french_suits() -> None:
    table = table_of("testa")
    italian, french = hand_of(table, 0), hand_of(table, 0, "french")
    assert (italian.deck.suits, french.deck.suits) == ("italian", "french")
    suits, ranks = {"D": "D", "C": "H", "S": "S", "B": "C"}, {"R": "K", "C": "Q", "F": "J"}
    worn = [ranks.get(card.code[0], card.code[0]) + suits[card.code[1]] for card in italian.hand]
    assert [card.code for card in french.hand] == worn


def test_whoever_looks_stands_first_and_reads_you() -> None:
    table = table_of("tressette")
    assert [drawable_text(side.name) for side in hand_of(table, 1).sides] == ["you and Dino", "Anna and Carla"]
    assert [drawable_text(side.name) for side in hand_of(table, 0, language="it").sides] == [
        "tu e Carla",
        "Bruno e Dino",
    ]
    board = board_scene(snapshot(table, None), "en", "italian", "classic")
    assert board
    assert [drawable_text(side.name) for side in board.sides] == ["Anna and Carla", "Bruno and Dino"]
    assert board.hand == ()


def test_names_are_written_as_far_as_there_are_letters_for_them() -> None:
    scene = hand_of(table_of("metamazzo", names=("Anna", "王小明")), 0)
    assert drawable_text(scene.sides[1].name) == "seat 2"


def test_two_whose_names_differ_in_what_cannot_be_written_are_told_apart() -> None:
    assert drawable_names(["Anna", "Anna 🌸"], "en") == ["Anna", "Anna (seat 2)"]
    assert drawable_names(["Anna 🌸", "Anna 🎴"], "it") == ["Anna (posto 1)", "Anna (posto 2)"]
    assert drawable_names(["Anna", "Anna"], "en") == ["Anna", "Anna"]
    assert drawable_names([isolated("Anna"), isolated("Anna 🌸")], "en") == ["Anna", "Anna (seat 2)"]


@pytest.mark.parametrize(
    ("names", "are"),
    [(["Anna", "Bruno"], True), (["Anna", "Anna 🌸"], False), (["Anna", "小明"], False), ([], True)],
)
def test_names_that_the_letters_cannot_tell_apart_are_known(names: list[str], are: bool) -> None:
    assert are_drawable(names) is are


def test_packets_are_chosen_by_number_and_then_show_their_tops() -> None:
    table = table_of("spizzichino")
    assert table.game
    seat = table.game.turn
    assert seat is not None
    scene = hand_scene(snapshot(table, seat), "en", "italian", "classic", "13")
    assert scene
    assert [pile.label for pile in scene.middle] == list("12345678")
    assert [pile.label for pile in scene.middle if pile.top.light == "chosen"] == ["1", "3"]
    for _ in range(4):
        table = table.after([Move(table.game.turn, table.game.legal_moves(table.game.turn)[0])], "u")  # type: ignore[arg-type]
    scene = hand_of(table, seat)
    assert not scene.middle
    assert [(bool(pile.top.code), pile.label) for pile in (*scene.packets, *scene.others[0].packets)] == [
        (True, "")
    ] * 4


def test_a_hand_across_the_table_is_as_many_cards_as_it_has_and_shows_those_that_were_shown() -> None:
    across = [(scene, scene.others[0].cards) for scene in scenes_of("metamazzo", "classic") if scene.others]
    scenes = [(scene, cards) for scene, cards in across if any(card.code for card in cards)]
    assert scenes
    for scene, cards in scenes:
        codes = [card.code for card in cards]
        assert codes == sorted(codes, key=lambda code: not code), "what is known comes first"
        assert not set(filter(None, codes)) & {card.code for card in scene.hand}


@pytest.mark.parametrize("game", GAMES)
def test_equal_scenes_have_equal_digests_and_others_have_not(game: str) -> None:
    scenes = scenes_of(game, "classic")
    assert [scene.digest for scene in scenes] == [scene.digest for scene in scenes_of(game, "classic")]
    assert len({scene.digest for scene in scenes}) == len(set(scenes))


@pytest.mark.parametrize("seat", [0, 1])
def test_a_deal_in_which_somebody_gave_up_is_not_counted_out(seat: int) -> None:
    table = table_of("metamazzo")
    while table.game and table.game.turn is not None:
        table = table.after([Move(table.game.turn, first_card(table))], "u")
    table = table.after([Deal(SECRET), Move(0, "resign")], "u")
    scene = hand_of(table, seat)
    assert (scene.tally, scene.tally_title) == ((), "")


def test_a_bid_in_a_score_is_in_words_and_a_dash_where_there_was_none() -> None:
    begun = [Move(0, "draw"), Move(0, "resign")]
    game = table_of("spades").after(begun, "u").game
    assert game
    sheet = deal_sheet(game.record(), 1, "ABCD", ("Anna", "Bruno"), "it")
    [tally] = [part for part in sheet.parts if isinstance(part, Tally)]
    assert tally.lines[0] == TallyLine("dichiarazioni", ("–", "–"))


def test_a_nil_that_was_bid_has_one_name_in_a_language() -> None:
    table = table_of("spades")
    while table.game and table.game.deal_number == 1 and table.game.turn is not None:
        moves = table.game.legal_moves(table.game.turn)
        move = next((move for move in moves if move in ("bid 0", "draw")), moves[0])
        table = table.after([Move(table.game.turn, move)], "u")
    assert table.game
    one = table.after([Deal(SECRET), Move(0, "resign")], "u").game.record()  # type: ignore[union-attr]
    [tally] = [part for part in deal_sheet(one, 1, "ABCD", ("Anna", "Bruno"), "it").parts if isinstance(part, Tally)]
    assert tally.lines[0] == TallyLine("dichiarazioni", ("zero", "zero"))
