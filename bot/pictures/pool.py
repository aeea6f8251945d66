"""Painting of pictures in a separate process, with a cache."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import structlog
from cachetools import LRUCache

from bot.concurrency.processes import ProcessDied, Processes
from bot.metrics import PICTURES
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.pictures.pool_tasks import paint, warm_up

# how long a message waits for its picture before its text is sent without it; includes starting the process
MAX_WAIT_SECONDS = 2.0

# With more pending pictures (some seconds of work), texts are sent without pictures at once. After a restart hundreds
# of messages can be pending.
MAX_PENDING = 500

# pause after the process failed to start, during which texts are sent without pictures
REST_SECONDS = 60.0

# A picture is given up after this time. The process is replaced if it has painted no other picture in that time.
HUNG_SECONDS = 60.0

LATEST_SHARE = 0.1  # weight of the latest picture in the average duration
KEPT_BYTES = 4 * 1024 * 1024

log = structlog.get_logger()


class PicturePool:
    """Paints pictures in another process, and caches the latest ones by digest."""

    def __init__(self, paint: Callable[[Subject], bytes] = paint) -> None:
        self._processes = Processes("pictures", 1)
        self._paint = paint
        self._kept: LRUCache[str, bytes] = LRUCache(KEPT_BYTES, getsizeof=len)
        self._under_way: dict[str, asyncio.Task[bytes]] = {}
        self._waiters: Counter[str] = Counter()  # waiters per digest
        self._ready: asyncio.Task[None] | None = None
        self._rests_until = 0.0
        self._seconds_each = 0.0  # recent average duration of a picture
        self._last_at = 0.0  # monotonic time of the last painted picture or replaced process

    async def paint_panel(self, panel: Panel) -> Panel:
        """Return the panel with its picture painted, or without it if that fails or takes too long."""
        if panel.picture is None:
            return panel
        png = await self.paint(panel.picture.subject)
        return replace(panel, picture=panel.picture._replace(png=png) if png else None)

    async def paint(self, subject: Subject) -> bytes:
        """Return a picture as PNG, or nothing if that fails or takes too long."""
        return self._kept.get(subject.digest) or await self._paint_in_time(subject)

    def is_painting(self, subject: Subject) -> bool:
        """Return whether a picture is being painted or queued, so that it is late but has not failed."""
        return subject.digest in self._under_way

    async def wait_until_done(self, subject: Subject, woken: asyncio.Event) -> None:
        """Wait until a picture is finished, which sets ``woken``, or until something else sets it.

        Return at once if the picture is not being painted. A queued picture without waiters is cancelled: the message
        will show something newer.
        """
        if task := self._under_way.get(subject.digest):
            task.add_done_callback(lambda _done: woken.set())
            with self._count_waiter(subject):
                await woken.wait()
            if not self._waiters[subject.digest] and self._under_way.get(subject.digest) is task:
                # A later request paints the picture again.
                del self._under_way[subject.digest]
                task.cancel()

    def warm_up(self) -> None:
        """Start the process once, because pictures will be needed soon."""
        if time.monotonic() < self._rests_until:
            return
        if self._ready is None or (self._ready.done() and not self._processes.is_running):
            self._ready = asyncio.create_task(self._processes.run(warm_up))
            self._ready.add_done_callback(_log_failure)

    def stop(self) -> None:
        self._processes.stop()
        for task in (*self._under_way.values(), *([self._ready] if self._ready else [])):
            task.cancel()

    async def _paint_in_time(self, subject: Subject) -> bytes:
        task = self._under_way.get(subject.digest)
        if task is None:
            if len(self._under_way) >= MAX_PENDING or time.monotonic() < self._rests_until:
                PICTURES.labels("not tried").inc()
                return b""
            task = self._under_way[subject.digest] = asyncio.create_task(self._paint_in_process(subject))
            task.add_done_callback(lambda done: self._handle_done(subject.digest, done))
            if len(self._under_way) * self._seconds_each > MAX_WAIT_SECONDS:
                # The picture will be late, so its text should not wait for it.
                PICTURES.labels("late").inc()
                return b""
        # Several messages can wait for the picture. If one of them is cancelled, the painting must continue.
        with self._count_waiter(subject):
            await asyncio.wait([task], timeout=MAX_WAIT_SECONDS)
        if not task.done():
            PICTURES.labels("late").inc()
            return b""
        return b"" if task.cancelled() or task.exception() else task.result()

    @contextmanager
    def _count_waiter(self, subject: Subject) -> Iterator[None]:
        self._waiters[subject.digest] += 1
        try:
            yield
        finally:
            self._waiters[subject.digest] -= 1
            if not self._waiters[subject.digest]:
                del self._waiters[subject.digest]

    async def _paint_in_process(self, subject: Subject) -> bytes:
        """Return a picture. Raises ProcessDied if no process can paint it."""
        started_at = time.monotonic()
        try:
            async with asyncio.timeout(HUNG_SECONDS):
                png = await self._processes.run(self._paint, subject)
        except TimeoutError:
            # If others were painted in that time, the process was only busy.
            if self._last_at < started_at:
                self._last_at = time.monotonic()
                self._processes.restart()
            raise ProcessDied from None
        # Pictures are painted one after another.
        now = time.monotonic()
        self._seconds_each += LATEST_SHARE * (now - max(started_at, self._last_at) - self._seconds_each)
        self._last_at = now
        return png

    def _handle_done(self, digest: str, task: asyncio.Task[bytes]) -> None:
        if self._under_way.get(digest) is task:
            del self._under_way[digest]
        if _log_failure(task):
            PICTURES.labels("failed").inc()
            if isinstance(task.exception(), ProcessDied):
                self._rests_until = time.monotonic() + REST_SECONDS
        elif not task.cancelled():
            PICTURES.labels("painted").inc()
            self._kept[digest] = task.result()


def _log_failure(task: asyncio.Task[bytes] | asyncio.Task[None]) -> bool:
    """Log why a task failed, if it did. The error's text is left out because it could name a card."""
    error = None if task.cancelled() else task.exception()
    if error:
        log.warning("picture_failed", why=type(error).__name__)
    return bool(error)
