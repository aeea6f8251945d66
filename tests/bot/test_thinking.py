"""Thoughts come in time, whatever happens to those who think them."""

import asyncio
import os
import signal
import time
from random import Random

import pytest

from bot import thinking
from bot.thinking import MOST_WAITING, Thinkers
from engine import Game
from engine.robots.findings import REASONS


@pytest.fixture
def game() -> Game:
    game = Game("metamazzo", dealer=0)
    game.deal(Random(1).randbytes(32))
    return game


def sleepy(level: str, view: object, history: object, seed: int) -> str | None:
    """A thought that takes too long."""
    time.sleep(20)
    return None


def deadly(level: str, view: object, history: object, seed: int) -> str | None:
    """A thought that ends its worker."""
    os.kill(os.getpid(), signal.SIGKILL)
    return None


async def test_every_level_moves(game: Game) -> None:
    thinkers = Thinkers(1)
    try:
        for level in ("easy", "medium", "strong"):
            assert await thinkers.move(level, game.view(1), game.history(1)) in game.legal_moves(1)
    finally:
        thinkers.stop()


async def test_a_move_that_takes_too_long_is_made_by_somebody_simpler(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thinking, "PATIENCE_SECONDS", 0.3)
    thinkers = Thinkers(1)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(thinkers, "_think", sleepy)
            assert await thinkers.move("strong", game.view(1), game.history(1)) in game.legal_moves(1)
    finally:
        thinkers.stop()


async def test_a_worker_that_dies_is_replaced_and_the_move_still_comes(game: Game) -> None:
    thinkers = Thinkers(1)
    try:
        await thinkers.move("medium", game.view(1), game.history(1))
        pool = thinkers._movers._pool
        assert pool
        for process in [*pool._processes.values()]:
            os.kill(process.pid or 0, signal.SIGKILL)
        assert await thinkers.move("medium", game.view(1), game.history(1)) in game.legal_moves(1)
        assert thinkers._movers._pool is not pool
    finally:
        thinkers.stop()


async def test_when_workers_die_of_every_thought_moves_come_all_the_same(game: Game) -> None:
    thinkers = Thinkers(1)
    thinkers._think = deadly
    try:
        assert await thinkers.move("strong", game.view(1), game.history(1)) in game.legal_moves(1)
    finally:
        thinkers.stop()


async def test_with_all_workers_busy_moves_do_not_wait(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinking, "PATIENCE_SECONDS", 30.0)
    thinkers = Thinkers(1)
    thinkers._think = sleepy
    waiting = [asyncio.create_task(thinkers.move("strong", game.view(1), [])) for _ in range(MOST_WAITING)]
    try:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            assert await thinkers.move("strong", game.view(1), game.history(1)) in game.legal_moves(1)
            assert await thinkers.hint(game.view(1), game.history(1)) is None
    finally:
        for task in waiting:
            task.cancel()
        thinkers.stop()


async def test_hints_come_from_the_workers(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    # The first thought on a machine may have to compile.
    monkeypatch.setattr(thinking, "HINT_SECONDS", 90.0)
    thinkers = Thinkers(1)
    try:
        found = await thinkers.hint(game.view(1), game.history(1))
        assert found
        assert found.move in game.legal_moves(1)
        assert found.reason in REASONS
    finally:
        thinkers.stop()


async def test_a_hint_that_takes_too_long_is_none(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinking, "HINT_SECONDS", 0.0)
    thinkers = Thinkers(1)
    try:
        assert await thinkers.hint(game.view(1), game.history(1)) is None
    finally:
        thinkers.stop()
