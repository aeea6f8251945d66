"""Pages change one at a time: a picture that is on its way must not come over the page that took its page's place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from cachetools import LRUCache

REMEMBERED = 1_000
"""Pages, many times as many as change at once."""


class _PageLock:
    """A message that shows a page: its changes wait for one another, and ``latest`` is the last that was asked for."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.latest = 0


class PageLocks:
    """The pages that have changed of late, by their messages."""

    def __init__(self) -> None:
        self._changed: LRUCache[str, _PageLock] = LRUCache(REMEMBERED)

    @asynccontextmanager
    async def lock(self, message: str, interaction: int) -> AsyncIterator[bool]:
        """Change a page as soon as no other change of it is under way; yields whether none is due that was asked for
        later. Who asked later has an interaction with a higher id: Discord counts up.
        """
        page = self._changed.setdefault(message, _PageLock())
        page.latest = max(page.latest, interaction)
        async with page.lock:
            yield interaction == page.latest
