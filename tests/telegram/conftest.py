"""A real store and a fake Telegram."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.conftest import embedded, shared_valkey, store
from tests.telegram.server import TelegramServer

__all__ = ["embedded", "server", "shared_valkey", "store"]


@pytest.fixture
async def server() -> AsyncIterator[TelegramServer]:
    one = TelegramServer()
    await one.start()
    yield one
    await one.stop()
