"""Serializes edits of pages, so that a slow picture cannot overwrite a newer page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cachetools import LRUCache

REMEMBERED = 1_000  # pages, many more than change at once


class _PageLock:
    """A lock for one message. ``latest`` is the newest interaction that asked for a page."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.latest = 0


class PageLocks:
    """Locks of recently changed pages, by message."""

    def __init__(self) -> None:
        self._changed: LRUCache[str, _PageLock] = LRUCache(REMEMBERED)

    @asynccontextmanager
    async def lock(self, message: str, interaction: int) -> AsyncIterator[bool]:
        """Lock a page. Yields whether ``interaction`` is the newest that asked: Discord's ids increase."""
        page = self._changed.setdefault(message, _PageLock())
        page.latest = max(page.latest, interaction)
        async with page.lock:
            yield interaction == page.latest
