"""Two strangers who look for somebody to play with."""

from collections.abc import AsyncIterator

import pytest

from bot.features.find.feature import FindFeature
from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, Player, open_worker

GAME = "pizzichino"


@pytest.fixture
async def two(store: Store) -> AsyncIterator[list[Player]]:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        yield [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]


async def tended(worker: Worker) -> None:
    await worker.feature(FindFeature).finder.run_round()
    await worker.settled()


async def asked(two: list[Player], game: str = GAME) -> str:
    """Both look, and are asked; the code of their table."""
    for player in two:
        await player.say(f"/find {game}", player.private)
    await tended(two[0].worker)
    _, button = two[0].button("Ready")
    return button.payload[2:8]


@pytest.fixture
async def playing(two: list[Player]) -> list[Player]:
    """Two strangers whose cards are dealt."""
    await asked(two)
    for player in two:
        await player.press("Ready")
    return two
