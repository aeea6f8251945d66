"""Declarations: combinations, windows and reuse."""

import pytest

from engine.declarations import COMBINATIONS
from engine.errors import (
    AlreadyDeclared,
    DeclareTheFour,
    NoCombination,
    NoDeclarations,
    NotYourTurn,
    WindowNotOpen,
    WindowPassed,
)
from tests.engine.tables import full_table, legal_declarations, packets_table, play, play_cards, stock_table

LOW_COPPE = "4C 5C 6C 7C FC CC RC"
LOW_SPADE = "4S 5S 6S 7S FS CS RS"


def test_four_scores_4_three_3_and_napoletana_3() -> None:
    assert {move: combination.points for move, combination in COMBINATIONS.items()} == {
        **{f"declare four {rank}": 4 for rank in "32A"},
        **{f"declare three {rank} missing {suit}": 3 for rank in "32A" for suit in "DCSB"},
        **{f"declare napoletana {suit}": 3 for suit in "DCSB"},
    }


def test_one_card_can_serve_in_several_combinations() -> None:
    table = stock_table("metamazzo", "3D 2D AD 3C 3S 2C 2S", LOW_COPPE)
    assert sorted(legal_declarations(table, 1)) == ["napoletana D", "three 2 missing B", "three 3 missing B"]
    play(table, "1: declare napoletana D", "1: declare three 3 missing B", "1: declare three 2 missing B")
    assert table.current
    assert table.current.score().entries["declared"] == (0, 9)


def test_with_four_only_the_four_can_be_declared() -> None:
    table = stock_table("metamazzo", "3D 3C 3S 3B", LOW_COPPE)
    assert legal_declarations(table, 1) == ["four 3"]
    with pytest.raises(DeclareTheFour):
        table.play(1, "declare three 3 missing B")


def test_declaring_shows_the_cards_until_they_are_played() -> None:
    table = stock_table("metamazzo", "3D 2D AD", LOW_COPPE, "7S 7B")
    table.play(1, "declare napoletana D")
    view = table.view(0).deal
    assert view
    assert view.known == ((), ("3D", "2D", "AD"))
    table.play(1, "play 2D")
    view = table.view(None).deal
    assert view
    assert view.known == ((), ("3D", "AD"))


def test_declaring_is_optional_and_windows_close() -> None:
    table = stock_table("metamazzo", "3D 2D AD", LOW_COPPE, "7S 7B")
    play_cards(table, "AD 4C")
    with pytest.raises(NoCombination):
        table.play(1, "declare napoletana D")
    table = stock_table("metamazzo", "3D 2D AD 4D", LOW_COPPE, "7S 7B")
    play_cards(table, "4D 4C")
    with pytest.raises(WindowPassed):
        table.play(1, "declare napoletana D")


def test_combination_not_held_cannot_be_declared() -> None:
    table = stock_table("metamazzo", "3D 2D", "AD")
    with pytest.raises(NoCombination):
        table.play(1, "declare napoletana D")


def test_packet_tops_do_not_count() -> None:
    table = packets_table("pizzichino", ["3D 2D", "4C 5C", "AD", "7B"])
    assert legal_declarations(table, 1) == []
    table.play(1, "pick 3")
    assert legal_declarations(table, 1) == ["napoletana D"]


def test_option_none_allows_no_declarations() -> None:
    table = stock_table("metamazzo", "3D 2D AD", LOW_COPPE, rules={"declare": "none"})
    assert legal_declarations(table, 1) == []
    with pytest.raises(NoDeclarations):
        table.play(1, "declare napoletana D")


# dealt

DEALT = ["3D 3C", "3S 4C", "AD", "3B", "2C", "2S", "AC", "AS"]


def test_dealt_window_counts_only_the_first_ten_cards() -> None:
    table = packets_table("pizzichino", ["3D 2D", "4C 5C", "AD", "7B"], {"declare": "dealt"})
    table.play(1, "pick 3")
    assert legal_declarations(table, 1) == []
    with pytest.raises(WindowPassed):
        table.play(1, "declare napoletana D")


def test_dealt_window_ignores_picked_up_cards() -> None:
    # The first ten cards have three threes. Picking up the fourth changes nothing: only the three can be declared.
    table = packets_table("pizzichino", DEALT, {"declare": "dealt"})
    table.play(1, "pick 4")
    assert legal_declarations(table, 1) == ["three 3 missing B"]


def test_dealt_window_is_the_first_turn_before_playing() -> None:
    table = packets_table("pizzichino", DEALT, {"declare": "dealt"})
    assert legal_declarations(table, 0) == []
    assert legal_declarations(table, 1) == ["three 3 missing B"]
    table.play(1, "play 4C")
    assert legal_declarations(table, 1) == []
    while table.turn != 1:
        table.play(0, table.legal_moves(0)[0])
    assert legal_declarations(table, 1) == []


