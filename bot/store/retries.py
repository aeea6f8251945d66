"""What has to reach the store though it is away just now: it is tried again until it does."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from bot.store.outage import STORE_FAULTS, Outage

MOST_WAITING = 10_000
"""Pieces of work that may wait, at some 500 bytes each; what comes beyond that is dropped, and said so."""

Work = Callable[[], Awaitable[None]]

log = structlog.get_logger()


class RetryQueue:
    """Work that changes nothing when it is done twice, done piece after piece; while the store is away all of it waits.

    It lies in memory: a bot that is killed meanwhile loses it, unless whoever brought it waits until it is done, and
    is told again.
    """

    def __init__(self, outage: Outage) -> None:
        self._outage = outage
        self._waiting: OrderedDict[str, tuple[Work, asyncio.Future[None]]] = OrderedDict()
        self._task: asyncio.Task[None] | None = None

    def add(self, key: str, work: Work) -> "asyncio.Future[None]":
        """Have something done; what is returned may be awaited, and ends when it is. What still waits under the same
        key is done once for both.
        """
        if key in self._waiting:
            return asyncio.shield(self._waiting[key][1])
        done = asyncio.get_running_loop().create_future()
        if len(self._waiting) >= MOST_WAITING:
            log.error("work_dropped", what=key, why="the store is away, and too much waits for it")
            done.set_result(None)
            return done
        self._waiting[key] = (work, done)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return asyncio.shield(done)

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
                await self._until_done(key, work)
            except asyncio.CancelledError:
                # It is not done: nobody is to take it for that.
                done.cancel()
                raise
            if not done.done():
                done.set_result(None)

    async def _until_done(self, key: str, work: Work) -> None:
        while True:
            try:
                return await work()
            except STORE_FAULTS as error:
                self._outage.begin(error)
                await self._outage.over()
            except Exception:
                log.exception("work_failed", what=key)
                return None
