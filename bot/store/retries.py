"""Work for the store that is retried during outages."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from bot.store.outage import STORE_ERRORS, Outage, is_temporary

MAX_WAITING = 10_000  # queued pieces of work, about 500 bytes each; more are dropped

Work = Callable[[], Awaitable[None]]

log = structlog.get_logger()


class WorkFailed(Exception):
    """The work failed, and its error was logged. It would fail again if repeated."""


class WorkDropped(WorkFailed):
    """The queue is full and did not accept the work. It can be submitted again in some seconds."""


class RetryQueue:
    """A queue of idempotent work, done in order. It waits while the store is unavailable.

    Only temporary errors are retried. Any other error is logged with a traceback, and the work is given up. A killed
    bot loses the queue. So an update should be acknowledged only after its work: then its platform delivers it to the
    next bot.
    """

    def __init__(self, outage: Outage) -> None:
        self._outage = outage
        self._waiting: OrderedDict[str, tuple[Work, asyncio.Future[None]]] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._is_full = False

    def add(self, key: str, work: Work) -> "asyncio.Future[None]":
        """Queue work and return its future. Work that is already queued under the same key is done once.

        The future raises `WorkFailed` if the work failed, and `WorkDropped` if the queue is full. After WorkDropped, a
        caller whose platform redelivers updates should not acknowledge the update. Both errors are logged, a full queue
        only once.
        """
        if key in self._waiting:
            return _make_waiter(self._waiting[key][1])
        future = asyncio.get_running_loop().create_future()
        was_full, self._is_full = self._is_full, len(self._waiting) >= MAX_WAITING
        if self._is_full:
            if not was_full:
                log.error("work_dropped", what=key, why="the store is unavailable and the queue is full")
            future.set_exception(WorkDropped(key))
            return _make_waiter(future)
        self._waiting[key] = (work, future)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return _make_waiter(future)

    async def stop(self) -> None:
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        for _work, future in self._waiting.values():
            future.cancel()

    async def _run(self) -> None:
        while self._waiting:
            # Remove the work from the queue first, so that new work with this key is queued again.
            key, (work, future) = self._waiting.popitem(last=False)
            try:
                await self._retry(work)
            except asyncio.CancelledError:
                # Cancel the future, because the work is not done.
                future.cancel()
                raise
            except Exception as error:
                log.exception("work_failed", what=key)
                failure = WorkFailed(key)
                failure.__cause__ = error
                future.set_exception(failure)
            else:
                future.set_result(None)

    async def _retry(self, work: Work) -> None:
        while True:
            try:
                return await work()
            except STORE_ERRORS as error:
                if not is_temporary(error):
                    raise
                self._outage.begin(error)
                await self._outage.wait_until_over()


def _make_waiter(done: "asyncio.Future[None]") -> "asyncio.Future[None]":
    """Return a future that a caller can await, cancel or drop without effect on other callers."""
    waiter = asyncio.shield(done)
    for future in (done, waiter):
        # Retrieve the exception. Otherwise asyncio logs it again if no caller awaits it.
        future.add_done_callback(lambda done_future: done_future.cancelled() or done_future.exception())
    return waiter
