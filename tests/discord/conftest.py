"""A fake Discord, and timeouts long enough for a slow machine."""

from collections.abc import AsyncIterator

import pytest

from tests.discord.server import BAR, CHANNEL, PATIENCE, DiscordServer

# Timeouts of the bot in seconds, raised for a slow machine.
RAISED_TIMEOUTS = {
    "adapters.discord.adapter.DEFER_SECONDS": 20.0,
    # A press that changes nothing on its panel waits this long.
    "adapters.discord.adapter.DELIVERY_SECONDS": 5.0,
    "adapters.discord.interaction_answers.ANSWER_UPLOAD_SECONDS": 20.0,
    "adapters.discord.pictures.UPLOAD_SECONDS": 20.0,
    "adapters.discord.pictures.SLOW_SECONDS": 20.0,
}


@pytest.fixture(autouse=True)
def _raise_timeouts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise the bot's timeouts, so that tests on a slow machine get answers instead of deferrals, which have no text.

    A test about one of the timeouts sets it, or uses ``real_timeouts``.
    """
    for name, seconds in () if "real_timeouts" in request.fixturenames else RAISED_TIMEOUTS.items():
        monkeypatch.setattr(name, seconds)


@pytest.fixture
def real_timeouts() -> None:
    """Keep the bot's own timeouts."""


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    server = DiscordServer(seconds=PATIENCE)
    server.add_channel(CHANNEL, server.add_server(BAR))
    await server.start()
    yield server
    await server.stop()
