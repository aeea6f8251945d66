"""Locks of pages, so that edits of a message happen one after the other."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cachetools import LRUCache

PAGES_KEPT = 1_000  # pages whose locks are kept; far fewer change at once


class _PageLock(asyncio.Lock):
    """The lock of a message. ``latest`` is the id of the newest interaction that asked for a page there."""

    latest = 0


class PageLocks:
    """Serialises edits of pages, so that a slow picture cannot overwrite a newer page."""

    def __init__(self) -> None:
        self._locks: LRUCache[str, _PageLock] = LRUCache(PAGES_KEPT)

    @asynccontextmanager
    async def lock(self, message: str, interaction: int) -> AsyncIterator[bool]:
        """Lock a page. Yield whether ``interaction`` is the newest for that page: Discord's ids increase."""
        lock = self._locks.setdefault(message, _PageLock())
        lock.latest = max(lock.latest, interaction)
        async with lock:
            yield interaction == lock.latest
