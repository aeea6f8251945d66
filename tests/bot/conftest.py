"""What several tests of the bot begin with."""

from pathlib import Path

import pytest

from bot.settings import variable_names


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of this machine's, and no .env: a test may forget people, and not in its host's store."""
    for name in variable_names():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
