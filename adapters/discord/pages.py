"""Serializes edits of pages, so that a slow picture cannot overwrite a newer page."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cachetools import LRUCache

PAGES_KEPT = 1_000  # many more than change at once


class _Page:
    """A message. ``latest`` is the newest interaction that asked for a page there."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.latest = 0


class PageLocks:
    """Locks of recently changed pages, by message."""

    def __init__(self) -> None:
        self._changed: LRUCache[str, _Page] = LRUCache(PAGES_KEPT)

    @asynccontextmanager
    async def lock(self, message: str, interaction: int) -> AsyncIterator[bool]:
        """Lock a page. Yield whether ``interaction`` is the newest one for it: Discord's ids increase."""
        page = self._changed.setdefault(message, _Page())
        page.latest = max(page.latest, interaction)
        async with page.lock:
            yield interaction == page.latest
