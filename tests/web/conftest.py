"""Fixtures: a bot that serves its pages, and an HTTP session."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from bot.store import EmbeddedStore
from tests.open_playground import OpenPlayground


@pytest.fixture
async def site(tmp_path: Path, empty_valkey: EmbeddedStore) -> AsyncIterator[OpenPlayground]:
    running = OpenPlayground(tmp_path / "data", valkey=empty_valkey)
    await running.start()
    yield running
    await running.stop()


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as client:
        yield client


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn on limits, which are off in other tests. Use it before ``site``."""
    monkeypatch.setenv("BUONGIOCO_RATE_LIMITS", "true")
