"""The rules that the six Tressette games share."""

from itertools import pairwise, product

import pytest

from engine import GAMES, Game
from engine.cards import ITALIAN
from engine.errors import MustFollow, NotInHand, NotYourTurn
from engine.tressette import THIRDS, TressetteDeal
from tests.engine.tables import full_table, packets_table, play_cards, playable_cards, stock_table

TRESSETTES = [game for game in GAMES if game != "spades"]


def play_trick(led_card: str, answer: str) -> tuple[int, Game]:
    """Let seat 1 lead and seat 0 answer; return the winner and the table."""
    table = stock_table("metamazzo", led_card, answer)
    play_cards(table, f"{led_card} {answer}")
    assert table.current
    assert table.current.last
    return table.current.last[2], table


def test_ranks_run_3_2_ace_re_cavallo_fante_7_6_5_4() -> None:
    order = "3D 2D AD RD CD FD 7D 6D 5D 4D".split()
    for higher, lower in pairwise(order):
        assert play_trick(higher, lower)[0] == 1
        assert play_trick(lower, higher)[0] == 0


def test_other_suits_never_win() -> None:
    for suit in "CSB":
        table = stock_table(
            "metamazzo", "4D", f"3{suit} 2{suit} A{suit} R{suit} C{suit} F{suit} 7{suit} 6{suit} 5{suit} 4{suit}"
        )
        play_cards(table, f"4D 3{suit}")
        assert table.turn == 1


def test_led_suit_must_be_followed() -> None:
    table = stock_table("metamazzo", "3D", "4D 5D 3C")
    table.play(1, "play 3D")
    assert playable_cards(table, 0) >= {"4D", "5D"}
    assert "3C" not in playable_cards(table, 0)
    with pytest.raises(MustFollow, match="play coins"):
        table.play(0, "play 3C")


def test_void_player_can_play_anything() -> None:
    table = stock_table("metamazzo", "3D", "3C 2C AC RC CC 3S 2S AS RS CS")
    table.play(1, "play 3D")
    assert playable_cards(table, 0) == set("3C 2C AC RC CC 3S 2S AS RS CS".split())


def test_trick_winner_leads_the_next() -> None:
    assert play_trick("4D", "3D")[1].turn == 0
    assert play_trick("3D", "4D")[1].turn == 1


def test_card_not_held_cannot_be_played() -> None:
    table = stock_table("metamazzo", "3D", "4D")
    with pytest.raises(NotInHand, match="4D"):
        table.play(1, "play 4D")


def test_playing_out_of_turn_is_refused() -> None:
    table = stock_table("metamazzo", "3D", "4D")
    with pytest.raises(NotYourTurn):
        table.play(0, "play 4D")


def test_ace_is_3_thirds_and_3_2_re_cavallo_fante_1() -> None:
    assert {code: THIRDS[ITALIAN.index[code]] for code in "AD 3D 2D RD CD FD 7D 6D 5D 4D".split()} == {
        "AD": 3, "3D": 1, "2D": 1, "RD": 1, "CD": 1, "FD": 1, "7D": 0, "6D": 0, "5D": 0, "4D": 0,
    }  # fmt: skip


def test_pack_is_worth_32_thirds_and_last_trick_3() -> None:
    assert sum(THIRDS) == 32
    assert TressetteDeal.LAST_TRICK == 3


@pytest.mark.parametrize("game", TRESSETTES)
def test_thirds_round_down_to_11_points_a_deal(game: str) -> None:
    rules: list[dict[str, str]] = [{}]
    if "none" in GAMES[game].rules.choices()["declare"]:
        rules.append({"declare": "none"})
    for number, game_rules in product(range(20), rules):
        table = Game(game, game_rules, dealer=0)
        table.deal(bytes([number]) * 32)
        while table.turn is not None:
            table.play(table.turn, table.legal_moves(table.turn)[0])
        entries = table.record().deals[0].entries()
        assert sum(entries["thirds"]) == 35
        assert not (game_rules and any(entries["declared"]))
        assert [
            third // 3 + declared for third, declared in zip(entries["thirds"], entries["declared"], strict=True)
        ] == list(entries["points"])
        assert sum(third // 3 for third in entries["thirds"]) == 11


def test_partners_sit_opposite_and_seats_play_in_order() -> None:
    table = full_table("tressette", ["4D", "3D", "5D", "6D"])
    turns = []
    for card in ("3D", "5D", "6D", "4D"):
        turns.append(table.turn)
        assert table.turn is not None
        table.play(table.turn, f"play {card}")
    assert turns == [1, 2, 3, 0]
    assert table.view(None).deal is not None
    assert table.current
    assert table.current.tricks == [0, 1]


def test_follow_suit_counts_packet_tops_and_hand() -> None:
    table = packets_table(
        "pizzichino", ["3D", "4S 5S 6S 7S FS", "4C", "5C", "FC 2C AC RC CC", "3S 2S AS RS CS", "7D", "6C"]
    )
    table.play(1, "play 3D")
    assert playable_cards(table, 0) == {"7D"}
