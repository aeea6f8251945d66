"""What goes for all tests of the deal of the day."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta

import pytest

from bot.features.daily import deal
from bot.features.daily.days import Days
from bot.features.daily.games import unstored_game
from bot.features.daily.loop import Reminders
from bot.robot_pool import RobotPool, choose_unhurried
from engine.game import MoveEntry
from engine.views import View

TODAY = next(day for day in (date(2026, 11, 24) + timedelta(days=n) for n in range(7)) if unstored_game(day) == "testa")
TOMORROW = TODAY + timedelta(days=1)


@pytest.fixture(autouse=True)
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same day whenever they run."""
    monkeypatch.setattr(Days, "today", lambda _days: TODAY)


@pytest.fixture(autouse=True)
def no_rounds_of_reminders(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker's own go by the machine's clock, and may begin in the middle of a test."""

    async def no_rounds(_reminders: Reminders) -> None:
        return

    monkeypatch.setattr(Reminders, "run", no_rounds)


@pytest.fixture(autouse=True)
def simple_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """The robot of the day is a simple one, for the strong one thinks about a deal for seconds: where that matters it
    plays in `test_deal`, and in the long runs of pages and platforms.
    """

    async def seeded_move(
        _pool: RobotPool, _level: str, view: View, history: Sequence[MoveEntry], seed: int
    ) -> str | None:
        return choose_unhurried("easy", view, history, seed)

    async def in_background(_pool: RobotPool, work: Callable[..., object], *args: object) -> object:
        return work(*args)

    monkeypatch.setattr(deal, "LEVEL", "easy")
    monkeypatch.setattr(RobotPool, "seeded_move", seeded_move)
    monkeypatch.setattr(RobotPool, "run_in_background", in_background)
