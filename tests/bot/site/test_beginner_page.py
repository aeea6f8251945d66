"""What a table's page explains in a player's first game."""

from bot.people import Profile
from bot.site.hand_page import hand_page
from bot.site.page_models import HandPage
from bot.store.entries import Move
from bot.tables.table import Table
from tests.bot.tables.test_table import FOUR, start_game


def beginner_page(table: Table, seat: int, *, is_beginner: bool = True) -> HandPage:
    return hand_page(table, FOUR[seat], Profile(FOUR[seat]), is_beginner=is_beginner)


def test_first_game_explains_order_and_following_suit() -> None:
    for game, follow in (
        ("testa", "Follow the suit of the first card if you can."),
        ("spades", "Follow suit if you can. Spades beat all other suits."),
    ):
        table = start_game(game)
        order, second_line = beginner_page(table, 0).order
        assert order.startswith("High to low: ")
        assert second_line == follow
        assert not beginner_page(table, 0, is_beginner=False).order


def test_first_game_of_spades_explains_bids_and_trumps() -> None:
    table, news = start_game("spades"), list[str]()
    while len(news) < 3:
        assert table.game
        seat = table.game.turn
        assert seat is not None
        page = beginner_page(table, seat)
        if page.news and page.news not in news:
            news.append(page.news)
        assert not beginner_page(table, seat, is_beginner=False).news
        assert not beginner_page(table, 1 - seat).news
        move = next(move for move in sorted(table.game.legal_moves(seat)) if move not in ("blind", "resign"))
        table = table.with_entries([Move(seat, move)], "u")
    assert news[0].startswith("You draw 13 cards")
    assert news[1].endswith("Nil means no trick.")
    assert news[2].endswith("Spades beat all other suits.")
