"""Results of the deal of the day: points, squares, the robots' result, ranks and streaks."""

import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from random import Random

import pytest

from bot.features.daily.pages import played_panel
from bot.features.daily.ranking import RankedResult, rank_results
from bot.features.daily.results import play_with_robots
from bot.features.daily.streaks import Streak, streak_of
from bot.solo_deals.results import SoloResult, result_of
from bot.solo_deals.words import squares_text
from engine import GAMES, Game, verify
from engine.game import MoveEntry
from engine.views import View
from tests.groups import COMPILED_SEARCHES

SECRET = bytes(range(32))
SCRIPT = "from bot.features.daily.results import *; print(play_with_robots({game!r}, bytes(range(32))))"


def play_first_deal(game_id: str, seed: int, ending: str = "cancelled") -> Game:
    """Play the first deal at random, then stop the game."""
    random, game = Random(seed), Game(game_id, {}, ["p"] * GAMES[game_id].seats)
    game.deal(SECRET)
    while game.deal_number == 1 and game.turn is not None:
        moves = [move for move in game.legal_moves(game.turn) if move not in ("resign", "claim")]
        game.play(game.turn, "resign" if ending == "resign" and len(game.moves) > 30 else random.choice(moves))
    if not game.is_over:
        game.stop("cancelled")
    return game


@pytest.mark.parametrize("game_id", GAMES)
def test_finished_deal_gives_a_valid_record_and_result(game_id: str) -> None:
    game = play_first_deal(game_id, 1)
    record = game.record()
    verify(record)
    result = result_of(record)
    assert game.current
    view = game.view(None).deal
    assert view
    assert (result.tricks.count("1"), result.tricks.count("0")) == tuple(view.tricks)
    unit = int(record.rules.get("score_unit", 1))
    assert result.points == (record.deals[0].totals[0] * unit, record.deals[0].totals[1] * unit)
    assert squares_text(result) == "".join({"1": "🟩", "0": "⬜"}[digit] for digit in result.tricks)


def test_results_explain_squares_until_a_streak() -> None:
    own_result = RankedResult("p", SoloResult((7, 4), "110"), 1)
    for longest, legends in ((1, 1), (2, 1), (3, 0)):
        panel = played_panel("en", date(2026, 11, 24), "testa", own_result, 1, None, Streak(1, longest), ())
        assert panel.plain.count("🟩 trick taken, ⬜ trick lost") == legends


class Claimer:
    """A robot that always claims if it can."""

    def choose(self, view: View, _history: Sequence[MoveEntry]) -> str | None:
        return "claim" if "claim" in view.moves else next(move for move in view.moves if move != "resign")


def test_robots_do_not_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.daily.results.make_robot", lambda _level, _random: Claimer())
    assert play_with_robots("tressette", SECRET).points


def test_given_up_deal_scores_no_points() -> None:
    game = Game("metamazzo", {}, ["p", "q"])
    game.deal(SECRET)
    game.stop("cancelled")
    for record in (play_first_deal("metamazzo", 1, "resign").record(), game.record()):
        result = result_of(record)
        assert result.points is None
        assert result.margin is None


@COMPILED_SEARCHES
@pytest.mark.long
@pytest.mark.parametrize("game_id", GAMES)
def test_robot_result_is_the_same_in_another_process(game_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.daily.results.LEVEL", "strong")
    first = play_with_robots(game_id, SECRET)
    script = SCRIPT.format(game=game_id)
    second = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert second.strip() == str(first)


def test_equal_results_share_a_rank_and_quitters_are_last() -> None:
    results = {
        "a": SoloResult((7, 4), "1"),
        "b": SoloResult(None, ""),
        "c": SoloResult((8, 3), "1"),
        "d": SoloResult((6, 3), "0"),
    }
    assert [(line.person, line.rank) for line in rank_results(results)] == [("c", 1), ("a", 2), ("d", 2), ("b", None)]


@pytest.mark.parametrize(
    ("days", "current", "longest"),
    [([], 0, 0), ([9], 1, 1), ([10], 1, 1), ([8], 0, 1), ([1, 2, 3, 9, 10], 2, 3), ([7, 8, 9], 3, 3)],
)
def test_streak_lasts_until_today_or_yesterday(days: list[int], current: int, longest: int) -> None:
    streak = streak_of(days, 10)
    assert (streak.now, streak.longest) == (current, longest)
