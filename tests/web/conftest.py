"""Fixtures: a bot that serves its pages, and an HTTP session."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bot.store import EmbeddedStore
from tests.open_playground import Open


@pytest.fixture
async def site(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[Open]:
    one = Open(tmp_path / "data", valkey=empty_valkey)
    await one.start()
    yield one
    await one.stop()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as one:
        yield one
