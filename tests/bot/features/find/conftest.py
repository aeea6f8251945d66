"""Fixtures for tests of the search for opponents."""

from collections.abc import AsyncIterator

import pytest

from bot.features.find.feature import FindFeature
from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, Player, open_worker

GAME = "pizzichino"


@pytest.fixture
async def two_strangers(store: Store) -> AsyncIterator[list[Player]]:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        yield [Player(worker, fake, name, number) for number, name in enumerate(("Anna", "Bruno"), 1)]


async def run_finder(worker: Worker) -> None:
    await worker.feature(FindFeature).finder.run_round()
    await worker.wait_until_idle()


async def find_each_other(players: list[Player], game: str = GAME) -> str:
    """Let all players search until each is asked whether they are ready. Return their table's code."""
    for player in players:
        await player.say(f"/find {game}", player.private)
    await run_finder(players[0].worker)
    _, button = players[0].button("Ready")
    return button.payload[2:8]


@pytest.fixture
async def playing(two_strangers: list[Player]) -> list[Player]:
    """Two strangers in a running game."""
    await find_each_other(two_strangers)
    for player in two_strangers:
        await player.press("Ready")
    return two_strangers
