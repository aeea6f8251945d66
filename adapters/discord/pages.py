"""Pages change one at a time: a picture that is on its way must not come over the page that took its page's place."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary


class _Page:
    """A message that shows a page: its changes wait for one another, and ``asked`` counts them."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.asked = 0


class Pages:
    """The pages that are changing, by their messages."""

    def __init__(self) -> None:
        self._changing: WeakValueDictionary[str, _Page] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, message: str) -> AsyncIterator[bool]:
        """Change a page as soon as no other change of it is under way; yields whether this is still the latest one that
        was asked for.
        """
        page = self._changing.setdefault(message, _Page())
        page.asked += 1
        number = page.asked
        async with page.lock:
            yield number == page.asked
