"""A fake Telegram."""

from collections.abc import AsyncIterator

import pytest

from tests.telegram.server import TelegramServer


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    one = TelegramServer()
    await one.start()
    yield one
    await one.stop()
