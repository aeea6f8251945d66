"""Every step of a bench that waits has a limit in seconds, and says what it waited for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE = 60.0
"""Seconds that a step may take which has little to do; one that has more is given more."""

START_LIMIT = 60.0
"""Seconds that a process or a bot may take to start: on a crowded machine mostly imports."""

STALLED = 30.0
"""Seconds without a press made or a panel changed after which nothing more is expected."""


class BenchFailed(Exception):
    """A bench cannot go on; the message is the line that says why."""


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    """BenchFailed where what is done inside takes longer; ``what`` is what it waits for."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise BenchFailed(f"waited {seconds:g} s for {what}") from None
