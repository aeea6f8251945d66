"""Make a store nearly full, so that it has no room for new tables."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.store import Store


@asynccontextmanager
async def full_store(store: Store) -> AsyncIterator[None]:
    """Leave the store no room for new tables during the block. Moves still fit."""
    used = (await store.client.info("memory"))["used_memory"]
    await store.client.config_set("maxmemory", int(used / 0.94))
    await store.memory.check()
    assert store.memory.is_full
    try:
        yield
    finally:
        await store.client.config_set("maxmemory", 0)
        await store.memory.check()
