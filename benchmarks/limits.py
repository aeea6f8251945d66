"""Time limits for the steps of benchmarks. Errors say what was awaited."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE = 60.0  # seconds for a short step; longer ones get more
START_LIMIT = 60.0  # seconds for a process or bot to start, mostly imports on a busy machine
STALLED = 30.0  # seconds without a press or a changed panel until a run is given up


class BenchFailed(Exception):
    """A benchmark cannot go on. The text is one line that says why."""


@asynccontextmanager
async def within(seconds: float, what: str) -> AsyncIterator[None]:
    """Raise BenchFailed if the body takes longer. ``what`` names what it waits for."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise BenchFailed(f"waited {seconds:g} s for {what}") from None