# acquired


def test_acquired_window_opens_at_the_first_turn() -> None:
    table = stock_table("metamazzo", "4D 5D 6D", "3D 2D AD")
    assert legal_declarations(table, 0) == []
    with pytest.raises(NotYourTurn):
        table.play(0, "declare napoletana D")
    table.play(1, "play 4D")
    assert legal_declarations(table, 0) == ["napoletana D"]


def test_acquired_window_later_needs_a_newly_acquired_card() -> None:
    table = stock_table("metamazzo", "3D 2D 4D 3C 2C AC", "5D 6D " + LOW_SPADE, "7B AD 5B 6B")
    play_cards(table, "4D 5D")
    # The napoletana of coppe was in the first ten cards, so its window has passed. AD completed the one of denari.
    assert legal_declarations(table, 1) == ["napoletana D"]
    with pytest.raises(WindowPassed):
        table.play(1, "declare napoletana C")


def test_acquired_window_with_a_stock_stays_open_out_of_turn() -> None:
    table = stock_table("metamazzo", "3D 2D 4D 7D", "6D 5D " + LOW_SPADE, "7B AD")
    play_cards(table, "4D 6D")
    assert table.turn == 0
    assert legal_declarations(table, 1) == ["napoletana D"]
    table.play(0, "play 5D")
    assert legal_declarations(table, 1) == ["napoletana D"]
    table.play(1, "declare napoletana D")
    table.play(1, "play 7D")
    assert legal_declarations(table, 1) == []


def test_acquired_window_with_a_stock_closes_with_the_next_play() -> None:
    table = stock_table("metamazzo", "3D 2D 4D 7D", "6D 5D " + LOW_SPADE, "7B AD 6B 5B")
    play_cards(table, "4D 6D 5D 7D")
    assert legal_declarations(table, 1) == []
    with pytest.raises(WindowPassed):
        table.play(1, "declare napoletana D")


def test_acquired_window_with_packets_is_before_playing() -> None:
    table = packets_table("pizzichino", ["3D 2D", "4C 5C", "AD", "7B", "2C", "2S", "AC", "AS"])
    table.play(1, "pick 3")
    table.play(1, "play 4C")
    assert legal_declarations(table, 1) == []


def test_rank_scores_once_so_the_fourth_adds_nothing() -> None:
    table = packets_table("pizzichino", DEALT)
    play(table, "1: declare three 3 missing B", "1: pick 4")
    assert legal_declarations(table, 1) == []
    with pytest.raises(AlreadyDeclared):
        table.play(1, "declare four 3")


def test_player_can_wait_for_a_fourth_in_the_same_window() -> None:
    table = packets_table("pizzichino", DEALT)
    play(table, "1: pick 4", "1: declare four 3")
    assert table.current
    assert table.current.score().entries["declared"] == (0, 4)


def test_same_combination_cannot_be_declared_twice() -> None:
    table = packets_table("pizzichino", DEALT, {"reuse": True})
    table.play(1, "declare three 3 missing B")
    with pytest.raises(AlreadyDeclared):
        table.play(1, "declare three 3 missing B")


# reuse


def test_with_reuse_a_fourth_after_a_three_scores_4_more() -> None:
    table = stock_table("metamazzo", "AD AC AS 4D", "5D 6D " + LOW_SPADE, "7B AB")
    table.play(1, "declare three A missing B")
    play_cards(table, "4D 5D")
    assert table.turn == 0
    play(table, "1: declare four A")
    assert table.current
    assert table.current.score().entries["declared"] == (0, 7)


def test_with_reuse_another_three_of_the_rank_scores_again() -> None:
    table = stock_table("metamazzo", "AD AC AS 4D", "5D 6D 3D " + LOW_SPADE, "7B AB")
    table.play(1, "declare three A missing B")
    play_cards(table, "AD 3D")
    play(table, "1: declare three A missing D")
    assert table.current
    assert table.current.score().entries["declared"] == (0, 6)


def test_with_reuse_a_repeat_needs_a_newly_acquired_card() -> None:
    table = stock_table("metamazzo", "AD AC AS AB 4D 7D", "5D 6D " + LOW_SPADE, "7B 4B 5B 6B")
    table.play(1, "declare four A")
    play_cards(table, "AD 5D")
    assert legal_declarations(table, 1) == []


def test_reuse_with_packets_is_an_option_of_pizzichino() -> None:
    table = packets_table("pizzichino", DEALT, {"reuse": True})
    play(table, "1: declare three 3 missing B", "1: pick 4", "1: declare four 3")
    assert table.current
    assert table.current.score().entries["declared"] == (0, 7)


# three tricks


