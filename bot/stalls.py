"""Detection of stalls: the process was frozen, its machine slept, or something blocked it."""

import asyncio
import time

import structlog

from bot.metrics import STALLED
from bot.store.leases import CLOCK

TICK_SECONDS = 1.0
STALL_SECONDS = 5.0  # longer pauses are logged: players notice, and platforms can give up on presses

log = structlog.get_logger()


async def watch_for_stalls() -> None:
    while True:
        before = time.clock_gettime(CLOCK)
        await asyncio.sleep(TICK_SECONDS)
        late = time.clock_gettime(CLOCK) - before - TICK_SECONDS
        if late > STALL_SECONDS:
            STALLED.inc(late)
            log.warning("stalled", seconds=round(late, 1), why="the process was frozen, blocked or starved")
