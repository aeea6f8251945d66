"""What has to reach the store though it is away just now: it is tried again until it does."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from bot.store.outage import STORE_ERRORS, Outage, is_temporary

MAX_WAITING = 10_000
"""Pieces of work that may wait, at some 500 bytes each; what comes beyond that is dropped."""

Work = Callable[[], Awaitable[None]]

log = structlog.get_logger()


class WorkFailed(Exception):
    """The work was not done, and was given up after its error was logged: asked for again, it would end the same."""


class WorkDropped(WorkFailed):
    """Too much waits for the store: the work was not taken on. It may be asked for again, in some seconds."""


class RetryQueue:
    """Work that changes nothing when it is done twice, done piece after piece; while the store is away all of it waits.

    Only what may pass is waited for. Any other error is logged with a traceback, once; that work is given up, and the
    rest goes on.

    It lies in memory: a bot that is killed meanwhile loses it, unless whoever brought it waits until it is done, and
    is told again.
    """

    def __init__(self, outage: Outage) -> None:
        self._outage = outage
        self._waiting: OrderedDict[str, tuple[Work, asyncio.Future[None]]] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._is_full = False

    def add(self, key: str, work: Work) -> "asyncio.Future[None]":
        """Have something done; what is returned may be awaited, and ends when it is. What still waits under the same
        key is done once for both.

        Awaited, it raises `WorkFailed` if it was given up, and `WorkDropped` if too much waits: whoever can be told
        again of that leaves it unacknowledged. Both have been logged, the latter once for all that find no room.
        """
        if key in self._waiting:
            return _make_waiter(self._waiting[key][1])
        done = asyncio.get_running_loop().create_future()
        was_full, self._is_full = self._is_full, len(self._waiting) >= MAX_WAITING
        if self._is_full:
            if not was_full:
                log.error("work_dropped", what=key, why="the store is away, and too much waits for it")
            done.set_exception(WorkDropped(key))
            return _make_waiter(done)
        self._waiting[key] = (work, done)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return _make_waiter(done)

    async def stop(self) -> None:
        """Do no more."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        for _work, done in self._waiting.values():
            done.cancel()

    async def _run(self) -> None:
        while self._waiting:
            # From here on whoever comes under this key has come too late for it.
            key, (work, done) = self._waiting.popitem(last=False)
            try:
                await self._retry(work)
            except asyncio.CancelledError:
                # It is not done: nobody is to take it for that.
                done.cancel()
                raise
            except Exception as error:
                log.exception("work_failed", what=key)
                failed = WorkFailed(key)
                failed.__cause__ = error
                done.set_exception(failed)
            else:
                done.set_result(None)

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
    """What may be awaited, cancelled or forgotten without harm to the others who wait for the same."""
    one = asyncio.shield(done)
    for future in (done, one):
        # Not everybody awaits it, and what it raises has been logged.
        future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    return one
