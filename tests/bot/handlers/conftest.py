"""A worker on a fake platform."""

from collections.abc import AsyncIterator

import pytest

from bot.store import Store
from bot.worker import Worker
from tests.bot.fake_platform import FakePlatform, open_worker


@pytest.fixture
def fake() -> FakePlatform:
    return FakePlatform()


@pytest.fixture
async def worker(store: Store, fake: FakePlatform) -> AsyncIterator[Worker]:
    async with open_worker(store, fake) as worker:
        yield worker
