"""A real store and a paper Discord."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.conftest import embedded, store
from tests.discord.server import DiscordServer

__all__ = ["embedded", "server", "store"]


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    one = DiscordServer()
    await one.start()
    yield one
    await one.stop()
