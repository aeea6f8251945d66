"""Outages of the store: what its errors mean, and when it has recovered."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import structlog
from redis.exceptions import (
    AskError,
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    CrossSlotTransactionError,
    DataError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)

STORE_ERRORS = (RedisError, RedisClusterException, OSError)  # the errors of an unavailable store

TEMPORARY_ERRORS = (OutOfMemoryError, ReadOnlyError, ClusterDownError, TryAgainError, AskError)
# Words of refusals that end when the store recovers. redis-py has no class for some of them. In errors of scripts and
# transactions, other words come before them.
TEMPORARY_WORDS = re.compile(
    r"(?:^|: |-)(?:OOM|MISCONF|READONLY|LOADING|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|BUSY)\b"
)

# First and longest pause between probes. The pause doubles with each outage that begins within STEADY_SECONDS of the
# last one.
PROBE_SECONDS, MAX_PROBE_SECONDS = 0.5, 30.0

STEADY_SECONDS = 60.0  # a store that was available for this long counts as stable again

_committed: ContextVar[bool] = ContextVar("committed", default=False)

log = structlog.get_logger()


def begin_request() -> None:
    """Note that this task begins a request, for which nothing has been committed."""
    _committed.set(False)


def note_commit() -> None:
    """Note that this task's request has committed something."""
    _committed.set(True)


def is_certainly_lost(error: BaseException) -> bool:
    """Return whether a request that ended with this error stored nothing.

    This is certain after a refusal or a failed connection, but not after a timeout. Valid for commands that are sent
    only once.
    """
    refused = isinstance(error, ResponseError | AuthenticationError | BusyLoadingError)
    is_unconnected = isinstance(error.__context__, ConnectionRefusedError | FileNotFoundError)
    return (refused or is_unconnected) and not _committed.get()


def is_temporary(error: BaseException) -> bool:
    """Return whether the same request can succeed later: the store is unavailable, or refuses everything for now.

    Other errors are about the command, such as a key of the wrong type.
    """
    if isinstance(error, ResponseError):
        return isinstance(error, TEMPORARY_ERRORS) or bool(TEMPORARY_WORDS.search(str(error)))
    return not isinstance(error, DataError | CrossSlotTransactionError)


class Outage:
    """The store's current outage, if any. ``probe`` tries to write, and raises an error until it can."""

    def __init__(self, probe: Callable[[], Awaitable[None]]) -> None:
        self._probe = probe
        self._task: asyncio.Task[None] | None = None
        self._pause = PROBE_SECONDS
        self._ended = 0.0

    @property
    def is_active(self) -> bool:
        return self._task is not None and not self._task.done()

    def begin(self, error: BaseException) -> None:
        """Begin an outage after this error, unless one is active. Log it, and probe the store until it recovers."""
        if self.is_active:
            return
        now = time.monotonic()
        recurs = self._ended and now - self._ended < STEADY_SECONDS
        self._pause = min(2 * self._pause, MAX_PROBE_SECONDS) if recurs else PROBE_SECONDS
        log.error("store_failed", why=describe_error(error))
        self._task = asyncio.create_task(self._probe_until_over(now))

    @contextmanager
    def suppress_errors(self) -> Iterator[None]:
        """Suppress an error of the store, and begin an outage."""
        try:
            yield
        except STORE_ERRORS as error:
            self.begin(error)

    async def wait_until_over(self) -> None:
        if self._task:
            await asyncio.wait([self._task])

    def stop(self) -> None:
        if self._task:
            self._task.cancel()

    async def _probe_until_over(self, began_at: float) -> None:
        while True:
            await asyncio.sleep(self._pause)
            try:
                await self._probe()
            except STORE_ERRORS:
                continue
            self._ended = time.monotonic()
            log.info("store_recovered", after=round(self._ended - began_at, 1))
            return


def describe_error(error: BaseException) -> str:
    """Describe an error. Only refusals include their text, because other errors can contain an address."""
    name = type(error).__name__
    return f"{name}: {str(error)[:100]}" if isinstance(error, ResponseError) else name
