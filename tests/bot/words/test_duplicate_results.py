"""The result of a one-deal game: points if the deal is complete, otherwise the winner."""

from dataclasses import replace

import pytest

from bot.panels.replays import replay_page
from bot.site.api_models import replayed_game
from bot.words.duplicate_results import DealResult, deal_result
from engine import GAMES, Game
from tests.bot.features.daily.test_results import SECRET, play_first_deal
from tests.bot.finished.games import finished_game


@pytest.mark.parametrize("game_id", GAMES)
def test_finished_deal_has_points_and_tricks(game_id: str) -> None:
    record = play_first_deal(game_id, 1).record()
    result = deal_result(record)
    unit = int(record.rules.get("score_unit", 1))
    assert (result.ending, result.points) == ("played", tuple(total * unit for total in record.deals[0].totals))
    assert len(result.tricks) == (13 if game_id == "spades" else GAMES[game_id].pack.size // GAMES[game_id].seats)
    first_points, second_points = result.points
    assert result.winner == (None if first_points == second_points else 0 if first_points > second_points else 1)


def test_unfinished_deal_goes_to_the_other_side() -> None:
    for seat in (0, 1):
        game = Game("tressette", {}, ["p"] * 4)
        game.deal(SECRET)
        timed_out, cancelled = game.copy(), game.copy()
        game.play(seat + 2, "resign")
        assert deal_result(game.record()) == DealResult((0, 0), "", 1 - seat, "resign")
        timed_out.stop("timeout", seat)
        assert (deal_result(timed_out.record()).winner, deal_result(timed_out.record()).ending) == (seat, "timeout")
        cancelled.stop("cancelled")
        assert (deal_result(cancelled.record()).winner, deal_result(cancelled.record()).ending) == (None, "void")


def test_unfinished_deal_gives_its_tricks_but_no_points() -> None:
    result = deal_result(play_first_deal("testa", 1, "resign").record())
    assert (result.points, result.ending) == ((0, 0), "resign")
    assert set(result.tricks) <= {"0", "1"}
    assert 10 < len(result.tricks) < 20


def test_replay_names_the_duplicate_and_not_a_cancellation() -> None:
    record = play_first_deal("metamazzo", 1).record()
    game = replace(finished_game(1, "metamazzo"), record=record, fixture="K7QF2M 2.0.4")
    replayed = replayed_game(game, "en", "italian")
    assert (replayed.result, replayed.fixture) == (
        "The deal is over.",
        "🏆 Tournament K7QF2M · round 2 · match 1 · return deal 4",
    )
    page = replay_page(game, 1, "it", "italian").plain
    assert page.startswith("🏆 Torneo K7QF2M · turno 2 · incontro 1 · smazzata di ritorno 4\nMetà Mazzo")
    assert page.endswith("La smazzata è finita.")
    assert replayed_game(finished_game(1), "en", "italian").fixture == ""


def test_replay_of_a_stopped_game_says_cancelled() -> None:
    game = Game("testa", {}, ["p", "q"])
    game.deal(SECRET)
    game.stop("cancelled")
    replayed = replayed_game(replace(finished_game(1), record=game.record()), "en", "italian")
    assert (replayed.result, replayed.fixture) == ("The game was cancelled.", "")
