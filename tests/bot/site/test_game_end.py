"""The end of a game on a page: winner, best trick, rating and result to share."""

from datetime import date

from bot.finished.ratings import Change
from bot.people import Profile
from bot.site.game_end import NOT_RATED, GameEnd, Rated
from bot.site.hand_page import hand_page
from bot.site.tricks import finished_tricks
from bot.store.entries import Day, Entry, Move
from bot.tables.table import Table
from engine import GAMES
from tests.bot.tables.test_table import ADA, FOUR, play_cards, start_game


def end_for(table: Table, seat: int, language: str = "en", rated: Rated = NOT_RATED) -> GameEnd | None:
    return hand_page(table, FOUR[seat], Profile(FOUR[seat], language=language), rated=rated).end


def resigned_game(game: str, cards: int, *entries: Entry) -> Table:
    """Return a game in which Bea resigned after some cards."""
    table = play_cards(start_game(game, *entries), cards)
    return table.with_entries([Move(1, "resign")], "end")


def test_best_trick_has_the_most_points() -> None:
    table = resigned_game("testa", 20)
    end = end_for(table, 0)
    assert end
    assert end.is_won
    assert table.game
    [deal] = table.game.record().deals
    tricks = list(finished_tricks(GAMES["testa"], deal.moves))
    worth = [sum({"A": 3}.get(card[0], card[0] in "32RCF") for _seat, card, _said in trick.cards) for trick in tricks]
    best = tricks[worth.index(max(worth))]
    assert [card.code for card in end.best] == [played.card for played in best.cards]
    assert [card.wins for card in end.best] == [played.seat == best.winner for played in best.cards]
    taker = "you" if best.winner == 0 else "\u2068P1\u2069"
    assert end.about.startswith(f"Best trick: {taker}, deal 1. Points: ")


def test_trick_winners_agree_with_the_engine() -> None:
    for game in ("tressette", "spades", "metamazzo"):
        table = start_game(game)
        takers = []
        for _ in range(16):
            assert table.game
            assert table.game.current
            while table.game.current.phase != "play":
                turn = table.game.turn
                assert turn is not None
                move = next(move for move in table.game.legal_moves(turn) if move not in ("resign", "claim"))
                table = table.with_entries([Move(turn, move)], "d")
                assert table.game
                assert table.game.current
            table = play_cards(table)
            view = table.view(None)
            assert view
            assert view.deal
            if view.deal.last_trick and view.deal.trick == ():
                takers.append(view.deal.last_trick.winner)
        assert table.game
        assert [trick.winner for trick in finished_tricks(GAMES[game], table.game.moves)] == takers, game


def test_spades_has_no_best_trick() -> None:
    end = end_for(start_game("spades", Move(0, "resign")), 0)
    assert end
    assert not end.is_won
    assert end.best == ()
    assert end.about == ""


def test_rating_is_the_readers_own() -> None:
    rated = Rated("", Change(ADA, 1500, 1488))
    end = end_for(resigned_game("testa", 4), 0, "it", rated)
    assert end
    assert end.rating == "Il tuo punteggio: 1488 (−12)"
    end = end_for(resigned_game("testa", 4), 1)
    assert end
    assert end.rating == ""
    assert "resigned" in end.share


def test_game_whose_cards_others_still_play_has_no_end() -> None:
    assert end_for(resigned_game("testa", 4, Day(date(2026, 11, 27))), 0) is None
