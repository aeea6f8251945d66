"""Other continuations of finished games: lines of a reader, the robot's answers, and the solver's verdicts."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from bot.concurrency.processes import ProcessDied
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.robots import pool
from bot.robots.pool import PoolBusy, RobotPool, solve_line
from bot.site.api_models import ReplayedLine, replayed_deal
from bot.site.game_reader import Reader
from bot.site.what_if import ImpossibleLine, Line, WhatIf, WhatIfBusy
from bot.store import Store
from engine import GAMES, Game, load
from engine.game import ENDING_MOVES
from engine.robots.analysis import analyse_deal
from tests.bot.finished.games import finished_game, store_game
from tests.long import mostly_long

READER = Reader("en")


@pytest_asyncio.fixture
async def robots() -> AsyncIterator[RobotPool]:
    robot_pool = RobotPool(1)
    yield robot_pool
    robot_pool.stop()


class IdlePool(RobotPool):
    """A pool that never answers."""

    async def think_aside(self, *_args: Any) -> Any:
        await asyncio.Event().wait()


async def prepare(store: Store, game_id: str, robot_pool: RobotPool | None = None) -> tuple[WhatIf, FinishedGame]:
    game = finished_game(1, game_id)
    await store_game(store, game)
    return WhatIf(Archive(store.client), robot_pool or IdlePool(1)), game


def other_moves(game: FinishedGame, place: int, count: int) -> list[str]:
    """Return a line of ``count`` moves that differ from the record's if possible."""
    position, recorded = load(game.record, 1, place), [move for _, move, *_ in game.record.deals[0].moves]
    moves: list[str] = []
    while len(moves) < count and position.turn is not None:
        legal = [move for move in position.legal_moves(position.turn) if move not in ENDING_MOVES]
        following = recorded[place + len(moves) : place + len(moves) + 1]
        moves.append(next((move for move in legal if move not in following), legal[0]))
        position.play(position.turn, moves[-1])
    return moves


async def read_line(what_if: WhatIf, line: Line, seat: int | None = None) -> ReplayedLine:
    line_page = await what_if.get_line(line, READER, seat)
    assert line_page
    return line_page


@pytest.mark.parametrize("game_id", mostly_long(GAMES, "pizzichino", "spades"))
async def test_line_has_the_engines_positions_and_moves(store: Store, game_id: str) -> None:
    what_if, game = await prepare(store, game_id)
    place = len(game.record.deals[0].moves) // 2
    moves = other_moves(game, place, 6)
    line_page = await read_line(what_if, Line(game.id, 1, place, tuple(moves)))
    assert ReplayedLine.model_validate_json(line_page.model_dump_json()) == line_page
    position = load(game.record, 1, place)
    for step, move in zip(line_page.steps, moves, strict=True):
        assert (step.seat, step.move) == (position.turn, move)
        assert position.turn is not None
        position.play(position.turn, move)
        assert step.view == position.view(None).deal
    legal = position.legal_moves(position.turn) if position.turn is not None else []
    assert [choice.move for choice in line_page.choices] == [move for move in legal if move not in ENDING_MOVES]


async def test_recorded_moves_give_the_recorded_positions(store: Store) -> None:
    what_if, game = await prepare(store, "metamazzo")
    recorded = [move for _, move, *_ in game.record.deals[0].moves]
    found = await read_line(what_if, Line(game.id, 1, 3, tuple(recorded[3:])))
    assert found.steps == replayed_deal(game, 1, "en", "italian").steps[4:]
    assert not found.choices


async def test_robot_moves_for_other_seats_only(store: Store, robots: RobotPool) -> None:
    what_if, game = await prepare(store, "testa", robots)
    turn = load(game.record, 1, 4).turn
    assert turn is not None
    line = Line(game.id, 1, 4, ())
    own_page = await read_line(what_if, line, turn)
    assert not own_page.moves
    assert own_page.choices
    other_page = await read_line(what_if, line, 1 - turn)
    assert len(other_page.moves) == len(other_page.steps) == 1
    assert other_page.steps[0].seat == turn


