"""When the store does not answer, or takes nothing down: what that means for what was asked of it, and one line in the
log when it begins and one when it is over, however many meet it.
"""

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

STORE_ERRORS = (RedisError, RedisClusterException, OSError)
"""All that a call of the store may raise when the store is away."""

TEMPORARY_ERRORS = (OutOfMemoryError, ReadOnlyError, ClusterDownError, TryAgainError, AskError)
TEMPORARY_WORDS = re.compile(
    r"(?:^|: |-)(?:OOM|MISCONF|READONLY|LOADING|CLUSTERDOWN|TRYAGAIN|MASTERDOWN|NOREPLICAS|BUSY)\b"
)
"""Refusals that have to do with how the store is just now. The client has no class for some, and where a script or a
transaction met one, its word stands further on in the text.
"""

PROBE_SECONDS, MAX_PROBE_SECONDS = 0.5, 30.0
"""How often a store that is away is tried; less often, up to the longest, if it was away a moment before."""

STEADY_SECONDS = 60.0
"""A store that was there for so long is trusted again."""

_committed: ContextVar[bool] = ContextVar("committed", default=False)

log = structlog.get_logger()


def begin_request() -> None:
    """What somebody asks for begins here: nothing has been committed for it yet."""
    _committed.set(False)


def note_commit() -> None:
    """Something has been committed for the request that this task serves."""
    _committed.set(True)


def is_certainly_lost(error: BaseException) -> bool:
    """Whether nothing at all was kept of a request that ended with this error of the store's.

    The store refused, or was not to be reached in the first place; where it fell silent, nobody knows. That holds for
    commands that were tried once.
    """
    refused = isinstance(error, ResponseError | AuthenticationError | BusyLoadingError)
    nobody_there = isinstance(error.__context__, ConnectionRefusedError | FileNotFoundError)
    return (refused or nobody_there) and not _committed.get()


def is_temporary(error: BaseException) -> bool:
    """Whether what met this error of the store's may go through later, unchanged: the store is away, or refuses
    everybody for now. Otherwise it is about this very command, such as one for a key that holds something else.
    """
    if isinstance(error, ResponseError):
        return isinstance(error, TEMPORARY_ERRORS) or bool(TEMPORARY_WORDS.search(str(error)))
    return not isinstance(error, DataError | CrossSlotTransactionError)


class Outage:
    """Whether a store is away, as far as is known. ``probe`` writes something, and raises while that cannot be done."""

    def __init__(self, probe: Callable[[], Awaitable[None]]) -> None:
        self._probe = probe
        self._task: asyncio.Task[None] | None = None
        self._pause = PROBE_SECONDS
        self._ended = 0.0

    @property
    def is_active(self) -> bool:
        return self._task is not None and not self._task.done()

    def begin(self, error: BaseException) -> None:
        """A call of the store has failed with this error. The first is said; from then on the store is probed."""
        if self.is_active:
            return
        now = time.monotonic()
        recurs = self._ended and now - self._ended < STEADY_SECONDS
        self._pause = min(2 * self._pause, MAX_PROBE_SECONDS) if recurs else PROBE_SECONDS
        log.error("store_failed", why=describe_error(error))
        self._task = asyncio.create_task(self._probe_until_over(now))

    @contextmanager
    def suppress_errors(self) -> Iterator[None]:
        """What meets one of the store's errors in here ends, and the outage begins; nothing is raised."""
        try:
            yield
        except STORE_ERRORS as error:
            self.begin(error)

    async def wait_until_over(self) -> None:
        """Return when the store takes writes again, as far as is known."""
        if self._task:
            await asyncio.wait([self._task])

    def stop(self) -> None:
        """Probe no more: the store is being closed."""
        if self._task:
            self._task.cancel()

    async def _probe_until_over(self, begun: float) -> None:
        while True:
            await asyncio.sleep(self._pause)
            try:
                await self._probe()
            except STORE_ERRORS:
                continue
            self._ended = time.monotonic()
            log.info("store_recovered", after=round(self._ended - begun, 1))
            return


def describe_error(error: BaseException) -> str:
    """What went wrong; the store's own words only where it refused, for others may hold an address."""
    name = type(error).__name__
    return f"{name}: {str(error)[:100]}" if isinstance(error, ResponseError) else name
