"""Fixtures for tests of the bot."""

from pathlib import Path

import pytest

from bot.settings import variable_names


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Remove this machine's settings and .env, so that no test changes a real store."""
    for name in variable_names():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
