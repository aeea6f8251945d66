"""A fake Telegram, and patience with the machine."""

from collections.abc import AsyncIterator

import pytest

from adapters.telegram import photos
from tests.telegram.server import TelegramServer


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine an upload may take a while, and texts would go alone. Tests that are about that set it lower."""
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 30.0)


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    one = TelegramServer()
    await one.start()
    yield one
    await one.stop()
    if one.checks_answers:
        assert not one.unanswered_presses()
