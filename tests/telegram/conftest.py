"""The fake Telegram server, and long timeouts for slow machines."""

from collections.abc import AsyncIterator

import pytest

from adapters.telegram import photos
from tests.telegram.server import ANSWER_SECONDS, TelegramServer


@pytest.fixture(autouse=True)
def _long_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the upload timeout so that a busy machine still sends pictures. Tests of the timeout lower it."""
    monkeypatch.setattr(photos, "UPLOAD_SECONDS", 30.0)


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    telegram = TelegramServer()
    await telegram.start()
    yield telegram
    await telegram.stop()
    if telegram.checks_answers:
        presses = telegram.unanswered_presses()
        assert not presses, f"The bot must answer each press within {ANSWER_SECONDS:.0f} seconds: {presses}"
