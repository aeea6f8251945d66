"""A real store and a fake Discord."""

from collections.abc import AsyncIterator

import pytest

from tests.bot.conftest import embedded, shared_valkey, store
from tests.discord.server import BAR, CHANNEL, DiscordServer

__all__ = ["embedded", "server", "shared_valkey", "store"]


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    one = DiscordServer()
    one.channel(CHANNEL, one.server(BAR))
    await one.start()
    yield one
    await one.stop()
