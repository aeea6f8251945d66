"""The log of a deal on a page: takers during the deal, all cards after it."""

from datetime import date
from random import Random

import pytest

from bot.people import Profile
from bot.site.deal_log import DealLog, watched_log
from bot.site.hand_page import hand_page
from bot.store.entries import Day, Deal, Entry, Move
from bot.tables.table import Table
from engine import GAMES
from tests.bot.site.test_seat_events import declare_first, table_with_declaration
from tests.bot.tables.test_table import FOUR, play_cards, start_game


def log_for(table: Table, seat: int, language: str = "en") -> DealLog:
    log = hand_page(table, FOUR[seat], Profile(FOUR[seat], language=language)).log
    assert log
    return log


def played_deal(game: str, *entries: Entry) -> Table:
    """Return a table after all moves of its first deal."""
    random, table = Random(2), start_game(game, *entries)
    while table.game and not table.game.is_over and not table.game.needs_deal:
        turn = table.game.turn
        assert turn is not None
        moves = [move for move in table.game.legal_moves(turn) if move not in ("resign", "claim")]
        table = table.with_entries([Move(turn, random.choice(moves))], "m")
    return table


@pytest.mark.parametrize("game", ["testa", "tressette"])
def test_only_the_last_trick_shows_its_cards_during_a_deal(game: str) -> None:
    table = play_cards(start_game(game), 3 * GAMES[game].seats + 1)
    log = log_for(table, 0)
    assert log.number == 1
    assert [entry.text.partition(":")[0] for entry in log.entries] == ["Trick 1", "Trick 2", "Trick 3"]
    assert [len(entry.cards) for entry in log.entries] == [0, 0, GAMES[game].seats]
    [winner] = [card.by for card in log.entries[-1].cards if card.wins]
    assert log.entries[-1].text == f"Trick 3: {winner}"


@pytest.mark.parametrize("game", ["metamazzo", "spades"])
def test_all_tricks_show_their_cards_after_the_deal(game: str) -> None:
    table = played_deal(game)
    assert table.game
    play_count = sum(move.startswith("play ") for _seat, move in table.game.moves)
    for finished in (table, table if table.game.is_over else table.with_entries([Deal(bytes(32))], "next")):
        log = log_for(finished, 1)
        assert log.number == 1
        assert len({card.code for entry in log.entries for card in entry.cards}) == play_count


def test_log_begins_again_with_the_first_move_of_a_deal() -> None:
    table = played_deal("testa").with_entries([Deal(bytes([7]) * 32)], "next")
    log = log_for(play_cards(table), 0)
    assert (log.number, [entry for entry in log.entries if entry.cards]) == (2, [])


def test_finished_tricks_stay_while_others_play_on() -> None:
    table = played_deal("testa").with_entries([Deal(bytes([7]) * 32)], "next")
    played = play_cards(table)
    assert played.game
    seat = next(by for by, move in played.game.history(0) if by is not None and move.startswith("play "))
    page = hand_page(played, FOUR[1 - seat], Profile(FOUR[1 - seat]))
    assert page.count
    assert page.finished_log
    assert page.finished_log.number == 1
    assert len({card.code for entry in page.finished_log.entries for card in entry.cards}) == 40


def test_declarations_and_bids_are_in_words() -> None:
    table, seat, _move = declare_first(table_with_declaration("tressette"))
    entry = log_for(table, seat).entries[-1]
    assert entry.text.startswith("you: ")
    assert entry.text.endswith(("+9", "+12"))
    assert entry.cards == ()
    assert log_for(table, (seat + 1) % 4).entries[-1].text.startswith(f"\u2068P{seat}\u2069: ")
    bids = [entry.text for entry in log_for(played_deal("spades"), 0).entries if not entry.cards]
    assert len(bids) == 2


def test_cards_that_others_still_play_stay_hidden() -> None:
    table = played_deal("testa", Day(date(2026, 11, 27)))
    assert [bool(entry.cards) for entry in log_for(table, 0).entries if "Trick" in entry.text] == [False] * 19 + [True]


def test_spectators_see_the_log_without_other_cards() -> None:
    table = play_cards(start_game("tressette"), 9)
    log = watched_log(table, "it", "french")
    assert log
    assert [len(entry.cards) for entry in log.entries] == [0, 4]
    assert not [card for card in log.entries[-1].cards if card.by == "tu"]
    table, seat, _move = declare_first(table_with_declaration("tressette"))
    log = watched_log(table, "en", "italian")
    assert log
    assert log.entries[-1].text.startswith(f"\u2068P{seat}\u2069: ")


def test_log_is_in_the_readers_language() -> None:
    table = play_cards(start_game("testa"), 2)
    assert log_for(table, 0, "it").entries[-1].text.startswith("Presa 1: ")