def test_three_tricks_window_covers_tricks_1_to_4() -> None:
    table = stock_table("testa", "4D 5D 6D 7D", "3D 2D AD RD CD 3S 2S", "7S 7B AS 6B 5B 4B")
    play_cards(table, "4D RD")
    # The napoletana was held from the start and can still be declared at the second trick.
    assert legal_declarations(table, 0) == ["napoletana D"]
    play_cards(table, "CD 5D")
    assert legal_declarations(table, 0) == ["napoletana D", "napoletana S"]
    play(table, "0: declare napoletana S")
    play_cards(table, "3D 6D")
    assert legal_declarations(table, 0) == []  # trick 4, but the 3 of coins is gone


def test_three_tricks_window_closes_at_the_fourth_play() -> None:
    table = stock_table("testa", "4D 5D 6D 7D FD 3C 2C AC", "3D 2D AD RD CD 3S 2S AS", "7S 7B 6S 6B 5S 5B 4S 4B")
    play_cards(table, "4D 3D 2D 5D AD 6D")
    assert legal_declarations(table, 0) == ["napoletana S"]
    table.play(0, "play RD")
    assert legal_declarations(table, 1) == ["napoletana C"]
    table.play(1, "play 7D")
    assert legal_declarations(table, 0) == []
    with pytest.raises(WindowPassed):
        table.play(0, "declare napoletana S")


def test_three_tricks_window_is_open_only_in_turn() -> None:
    table = stock_table("testa", "4D 3C 2C AC", "3D 2D AD")
    with pytest.raises(NotYourTurn):
        table.play(0, "declare napoletana D")


# after the first trick

FOUR_HANDS = ["3D 2D AD 4D", "3C 2C AC 5D", "6D 3S 2S AS", "7D 3B 2B AB"]


def test_after_first_trick_window_is_closed_before_its_end() -> None:
    table = full_table("tressette", FOUR_HANDS)
    assert legal_declarations(table, 1) == []
    with pytest.raises(WindowNotOpen, match="first trick is over"):
        table.play(1, "declare napoletana C")


def test_after_first_trick_all_seats_declare_until_second_play() -> None:
    table = full_table("tressette", FOUR_HANDS)
    play_cards(table, "5D 6D 7D 4D")
    assert table.turn == 3
    assert [legal_declarations(table, seat) for seat in range(4)] == [[f"napoletana {suit}"] for suit in "DCSB"]
    play(table, "1: declare napoletana C", "3: play 3B")
    assert legal_declarations(table, 3) == []
    with pytest.raises(WindowPassed):
        table.play(3, "declare napoletana B")
    play(table, "2: declare napoletana S", "0: declare napoletana D")
    assert table.current
    assert table.current.score().entries["declared"] == (6, 3)


def test_after_first_trick_a_card_already_played_counts() -> None:
    table = full_table("tressette", ["4C", "3C 2C AC", "5C", "6C"])
    play_cards(table, "3C 5C 6C 4C")
    play(table, "1: declare napoletana C")
    view = table.view(0).deal
    assert view
    assert view.known[1] == ("2C", "AC")


def test_after_first_trick_a_combination_scores_once() -> None:
    table = full_table("tressette", FOUR_HANDS)
    play_cards(table, "5D 6D 7D 4D")
    play(table, "1: declare napoletana C")
    with pytest.raises(AlreadyDeclared):
        table.play(1, "declare napoletana C")


# any turn


def test_any_turn_window_is_before_playing() -> None:
    table = full_table("tavolo", ["4D 3S 2S AS", "5D 3C 2C AC", "6D", "7D"], {"target": 21})
    assert table.turn == 0  # the holder of the 4 of coins
    assert legal_declarations(table, 1) == []
    with pytest.raises(NotYourTurn):
        table.play(1, "declare napoletana C")
    table.play(0, "play 4D")
    assert legal_declarations(table, 1) == ["napoletana C"]
    table.play(1, "declare napoletana C")


def test_any_turn_window_excludes_a_broken_combination() -> None:
    table = full_table("tavolo", ["4D 3S 2S AS", "5S", "6S", "7S"])
    assert legal_declarations(table, 0) == ["napoletana S"]
    play_cards(table, "3S 5S 6S 7S")
    assert legal_declarations(table, 0) == []
    with pytest.raises(NoCombination):
        table.play(0, "declare napoletana S")


def test_any_turn_window_is_open_late_in_the_deal() -> None:
    table = full_table("tavolo", ["4D 3D 2D 3S 2S AS 5B 6B", "", "", ""])
    for card in ("3D", "2D"):
        table.play(0, f"play {card}")
        while table.turn != 0:
            table.play(table.turn or 0, next(m for m in table.legal_moves(table.turn or 0) if m.startswith("play")))
    assert legal_declarations(table, 0) == ["napoletana S"]
