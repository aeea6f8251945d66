"""A clock that stops while a busy machine delays the tests or the bot."""

import asyncio
from collections.abc import Callable
from pathlib import Path

TICK = 0.02  # seconds between two readings of the clock; a gap adds at most twice this


class RunningClock:
    """A count of the seconds in which this loop ran without delay and the bot's process had a CPU.

    ``process`` returns the id of the bot's process, or None if the bot runs in this loop. Linux reports how long a
    process waited for a CPU (kernel.org, Documentation/scheduler/sched-stats.rst). On other systems only this loop
    counts.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.process: Callable[[], int | None] = lambda: None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    def stop(self) -> None:
        if self._task:
            self._task.cancel()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        last_time, last_process, last_wait = loop.time(), None, 0.0
        while True:
            await asyncio.sleep(TICK)
            time, process = loop.time(), self.process()
            wait = _seconds_without_cpu(process)
            new_wait = wait - last_wait if process == last_process else 0.0
            self.now += max(0.0, min(time - last_time, 2 * TICK) - max(0.0, new_wait))
            last_time, last_process, last_wait = time, process, wait


def _seconds_without_cpu(process: int | None) -> float:
    """Return the seconds that a process's main thread was ready to run without a CPU."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9 if process else 0.0
    except (OSError, IndexError, ValueError):
        return 0.0
