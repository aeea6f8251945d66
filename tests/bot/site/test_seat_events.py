"""Events at seats: what a page says at a player's seat."""

from bot.people import Profile
from bot.site.hand_page import hand_page
from bot.site.page_models import HandPage
from bot.store.entries import Move
from bot.tables.table import Table
from tests.bot.tables.test_table import FOUR, play_cards, start_game


def page_of(table: Table, seat: int, language: str = "en", suits: str = "italian") -> HandPage:
    person = FOUR[seat]
    return hand_page(table, person, Profile(person, language=language, suits=suits))


def table_with_declaration(game: str) -> Table:
    """Return a table whose player to move can declare."""
    for secret in range(200):
        table = start_game(game, secret=secret)
        for _ in range(8):
            assert table.game
            assert table.game.turn is not None
            if any(move.startswith("declare ") for move in table.game.legal_moves(table.game.turn)):
                return table
            table = play_cards(table)
    raise AssertionError("no hand with a declaration")


def declare_first(table: Table) -> tuple[Table, int, str]:
    """Make the first declaration of the player to move. Return the table after it, the seat and the move."""
    assert table.game
    seat = table.game.turn
    assert seat is not None
    move = next(move for move in table.game.legal_moves(seat) if move.startswith("declare "))
    return table.with_entries([Move(seat, move)], "declared"), seat, move


def test_declaration_shows_its_cards_and_points_at_the_seat() -> None:
    table, seat, move = declare_first(table_with_declaration("tressette"))
    for reader in range(4):
        *_, event = page_of(table, reader).events
        assert event.at == (seat - reader) % 4
        # The game counts three for one.
        points = {"three": 9, "four": 12, "napoletana": 9}[move.split(" ")[1]]
        assert event.text.endswith(f"! +{points}")
        assert len(event.cards) == (4 if " four " in move else 3)
    *_, event = page_of(table, seat, "it", "french").events
    assert {card[1] for card in event.cards} <= set("CDHS")


def test_signal_and_taker_are_shown_in_the_readers_language() -> None:
    table = start_game("tressette")
    assert table.game
    leader = table.game.turn
    assert leader is not None
    signal = next(move for move in table.game.legal_moves(leader) if move.endswith(" busso"))
    table = table.with_entries([Move(leader, signal)], "led")
    assert [event.text for event in page_of(table, (leader + 1) % 4).events] == ["Busso!"]
    assert page_of(table, leader).takes == ""
    table = play_cards(table, 3)
    assert table.game
    view = table.view(None)
    assert view
    assert view.deal
    assert view.deal.last_trick
    taker = view.deal.last_trick.winner
    assert page_of(table, taker).takes == "You take it"
    assert page_of(table, (taker + 1) % 4, "it").takes == f"Prende \u2068P{taker}\u2069"


def test_bid_and_nil_are_shown_in_words() -> None:
    table = start_game("spades")
    assert table.game
    while table.game.current and table.game.current.phase == "draft":
        turn = table.game.turn
        assert turn is not None
        move = next(move for move in table.game.legal_moves(turn) if move in ("draw", "keep"))
        table = table.with_entries([Move(turn, move)], "d")
        assert table.game
    assert table.game
    first = table.game.turn
    assert first is not None
    table = table.with_entries([Move(first, "bid 1"), Move(1 - first, "bid 0")], "bid")
    assert [(event.at, event.text) for event in page_of(table, first).events] == [(0, "1 trick"), (1, "Nil!")]
    assert [event.text for event in page_of(table, 1 - first, "it").events] == ["1 presa", "Zero!"]
