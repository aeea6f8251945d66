"""A fake Discord, and patience with the machine."""

from collections.abc import AsyncIterator

import pytest

from tests.discord.server import BAR, CHANNEL, PATIENCE, DiscordServer

TIMES = (
    "adapters.discord.adapter.PUT_OFF_AFTER",
    "adapters.discord.adapter.SHOWN_WITHIN",
    "adapters.discord.answers.UPLOADED_WITHIN",
    "adapters.discord.pictures.UPLOAD_SECONDS",
    "adapters.discord.pictures.SLOW_SECONDS",
)
"""After which the bot goes on without what it waits for."""


@pytest.fixture(autouse=True)
def _patient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine anything may take a while, and an answer that was put off says nothing yet. Tests that are about
    one of the times set it themselves, or have them all by ``usual``.
    """
    for name in () if "usual" in request.fixturenames else TIMES:
        monkeypatch.setattr(name, 20.0)


@pytest.fixture
def usual() -> None:
    """The times that the bot really has."""


@pytest.fixture
async def server() -> AsyncIterator[DiscordServer]:
    one = DiscordServer(seconds=PATIENCE)
    one.channel(CHANNEL, one.server(BAR))
    await one.start()
    yield one
    await one.stop()
