"""A fake Discord, and patience with the machine."""

from collections.abc import AsyncIterator

import pytest

from tests.discord.server import BAR, CHANNEL, PATIENCE, DiscordServer

TIMES = {
    "adapters.discord.adapter.DEFER_SECONDS": 20.0,
    # A press that changes nothing on its panel has to wait for so long.
    "adapters.discord.adapter.DELIVERY_SECONDS": 5.0,
    "adapters.discord.answers.ANSWER_UPLOAD_SECONDS": 20.0,
    "adapters.discord.pictures.UPLOAD_SECONDS": 20.0,
    "adapters.discord.pictures.SLOW_SECONDS": 20.0,
}
"""After which the bot goes on without what it waits for, in seconds for a busy machine."""


@pytest.fixture(autouse=True)
def _busy_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine anything may take a while, and an answer that was put off says nothing yet. Tests that are about
    one of the times set it themselves, or have them all by ``usual``.
    """
    for name, seconds in () if "real_timeouts" in request.fixturenames else TIMES.items():
        monkeypatch.setattr(name, seconds)


@pytest.fixture
def real_timeouts() -> None:
    """The times that the bot really has."""


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    one = DiscordServer(seconds=PATIENCE)
    one.channel(CHANNEL, one.server(BAR))
    await one.start()
    yield one
    await one.stop()
