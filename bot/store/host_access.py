"""Access to the configured store for commands of the host."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bot.settings import ENV_FILE, Settings
from bot.store import EmbeddedStore, FolderInUse, Store, StoreError, connect, open_store
from bot.store.folder import has_store, is_locked

ANSWER_SECONDS = 60.0  # longest wait for an answer; commands read and write a lot


@asynccontextmanager
async def open_host_store(settings: Settings, *, migrate: bool = True) -> AsyncIterator[Store]:
    """Yield the store at REDIS_URL, or the embedded one if that is not set. ``migrate`` is as for `open_store`."""
    if settings.redis_url:
        async with open_store(settings.redis_url, settings.store_replicas, migrate=migrate) as store:
            yield store
        return
    embedded = EmbeddedStore(settings.data)
    await embedded.start()
    watch = asyncio.create_task(embedded.keep_running())
    try:
        async with open_store(embedded.url, migrate=migrate) as store:
            yield store
    finally:
        watch.cancel()
        await asyncio.wait([watch])
        await embedded.stop()


@asynccontextmanager
async def connect_beside_bot(settings: Settings) -> AsyncIterator[Any]:
    """Yield a client of the store that a bot uses or would use. Run the embedded store if no bot does.

    Raise StoreError if there is no embedded store. It is not created, because the folder could be the wrong one.
    """
    embedded = EmbeddedStore(settings.data)
    if settings.redis_url or is_locked(settings.data):
        async with connect(settings.redis_url or embedded.url, ANSWER_SECONDS) as client:
            yield client
    else:
        require_store(settings)
        async with _run_embedded(embedded) as client:
            yield client


@asynccontextmanager
async def connect_without_bot(settings: Settings, reason: str) -> AsyncIterator[Any]:
    """Yield the same client as `connect_beside_bot`, but raise StoreError if a bot uses the embedded store.

    ``reason`` is part of the error: the harm that the bot would do.
    """
    if settings.redis_url:
        async with connect(settings.redis_url, ANSWER_SECONDS) as client:
            yield client
        return
    try:
        async with _run_embedded(EmbeddedStore(settings.data)) as client:
            yield client
    except FolderInUse:
        raise StoreError(
            f"A bot is running with the data folder {settings.data}, and {reason}. Nothing was changed: stop the bot, "
            "run this again, and start it afterwards."
        ) from None


@asynccontextmanager
async def _run_embedded(embedded: EmbeddedStore) -> AsyncIterator[Any]:
    """Run an embedded store, and yield a client of it. Raise FolderInUse if a bot has its folder."""
    await embedded.start()
    try:
        async with connect(embedded.url, ANSWER_SECONDS) as client:
            yield client
    finally:
        await embedded.stop()


def require_store(settings: Settings) -> None:
    """Raise StoreError if the data folder has no embedded store."""
    if not settings.redis_url and not has_store(settings.data):
        raise StoreError(
            f"There is no store in {settings.data}. Settings are read from the environment and from {ENV_FILE} in the "
            f"folder where a command is started, which is {Path.cwd()}: start it where the bot is started, or set "
            "BUONGIOCO_DATA."
        )
