"""Processes that die are replaced, and what they were to do is done by others."""

import asyncio
import os
import signal
import time

from bot.processes import Processes


def slow(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


async def test_who_gives_up_waiting_leaves_the_others_their_answers_when_the_process_dies() -> None:
    processes = Processes("test", 1)
    try:
        assert await processes.do(slow, 0.0) == 0.0
        first = asyncio.create_task(processes.do(slow, 0.5))
        # More wait than the executor hands to its process ahead of time.
        others = [asyncio.create_task(processes.do(slow, 0.01 * number)) for number in range(1, 7)]
        await asyncio.sleep(0.1)
        for impatient in others[::2]:
            impatient.cancel()
        await asyncio.sleep(0)
        assert processes._pool
        [process] = processes._pool._processes.values()
        os.kill(process.pid or 0, signal.SIGKILL)
        async with asyncio.timeout(30):
            assert await asyncio.gather(first, *others[1::2]) == [0.5, 0.02, 0.04, 0.06]
        assert processes.waiting == 0
    finally:
        processes.kill()
