"""A real store for every test that wants one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.store import EmbeddedStore, Store, opened


@pytest.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[EmbeddedStore]:
    """An embedded Valkey, on disk, of this test alone."""
    valkey = EmbeddedStore(tmp_path / "data")
    await valkey.start()
    yield valkey
    await valkey.stop()


@pytest.fixture
async def store(embedded: EmbeddedStore) -> AsyncIterator[Store]:
    async with opened(embedded.url) as opened_store:
        yield opened_store
