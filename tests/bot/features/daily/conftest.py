"""Fixtures for all tests of the deal of the day."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta

import pytest

from bot.core import Core
from bot.features.daily.days import Days
from bot.features.daily.feature import DailyFeature
from bot.features.daily.game_of_day import unstored_game
from bot.robots.pool import RobotPool, choose_unhurried
from engine.game import MoveEntry
from engine.views import View

TODAY = next(day for day in (date(2026, 11, 24) + timedelta(days=n) for n in range(7)) if unstored_game(day) == "testa")
TOMORROW = TODAY + timedelta(days=1)


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fix the day."""
    monkeypatch.setattr(Days, "today", lambda _days: TODAY)


@pytest.fixture(autouse=True)
def no_automatic_reminders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the worker's own reminders. They follow the machine's clock and could start during a test."""

    make = DailyFeature.__init__

    def make_without_reminders(feature: DailyFeature, core: Core) -> None:
        make(feature, core)
        feature.loops = {name: loop for name, loop in feature.loops.items() if name != "reminders"}

    monkeypatch.setattr(DailyFeature, "__init__", make_without_reminders)


@pytest.fixture(autouse=True)
def simple_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use the easy robot because the strong one thinks for seconds.

    `test_results` and the long runs of pages and platforms test the strong one.
    """

    async def seeded_move(
        _pool: RobotPool, _level: str, view: View, history: Sequence[MoveEntry], seed: int
    ) -> str | None:
        return choose_unhurried("easy", view, history, seed)

    async def run_at_once(_pool: RobotPool, work: Callable[..., object], *args: object) -> object:
        return work(*args)

    monkeypatch.setattr("bot.features.daily.results.LEVEL", "easy")
    monkeypatch.setattr(RobotPool, "seeded_move", seeded_move)
    monkeypatch.setattr(RobotPool, "run_in_background", run_at_once)
