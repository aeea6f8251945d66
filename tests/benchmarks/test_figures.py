"""Short runs of the benchmarks of engine, store, robots and solver."""

import pytest
from typer.testing import CliRunner, Result

from benchmarks import compare, robots, solver
from benchmarks.__main__ import app
from engine import GAMES
from tests.groups import COMPILED_SEARCHES


def run_benchmark(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_engine_benchmark_prints_a_baseline_with_each_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.engine.SECONDS", 0.01)
    monkeypatch.setattr("benchmarks.engine.ROUNDS", 1)
    monkeypatch.setattr("benchmarks.engine.GAMES_WEIGHED", 1)
    output = run_benchmark("engine").output
    assert "OpenSpiel" in output
    assert [
        figure.label for figure in compare.FIGURES if figure.bench == "engine" and figure.read(output) is None
    ] == []
    for game in GAMES:
        assert output.count(game) >= 3, f"not every table of benchmarks/engine.py has {game}"


@pytest.mark.long
def test_store_benchmark_prints_its_baseline_with_the_presses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.store.TABLES", 3)
    monkeypatch.setattr("benchmarks.store.PRESSES", 256)
    monkeypatch.setattr("benchmarks.sizes.GAMES_EACH", 2)
    monkeypatch.setattr("benchmarks.sizes.PEOPLE", 3)
    output = run_benchmark("store").output
    assert "bare appends/s" in output
    assert "store round trips a press" in output
    assert "a finished game, 2 of each" in output
    assert "a person, profile and handle" in output


@pytest.mark.long
@COMPILED_SEARCHES
def test_robots_benchmark_prints_points_and_times_of_all_pairs() -> None:
    out = run_benchmark("robots", "--game", "testa", "--deals", "2").output
    for pair in ("easy : random", "medium : easy", "strong : medium", "strong : plain", "strong : flat"):
        assert pair in out
    assert out.count("points a deal over 2 packs") == 5
    assert out.count("CPU a move") == 5
    assert run_benchmark("robots", "--game", "poker").exit_code != 0


def test_robots_benchmark_can_be_limited_to_one_pair() -> None:
    out = run_benchmark("robots", "--game", "testa", "--deals", "0", "--games", "2", "--pair", "easy:random").output
    assert " of 2 games (" in out
    assert out.count(" : ") == 1
    result = run_benchmark("robots", "--pair", "easy:god")
    assert result.exit_code == 2
    assert "strong:medium" in result.output
    assert run_benchmark("robots", "--deals", "0").exit_code == 2


def test_win_share_has_an_interval_even_if_all_games_are_won() -> None:
    low, high = robots.win_interval(458, 600)
    assert (round(low, 3), round(high, 3)) == (0.728, 0.796)
    low, high = robots.win_interval(30, 30)
    assert (round(low, 3), high) == (0.886, 1.0)


@pytest.mark.long
@COMPILED_SEARCHES
def test_solver_benchmark_prints_its_baseline_and_each_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "SOLVES", 2)
    monkeypatch.setattr(solver, "BASELINES", 2)
    monkeypatch.setattr(solver, "PLAIN_EACH", 5)
    monkeypatch.setattr(solver, "FOUR_HANDS", (5,))
    out = run_benchmark("solver").output
    assert "baseline, plain alpha-beta" in out
    assert out.count("every card's value") == 4


def test_measured_robots_play_to_the_end() -> None:
    tally = robots.play_pack(0, "tressette", ("plain", "medium"), 0.0001)
    assert len(tally.margins) == 1
    assert robots.play_game(0, "tressette", ("plain", "medium"), 0.0001).games == 1
    # Each robot plays 20 cards in each of two deals, and declares.
    assert min(map(len, tally.seconds)) >= 40
