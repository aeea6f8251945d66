"""A fake Discord."""

from collections.abc import AsyncIterator

import pytest

from tests.discord.server import BAR, CHANNEL, DiscordServer


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    one = DiscordServer()
    one.channel(CHANNEL, one.server(BAR))
    await one.start()
    yield one
    await one.stop()
