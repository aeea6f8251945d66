"""Fixtures for all tests of duels."""

from tests.bot.features.daily.conftest import simple_robots

__all__ = ["simple_robots"]
