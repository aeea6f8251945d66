"""A fake Telegram server, and long timeouts for slow machines."""

from collections.abc import AsyncIterator

import pytest

from adapters.telegram import photos
from tests.telegram.server import TelegramServer


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the upload timeout, so that texts do not go alone on a busy machine. Tests of the timeout lower it."""
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 30.0)


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    one = TelegramServer()
    await one.start()
    yield one
    await one.stop()
    if one.checks_answers:
        assert not one.unanswered_presses()
