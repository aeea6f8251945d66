"""Robots move in time, even if their processes are slow or die."""

import asyncio
import os
import signal
import time
from random import Random

import pytest

from bot.robots import pool as robot_pool
from bot.robots.pool import MAX_WAITING, RobotPool
from bot.words.verdicts import reason_texts
from bot.words.wording import Wording
from engine import Game


@pytest.fixture
def game() -> Game:
    game = Game("metamazzo", dealer=0)
    game.deal(Random(1).randbytes(32))
    return game


def think_too_long(level: str, view: object, history: object, seed: int) -> str | None:
    """Take longer than the pool's patience."""
    time.sleep(20)
    return None


def hint_nothing(view: object, history: object) -> None:
    """Find no hint."""


def die_thinking(level: str, view: object, history: object, seed: int) -> str | None:
    """Kill the worker process instead of moving."""
    os.kill(os.getpid(), signal.SIGKILL)
    return None


async def test_every_robot_level_makes_a_move(game: Game) -> None:
    pool = RobotPool(1)
    try:
        for level in ("easy", "medium", "strong"):
            assert await pool.move(level, game.view(1), game.history(1)) in game.legal_moves(1)
    finally:
        pool.stop()


async def test_slow_move_falls_back_to_a_simpler_robot(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot_pool, "PATIENCE_SECONDS", 0.3)
    pool = RobotPool(1)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(pool, "_think", think_too_long)
            assert await pool.move("strong", game.view(1), game.history(1)) in game.legal_moves(1)
    finally:
        pool.stop()


async def test_dead_process_is_replaced_and_the_move_made(game: Game) -> None:
    pool = RobotPool(1)
    try:
        await pool.move("medium", game.view(1), game.history(1))
        [before] = pool._movers._running
        os.kill(before.process.pid or 0, signal.SIGKILL)
        assert await pool.move("medium", game.view(1), game.history(1)) in game.legal_moves(1)
        assert before not in pool._movers._running
    finally:
        pool.stop()


async def test_moves_are_made_even_if_every_process_dies(game: Game) -> None:
    pool = RobotPool(1)
    pool._think = die_thinking
    try:
        assert await pool.move("strong", game.view(1), game.history(1)) in game.legal_moves(1)
    finally:
        pool.stop()


async def test_moves_do_not_wait_for_busy_processes(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot_pool, "PATIENCE_SECONDS", 30.0)
    pool = RobotPool(1)
    pool._think = think_too_long
    waiting_moves = [asyncio.create_task(pool.move("strong", game.view(1), [])) for _ in range(MAX_WAITING)]
    try:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            assert await pool.move("strong", game.view(1), game.history(1)) in game.legal_moves(1)
            assert await pool.hint(game.view(1), game.history(1)) is None
    finally:
        for task in waiting_moves:
            task.cancel()
        pool.stop()


async def test_hints_come_from_the_processes(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    # The first hint on a machine can include a compilation.
    monkeypatch.setattr(robot_pool, "HINT_SECONDS", 90.0)
    pool = RobotPool(1)
    try:
        hint = await pool.hint(game.view(1), game.history(1))
        assert hint
        assert hint.move in game.legal_moves(1)
        assert hint.reason in reason_texts(Wording("en", ()))
    finally:
        pool.stop()


async def test_at_most_one_hint_is_pending(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot_pool, "advise", hint_nothing)
    pool = RobotPool(1)
    hints = [asyncio.create_task(pool.hint(game.view(1), game.history(1))) for _ in range(30)]
    try:
        await asyncio.sleep(0.1)
        assert pool._movers.pending <= 1
        async with asyncio.timeout(20):
            assert await asyncio.gather(*hints) == [None] * 30
    finally:
        pool.stop()


async def test_hint_after_the_time_limit_is_none(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robot_pool, "HINT_SECONDS", 0.0)
    pool = RobotPool(1)
    try:
        assert await pool.hint(game.view(1), game.history(1)) is None
    finally:
        pool.stop()