async def test_whole_deal_is_played_on_against_the_robot(store: Store, robots: RobotPool) -> None:
    what_if, game = await prepare(store, "metamazzo", robots)
    line = Line(game.id, 1, len(game.record.deals[0].moves) - 12, ())
    found = await read_line(what_if, line, 0)
    while found.choices:
        moves = (*found.moves,) if len(found.moves) > len(line.moves) else (*found.moves, found.choices[0].move)
        line = line._replace(moves=moves)
        found = await read_line(what_if, line, 0)
    assert found.steps[-1].view.phase == "over"


@pytest.mark.parametrize("game_id", mostly_long(GAMES, "metamazzo"))
def test_verdicts_on_a_line_match_the_analysis(game_id: str) -> None:
    record = finished_game(1, game_id).record
    moves = record.deals[0].moves
    exact = [verdict for verdict in analyse_deal(record, 1) if verdict.exact and verdict.move.startswith("play ")]
    for verdict in exact[-6:]:
        losses = solve_line(record.to_json(), 1, verdict.move_index, ())
        assert losses is not None
        # The analysis judges an expired declaration by its points instead.
        move = " ".join(moves[verdict.move_index][1].split(" ")[:2])
        assert verdict.why == "declares" or losses[move] == verdict.lost


async def test_position_with_too_many_cards_has_no_verdict(store: Store, robots: RobotPool) -> None:
    what_if, game = await prepare(store, "tressette", robots)
    found = await what_if.judge(Line(game.id, 1, 0, ()))
    assert found
    assert found.lost is None


@pytest.mark.parametrize("moves", [["play 9Z"], ["resign"], ["claim"], ["nonsense"], ["play 3D"] * 2])
async def test_impossible_moves_are_refused(store: Store, moves: list[str]) -> None:
    what_if, game = await prepare(store, "testa")
    for answer in (what_if.get_line, what_if.judge):
        arguments = (READER, None) if answer == what_if.get_line else ()
        with pytest.raises(ImpossibleLine):
            await answer(Line(game.id, 1, 0, tuple(moves)), *arguments)


@pytest.mark.parametrize(("deal", "place"), [(99, 0), (1, 999)])
async def test_missing_positions_are_none(store: Store, deal: int, place: int) -> None:
    what_if, game = await prepare(store, "testa")
    line = Line(game.id, deal, place, ())
    assert await what_if.get_line(line, READER, None) is None
    assert await what_if.judge(line._replace(game_id="ABCDE-00")) is None


async def test_waiting_requests_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_WAITING", 2)
    robots = RobotPool(1)
    waiting_tasks = [asyncio.create_task(robots.think_aside(len, ())) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(PoolBusy):
        await robots.think_aside(len, ())
    assert await asyncio.gather(*waiting_tasks) == [0, 0]
    robots.stop()


@pytest.mark.parametrize("error", [PoolBusy, ProcessDied])
async def test_busy_and_dead_robots_raise_the_same_error(store: Store, error: type[Exception]) -> None:
    what_if, game = await prepare(store, "testa")

    async def fail(*_args: object) -> None:
        raise error()

    what_if._robot_pool.think_aside = fail  # type: ignore[assignment, method-assign]
    with pytest.raises(WhatIfBusy):
        await what_if.judge(Line(game.id, 1, 0, ()))


async def test_robot_knows_only_its_own_seats_cards(store: Store) -> None:
    what_if, game = await prepare(store, "testa")
    asked_views: list[Any] = []

    async def think(_work: object, _level: str, view: Any, *_rest: object) -> str:
        asked_views.append(view)
        return str(view.moves[0])

    what_if._robot_pool.think_aside = think  # type: ignore[assignment, method-assign]
    position = load(game.record, 1, 6)
    assert position.turn is not None
    await what_if.get_line(Line(game.id, 1, 6, ()), READER, 1 - position.turn)
    expected = Game.view(position, position.turn)
    assert asked_views[0].deal == expected.deal
    assert not {"claim", "resign"} & set(asked_views[0].moves)
