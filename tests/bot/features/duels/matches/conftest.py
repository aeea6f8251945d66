"""Fixtures for all tests of matches."""

from typing import Any

import pytest

from bot.features.duels.feature import DuelsFeature
from tests.bot.features.daily.conftest import simple_robots

__all__ = ["simple_robots"]


@pytest.fixture(autouse=True)
def no_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests decide when matches advance and messages are sent."""
    make = DuelsFeature.__init__

    def make_without_loops(feature: DuelsFeature, core: Any) -> None:
        make(feature, core)
        feature.loops = {}

    monkeypatch.setattr(DuelsFeature, "__init__", make_without_loops)
