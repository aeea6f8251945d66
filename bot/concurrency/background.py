"""Background work: loops that run as long as the worker, and tasks that no caller awaits."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import structlog

RESTART_SECONDS = 1.0  # pause before a failed loop is restarted
STEADY_SECONDS = 10.0  # after this time a restarted loop counts as working; by then every loop has begun its work

Loop = Callable[[], Coroutine[Any, Any, None]]

log = structlog.get_logger()


class Loops:
    """Loops that are restarted after an error."""

    def __init__(self) -> None:
        self.failing: set[str] = set()  # names of loops that failed a short while ago

    def start(self, name: str, loop: Loop) -> "asyncio.Task[None]":
        return asyncio.create_task(self._supervise(name, loop), name=name)

    async def _supervise(self, name: str, loop: Loop) -> None:
        while True:
            steady_timer = asyncio.get_running_loop().call_later(STEADY_SECONDS, self.failing.discard, name)
            try:
                return await loop()
            except Exception:
                self.failing.add(name)
                log.exception("background_loop_failed", loop=name, again_in=RESTART_SECONDS)
            finally:
                steady_timer.cancel()
            await asyncio.sleep(RESTART_SECONDS)


class TaskSet:
    """Strong references to running tasks: asyncio itself keeps only weak ones."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def __iter__(self) -> "Iterator[asyncio.Task[Any]]":
        return iter(list(self._tasks))

    def start(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Start a task. ``work`` must handle its own errors, unless the caller awaits the task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @contextmanager
    def track_current(self) -> Iterator[None]:
        """Keep the current task in the set during the ``with`` block."""
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        try:
            yield
        finally:
            self._tasks.discard(task)

    def cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def wait(self, seconds: float | None = None) -> None:
        """Wait until the running tasks have finished, at most this many seconds."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=seconds)
