"""Time limits for the steps of benchmarks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE = 60.0  # seconds for a short step
START_LIMIT = 60.0  # seconds for a process or bot to start, mostly imports on a busy machine
STALLED = 30.0  # seconds without a press or a changed panel after which a run ends


class BenchFailed(Exception):
    """A benchmark cannot continue. The text is one line with the reason."""


@asynccontextmanager
async def within(seconds: float, purpose: str) -> AsyncIterator[None]:
    """Raise BenchFailed if the body takes longer. ``purpose`` names the awaited event in the error."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError:
        if not limit.expired():
            raise
        raise BenchFailed(f"waited {seconds:g} s for {purpose}") from None
