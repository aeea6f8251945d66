"""Whole games: targets, ties, dealers, resignation and copies."""

import doctest
from random import Random

import pytest

import engine
from engine import GAMES, Game
from engine.errors import BadDeal, BadRules, GameIsOver, NoDeal, UnknownGame, UnknownMove, UnknownSeat
from engine.shuffle import Cut, first_dealer
from tests.engine.tables import play_any_card, play_out, random_game, spades_table, stock_table


def test_docstring_examples_are_true() -> None:
    for module in (engine, engine.game, engine.cards):
        assert doctest.testmod(module).failed == 0, f"an example in a docstring of {module.__name__} is wrong"


def test_next_seat_deals_after_every_deal() -> None:
    for game, kind in GAMES.items():
        table = random_game(game, Random(game), {"target": max(kind.rules.choices()["target"])})
        dealers = [deal.dealer for deal in table.record().deals]
        assert dealers == [(dealers[0] + number) % kind.seats for number in range(len(dealers))]


def test_first_dealer_is_random() -> None:
    for game, kind in GAMES.items():
        counts = [0] * kind.seats
        for number in range(400):
            table = Game(game)
            table.deal(number.to_bytes(32, "big"))
            assert table.current
            counts[table.current.dealer] += 1
        assert min(counts) > 400 / kind.seats * 0.7


def test_game_ends_after_the_deal_that_reaches_the_target() -> None:
    table = stock_table("testa", "4D", "3D", rules={"target": 11})
    table.totals = (9, 2)
    play_out(table)
    first_total, second_total = table.totals
    assert table.is_over == (max(first_total, second_total) >= 11 and first_total != second_total)


def finish_deal_from(totals: tuple[int, int], game: str = "metamazzo") -> Game:
    """Play a deal from these totals: seat 1 takes every trick, 11 points, and no seat declares."""
    table = stock_table(game, "3D 2D AD RD CD FD 7D 6D 5D 4D", "3C 2C AC RC CC FC 7C 6C 5C 4C",
                        "3S 3B 2S 2B AS AB RS RB CS CB FS FB 7S 7B 6S 6B 5S 5B 4S 4B", {"target": 31})  # fmt: skip
    table.totals = totals
    play_out(table)
    assert (table.totals[0] - totals[0], table.totals[1] - totals[1]) == (0, 11)
    return table


def test_game_continues_below_the_target() -> None:
    assert finish_deal_from((30, 19)).needs_deal


def test_side_at_the_target_wins() -> None:
    table = finish_deal_from((30, 20))
    assert (table.ending, table.winner) == ("target", (1,))


def test_higher_total_wins_if_both_reach_the_target() -> None:
    table = finish_deal_from((40, 25))
    assert table.winner == (0,)


def test_tie_at_the_target_adds_a_deal() -> None:
    table = finish_deal_from((33, 22))
    assert table.totals == (33, 33)
    assert not table.is_over
    table.deal(bytes(32))
    play_out(table)
    assert table.is_over


def test_target_is_checked_only_at_the_end_of_a_deal() -> None:
    table = stock_table("metamazzo", "3D 2D AD", "4D", rules={"target": 21})
    table.totals = (0, 20)
    table.play(1, "declare napoletana D")
    assert not table.is_over


def test_spades_tie_at_the_target_adds_a_hand() -> None:
    table = spades_table("", "", {"target": 200})
    table.totals = (500, 500)
    table.play(1, "bid 1")
    table.play(0, "bid 1")
    while table.turn is not None:
        play_any_card(table)
    assert table.is_over == (table.totals[0] != table.totals[1])


@pytest.mark.parametrize("game", GAMES)
def test_any_seat_can_resign_and_its_side_loses(game: str) -> None:
    for number in range(12):
        table = Game(game)
        table.deal(bytes([number]) * 32)
        for _ in range(number * 4):
            if table.turn is None:
                break
            table.play(table.turn, table.legal_moves(table.turn)[0])
        seat = number % table.kind.seats
        assert "resign" in table.legal_moves(seat)
        table.play(seat, "resign")
        assert table.ending == "resign"
        assert table.winner is not None
        assert all(winner % 2 != seat % 2 for winner in table.winner)
        assert len(table.winner) == table.kind.seats // 2
        assert table.moves[-1] == (seat, "resign")
        engine.verify(engine.read(table.record().to_json()))
        with pytest.raises(GameIsOver):
            table.play(seat, "resign")


def test_resigning_between_deals_keeps_the_points() -> None:
    table = Game("metamazzo", dealer=0)
    table.deal(bytes(32))
    play_out(table)
    assert table.legal_moves(0) == ["resign"]
    points = table.record().deals[0].points
    table.play(0, "resign")
    assert table.winner == (1,)
    assert table.record().deals[0].points == points
    engine.verify(engine.read(table.record().to_json()))


def test_deal_cut_short_counts_its_points_so_far() -> None:
    table = stock_table("metamazzo", "3D 2D AD", "CD RD")
    table.play(1, "declare napoletana D")
    table.play(1, "play AD")
    table.play(0, "play RD")
    table.play(0, "resign")
    deal = table.record().deals[0]
    assert (deal.thirds, deal.declared, deal.points, deal.totals) == ((0, 4), (0, 3), (0, 4), (0, 4))


