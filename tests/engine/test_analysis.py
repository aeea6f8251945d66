"""What a finished deal could have been."""

from random import Random

import pytest

from bot.simulation import simulate
from engine import GAMES, Game, load
from engine.declarations import COMBINATIONS
from engine.position import search_position
from engine.robots import analysis
from engine.robots.analysis import analyse_deal
from engine.robots.findings import Verdict, summary
from engine.robots.strong import StrongRobot
from engine.search.solver import Solver
from tests.engine.tables import play, spades_table
from tests.groups import COMPILED_SEARCHES

pytestmark = COMPILED_SEARCHES


@pytest.mark.parametrize("game_id", GAMES)
def test_every_decision_is_judged_the_same_each_time(game_id: str) -> None:
    record = simulate(game_id, {}, ["greedy"] * GAMES[game_id].seats, "1")
    verdicts = analyse_deal(record, 1)
    assert verdicts == analyse_deal(record, 1)
    moves = record.deals[0].moves
    for one in verdicts:
        assert moves[one.place][:2] == (one.seat, one.move)
        assert one.lost >= 0
        assert (one.lost > 0) == (one.better != one.move)
    assert len([one for one in verdicts if one.exact]) > 3


def test_what_is_lost_for_certain_is_what_the_solver_says() -> None:
    record = simulate("metamazzo", {}, ["random"] * 2, "3")
    solver, looked_at = Solver(), 0
    for one in analyse_deal(record, 1):
        if not one.exact or one.better in COMBINATIONS:
            continue
        game = load(record, 1, one.place)
        assert game.current
        values = solver.solve(search_position(game.current))
        assert values
        sign, index = (1 if one.seat == 0 else -1), game.kind.pack.index
        mine = {card: (value if sign > 0 else 35 - value) // 3 for card, value in values.items()}
        assert max(mine.values()) - mine[index[one.move.split(" ")[1]]] == one.lost
        if one.lost:
            assert mine[index[one.better.split(" ")[1]]] == max(mine.values())
        looked_at += 1
    assert looked_at > 10


def test_a_window_that_passed_is_points_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    # How good the cards were is not looked at.
    monkeypatch.setattr(analysis, "SHARE", 0.01)
    lost = 0
    for seed in range(8):
        record = simulate("tressette", {}, ["greedy"] * 4, str(seed))
        silent = record.deals[0].model_copy(
            update={"moves": [move for move in record.deals[0].moves if move[1] not in COMBINATIONS]}
        )
        said = [COMBINATIONS[move[1]].points for move in record.deals[0].moves if move[1] in COMBINATIONS]
        if not said or any(move[1] == "claim" for move in silent.moves):
            continue
        changed = record.model_copy(update={"deals": [silent, *record.deals[1:]]})
        missed = [one for one in analyse_deal(changed, 1) if one.better in COMBINATIONS]
        assert sorted(one.lost for one in missed) == sorted(said)
        assert not [one for one in analyse_deal(record, 1) if one.better in COMBINATIONS]
        lost += len(missed)
    assert lost


def test_better_players_give_less_away() -> None:
    record = simulate("metamazzo", {}, ["strong", "random"], "5")
    verdicts = [one for deal in (1, 2) for one in analyse_deal(record, deal)]
    strong, random = summary(verdicts, 0), summary(verdicts, 1)
    assert strong.accuracy > random.accuracy
    assert strong.lost_exactly + strong.lost_by_judgement < random.lost_exactly + random.lost_by_judgement


def test_a_summary_has_the_costliest_first() -> None:
    verdicts = [
        Verdict(1, place, place % 2, "play 4D", "play 3D", float(place % 5), exact=place % 3 == 0)
        for place in range(20)
    ]
    one = summary(verdicts, 0, most=2)
    assert [verdict.lost for verdict in one.costliest] == [4.0, 4.0]
    assert one.decisions == 10
    assert one.good == 2
    assert one.accuracy == 20
    assert one.lost_exactly + one.lost_by_judgement == sum(verdict.lost for verdict in verdicts if verdict.seat == 0)
    assert summary([], 0).accuracy == 100


def test_an_unfinished_deal_can_be_looked_at() -> None:
    game = Game("tressette", dealer=0)
    game.deal(Random(1).randbytes(32))
    for _ in range(30):
        if game.turn is not None:
            game.play(game.turn, next(move for move in game.legal_moves(game.turn) if move.startswith("play ")))
    game.play(0, "resign")
    assert analyse_deal(game.record(), 1)


@pytest.mark.parametrize(
    ("worth", "lost", "better"), [(40.0, 8.0, "bid 4"), (49.0, 0.0, "bid 3"), (60.0, 0.0, "bid 3")]
)
def test_a_bid_is_held_against_the_best_one_and_small_differences_count_as_nothing(
    worth: float, lost: float, better: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StrongRobot, "judge_bids", lambda *_: {2: 1.0, 3: worth, 4: 52.0})
    table = spades_table("", "")
    play(table, "1: bid 13", "0: bid 3")
    verdicts = analyse_deal(table.record(), 1)
    # Nobody judged thirteen.
    assert [(one.seat, one.move) for one in verdicts] == [(0, "bid 3")]
    assert (verdicts[0].lost, verdicts[0].better, verdicts[0].exact) == (lost, better, False)
