"""The stock in Metà Mazzo and Testa a Testa."""

from engine import Game
from engine.cards import ITALIAN
from engine.views import ShownCard, StockView
from tests.engine.tables import play_any_card, play_cards, play_out, stock_table


def test_ten_cards_are_dealt_in_fives_from_the_eldest() -> None:
    pack = list(ITALIAN.new)
    table = Game("metamazzo", dealer=0)
    table.lay_out(pack)
    eldest, dealer = table.view(1).deal, table.view(0).deal
    assert eldest
    assert dealer
    assert set(eldest.hand or ()) == {*pack[0:5], *pack[10:15]}
    assert set(dealer.hand or ()) == {*pack[5:10], *pack[15:20]}


def test_winner_then_loser_draws_and_shows() -> None:
    table = stock_table("metamazzo", "4D", "3D", "7S FB")
    play_cards(table, "4D 3D")
    for viewer in (None, 0, 1):
        view = table.view(viewer).deal
        assert isinstance(view, StockView)
        assert view.drawn == (ShownCard(0, "7S"), ShownCard(1, "FB"))
        assert view.known == (("7S",), ("FB",))
        assert view.stock == 18
        assert view.counts == (10, 10)


def test_winners_drawn_card_is_listed_first() -> None:
    table = stock_table("metamazzo", "3D 2D", "4D 5D", "7S FB 6S CB")
    for trick, drawn in (("3D 4D", ("7S", "FB")), ("2D 5D", ("6S", "CB"))):
        play_cards(table, trick)
        view = table.view(None).deal
        assert isinstance(view, StockView)
        assert view.drawn == (ShownCard(1, drawn[0]), ShownCard(0, drawn[1]))


def test_view_lists_shown_cards_until_they_are_played() -> None:
    table = stock_table("metamazzo", "4D 5D 7C", "3D 2D", "7S FB 6S CB 5S RB")
    play_cards(table, "4D 3D 2D 5D 7S")
    view = table.view(None).deal
    assert view
    assert view.known == (("6S",), ("CB", "FB"))


def test_play_continues_without_stock_to_twenty_tricks() -> None:
    table = Game("metamazzo", dealer=0)
    table.deal(bytes(32))
    counts = []
    while table.turn is not None:
        play_any_card(table)
        view = table.view(None).deal
        assert isinstance(view, StockView)
        if not view.trick:
            counts.append((view.stock, view.counts, len(view.drawn)))
    assert counts[9] == (0, (10, 10), 2)
    assert counts[10] == (0, (9, 9), 0)
    assert counts[19] == (0, (0, 0), 0)


def test_eldest_leads_every_deal() -> None:
    table = Game("metamazzo", dealer=1)
    for expected in (0, 1, 0):
        table.deal(bytes([expected]) * 32)
        assert table.turn == expected
        play_out(table)


def test_four_of_coins_holder_leads_the_first_deal() -> None:
    assert stock_table("testa", "3D", "4D").turn == 0
    assert stock_table("testa", "4D", "3D").turn == 1


def test_eldest_leads_if_the_four_of_coins_is_in_the_stock() -> None:
    assert stock_table("testa", "3D", "2D", "4D").turn == 1


def test_four_of_coins_lead_alternates_in_later_deals() -> None:
    table = stock_table("testa", "3D", "4D")
    leaders = [table.turn]
    for number in range(3):
        play_out(table)
        if table.is_over:
            break
        table.deal(bytes([number]) * 32)
        leaders.append(table.turn)
    assert leaders[:3] == [0, 1, 0][: len(leaders)]
    assert len(leaders) > 1


def test_deal_tracks_drawn_cards_until_they_are_played() -> None:
    table = stock_table("metamazzo", "7D 4S", "4D 5S", "5D 6D")
    play_cards(table, "7D 4D")
    deal = table.current
    assert deal
    drawn_cards = [(0, "6D"), (1, "5D")]
    assert [(seat, code) for seat in (0, 1) for code in deal.PACK.codes if deal.has_shown(seat, code)] == drawn_cards
    assert not deal.has_shown(1, "none")
    play_cards(table, "5D 6D")
    assert not deal.has_shown(0, "6D")
    assert not deal.has_shown(1, "5D")
