"""What runs beside everything else: loops, as long as the worker does, and tasks that nobody waits for."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import structlog

RESTART_SECONDS = 1.0
"""After how many seconds a loop that broke is started again."""

STEADY_SECONDS = 10.0
"""A loop that has run for so long again counts as mended; longer than any of them sleeps between two rounds."""

Loop = Callable[[], Coroutine[Any, Any, None]]

log = structlog.get_logger()


class Loops:
    """Loops that are started again when a fault ends them."""

    def __init__(self) -> None:
        self.failing: set[str] = set()
        """The names of those that broke a short while ago."""

    def start(self, name: str, loop: Loop) -> "asyncio.Task[None]":
        """Run a loop until cancelled, or until it returns."""
        return asyncio.create_task(self._supervise(name, loop), name=name)

    async def _supervise(self, name: str, loop: Loop) -> None:
        while True:
            steady = asyncio.get_running_loop().call_later(STEADY_SECONDS, self.failing.discard, name)
            try:
                return await loop()
            except Exception:
                self.failing.add(name)
                log.exception("background_loop_failed", loop=name, again_in=RESTART_SECONDS)
            finally:
                steady.cancel()
            await asyncio.sleep(RESTART_SECONDS)


class TaskSet:
    """Tasks that nobody else holds: asyncio itself forgets a task that is not held while it runs."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> "Iterator[asyncio.Task[Any]]":
        return iter(list(self._tasks))

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Begin something; what it raises is the caller's to see to."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @contextmanager
    def track_current(self) -> Iterator[None]:
        """The task that runs what is in here is one of the set meanwhile: it was begun elsewhere."""
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            yield
        finally:
            self._tasks.discard(task)

    def cancel(self) -> None:
        """Cancel all that are under way."""
        for task in self._tasks:
            task.cancel()

    async def wait(self, seconds: float | None = None) -> None:
        """Until those that are under way have ended, or for so many seconds."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