def test_game_can_be_stopped_from_outside() -> None:
    for ending, side, winner in (("timeout", 1, (1,)), ("cancelled", None, ())):
        table = Game("metamazzo")
        table.deal(bytes(32))
        table.stop(ending, side)  # type: ignore[arg-type]
        assert (table.ending, table.winner) == (ending, winner)
        engine.verify(engine.read(table.record().to_json()))
        assert engine.load(engine.read(table.record().to_json())).ending == ending
    table = Game("metamazzo")
    with pytest.raises(BadDeal):
        table.stop("timeout", None)
    with pytest.raises(BadDeal):
        table.stop("target", 0)


def test_moves_before_a_deal_or_after_the_end_are_refused() -> None:
    table = Game("metamazzo")
    with pytest.raises(NoDeal):
        table.play(0, "play 3D")
    with pytest.raises(NoDeal):
        table.play(0, "resign")
    assert table.legal_moves(0) == []
    table.deal(bytes(32))
    table.play(0, "resign")
    assert table.legal_moves(0) == []
    with pytest.raises(GameIsOver):
        table.play(1, "play 3D")
    with pytest.raises(BadDeal, match="over"):
        table.deal(bytes(32))


def test_unknown_seats_and_moves_are_refused() -> None:
    table = Game("metamazzo")
    table.deal(bytes(32))
    for seat in (-1, 2, 99):
        with pytest.raises(UnknownSeat):
            table.play(seat, "play 3D")
        with pytest.raises(UnknownSeat):
            table.legal_moves(seat)
    for move in (
        "",
        "play",
        "play 9D",
        "PLAY 3D",
        "play 3D ",
        "gives 3D",
        "take 1 2 3 4",
        "bid 3",
        "\x00",
        "play 3D busso",
    ):
        with pytest.raises(UnknownMove):
            table.play(1, move)
    with pytest.raises(UnknownMove):
        table.play(None, "gives 3D")


def test_errors_quote_little_and_no_control_characters() -> None:
    table = Game("metamazzo")
    table.deal(bytes(32))
    with pytest.raises(UnknownMove) as caught:
        table.play(1, "\x1b[2J" + "x" * 10_000)
    assert len(str(caught.value)) < 120
    assert "\x1b" not in str(caught.value)


def test_deal_needs_a_32_byte_secret_and_the_right_moment() -> None:
    table = Game("metamazzo")
    with pytest.raises(BadDeal, match="32 bytes"):
        table.deal(b"short")
    with pytest.raises(BadDeal, match="40 cards"):
        table.lay_out(["3D"] * 40)
    with pytest.raises(BadDeal, match="who deals"):
        table.lay_out(GAMES["metamazzo"].pack.new)
    table.deal(bytes(32))
    with pytest.raises(BadDeal, match="not over"):
        table.deal(bytes(32))


@pytest.mark.parametrize("text", ["", "A", "g", "0" * 65, "00\n", "é"])
def test_cut_is_up_to_64_hex_digits(text: str) -> None:
    table = Game("metamazzo", dealer=0)
    with pytest.raises(BadDeal, match="1 to 64 characters"):
        table.deal(bytes(32), Cut(text, 1))
    assert table.needs_deal


@pytest.mark.parametrize("seat", [-1, 0, 2, 4, 5])
def test_only_an_opponent_of_the_dealer_cuts(seat: int) -> None:
    table = Game("tavolo", dealer=2)
    with pytest.raises(BadDeal, match="an opponent cuts"):
        table.deal(bytes(32), Cut("00", seat))
    assert table.needs_deal


def test_cut_does_not_decide_the_first_dealer() -> None:
    for number in range(20):
        secret = number.to_bytes(32, "big")
        dealer = Game("testa").dealer_for(secret)
        table = Game("testa")
        table.deal(secret, Cut("c0ffee", 1 - dealer))
        assert table.record().deals[0].dealer == dealer == first_dealer(2, secret)


def test_unknown_games_and_wrong_seats_are_refused() -> None:
    with pytest.raises(UnknownGame, match="pizzichino, spizzichino"):
        Game("briscola")
    with pytest.raises(BadRules, match="2 seats"):
        Game("testa", seats=["A", "B", "C"])
    with pytest.raises(BadRules, match="seat 2"):
        Game("testa", dealer=2)


def test_copy_is_independent() -> None:
    for game in GAMES:
        table = Game(game)
        table.deal(bytes(32))
        for _ in range(10):
            if table.turn is not None:
                table.play(table.turn, table.legal_moves(table.turn)[0])
        before = table.record(), table.view(0), table.view(1)
        copied = table.copy()
        assert (copied.record(), copied.view(0), copied.view(1)) == before
        while not copied.needs_deal and copied.turn is not None:
            copied.play(copied.turn, copied.legal_moves(copied.turn)[0])
        assert (table.record(), table.view(0), table.view(1)) == before
