"""`buongioco doctor`: is all that the bot needs in place, and if not, what is to be done?"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from bot.settings import Settings
from bot.store import EmbeddedStore, Store, StoreFault, opened


@asynccontextmanager
async def store_of(settings: Settings) -> AsyncIterator[Store]:
    """The host's store if one is set, otherwise the embedded one, started for as long as it is in use."""
    if settings.redis_url:
        async with opened(settings.redis_url) as store:
            yield store
        return
    embedded = EmbeddedStore(settings.data)
    await embedded.start()
    watch = asyncio.create_task(embedded.keep())
    try:
        async with opened(embedded.url) as store:
            yield store
    finally:
        watch.cancel()
        await asyncio.wait([watch])
        await embedded.stop()


async def examine(settings: Settings) -> AsyncIterator[tuple[bool, str]]:
    """What was looked at: whether it is well, and a line that says what it is or what to do."""
    if settings.redis_url:
        address = urlsplit(settings.redis_url)
        where = f"{address.hostname}:{address.port or 6379}" if address.hostname else address.path
        yield True, f"settings: the store at {where}"
    else:
        yield True, f"settings: an embedded store in {settings.data}"
    try:
        async with store_of(settings) as store:
            async for finding in _examine_store(store):
                yield finding
    except StoreFault as fault:
        yield False, f"store: {fault}"


async def _examine_store(store: Store) -> AsyncIterator[tuple[bool, str]]:
    about = await store.client.info()
    # A cluster answers node by node.
    nodes = list(about.values()) if all(isinstance(value, dict) for value in about.values()) else [about]
    versions = {str(node.get("valkey_version") or node["redis_version"]) for node in nodes}
    yield True, f"store: answers, version {', '.join(sorted(versions))}"
    if all(node["aof_enabled"] for node in nodes):
        yield True, "store: writes an append-only file"
    else:
        yield False, "store: does not write an append-only file, so a crash loses games: set appendonly yes"
    if any(node.get("maxmemory") and node["maxmemory_policy"] != "noeviction" for node in nodes):
        yield False, "store: throws keys away when its memory is full: set maxmemory-policy noeviction"
