"""Pictures are painted in a process of its own, each once for as long as it is asked for."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import structlog
from cachetools import LRUCache

from bot.metrics import PICTURES
from bot.panel import Panel
from bot.picture import Subject
from bot.pictures.painting import paint, warm_up
from bot.processes import ProcessDied, Processes

MAX_WAIT_SECONDS = 2.0
"""How long a message waits for its picture before its text goes alone; the process may have to start first."""

MAX_PENDING = 500
"""Pictures that are waited for beyond which texts go alone at once: some seconds of work. A bot that starts draws all
that was on its way, and there may be hundreds of that."""

REST_SECONDS = 60.0
"""How long texts go alone after the process could not be had: to start it again and again would help nobody."""

HUNG_SECONDS = 60.0
"""A picture that takes so long is given up; if none was painted meanwhile, its process is replaced."""

LATEST_SHARE = 0.1
"""How much the latest picture counts in what one takes on average."""

KEPT_BYTES = 4 * 1024 * 1024

log = structlog.get_logger()


class PicturePool:
    """Has pictures painted, and keeps those that were last asked for, by what they show."""

    def __init__(self, paint: Callable[[Subject], bytes] = paint) -> None:
        self._processes = Processes("pictures", 1)
        self._paint = paint
        self._kept: LRUCache[str, bytes] = LRUCache(KEPT_BYTES, getsizeof=len)
        self._under_way: dict[str, asyncio.Task[bytes]] = {}
        self._wanted: Counter[str] = Counter()
        """How many wait for each of these."""
        self._ready: asyncio.Task[None] | None = None
        self._rests_until = 0.0
        self._seconds_each = 0.0
        """What a picture takes of late, on average."""
        self._last_at = 0.0
        """When the last one was painted, or the process replaced, by the monotonic clock."""

    async def paint_panel(self, panel: Panel) -> Panel:
        """The panel with its picture painted, for an adapter; without it if that fails, or is not done in time."""
        picture = panel.picture
        if picture is None:
            return panel
        png = self._kept.get(picture.subject.digest) or await self._paint_in_time(picture.subject)
        return replace(panel, picture=picture._replace(png=png) if png else None)

    def is_painting(self, scene: Subject) -> bool:
        """Whether a picture is being painted, or waits for that: then it is late rather than failed."""
        return scene.digest in self._under_way

    async def wait_until_done(self, scene: Subject, woken: asyncio.Event) -> None:
        """Wait until a picture is no longer under way, or ``woken`` is set, which it is then in any case.

        One that nobody waits for any more is not painted, if that has not begun: something newer is to be shown.
        """
        if task := self._under_way.get(scene.digest):
            task.add_done_callback(lambda _done: woken.set())
            with self._count_waiter(scene):
                await woken.wait()
            if not self._wanted[scene.digest] and self._under_way.get(scene.digest) is task:
                # Who asks for it from now on has it begun anew.
                del self._under_way[scene.digest]
                task.cancel()

    def warm_up(self) -> None:
        """Pictures will be wanted soon: their process is started, once."""
        if time.monotonic() < self._rests_until:
            return
        if self._ready is None or (self._ready.done() and not self._processes.is_running):
            self._ready = asyncio.create_task(self._processes.run(warm_up))
            self._ready.add_done_callback(_log_failure)

    def stop(self) -> None:
        self._processes.stop()
        for task in (*self._under_way.values(), *([self._ready] if self._ready else [])):
            task.cancel()

    async def _paint_in_time(self, scene: Subject) -> bytes:
        """A picture, or nothing."""
        task = self._under_way.get(scene.digest)
        if task is None:
            if len(self._under_way) >= MAX_PENDING or time.monotonic() < self._rests_until:
                PICTURES.labels("not tried").inc()
                return b""
            task = self._under_way[scene.digest] = asyncio.create_task(self._paint_in_process(scene))
            task.add_done_callback(lambda done: self._handle_done(scene.digest, done))
            if len(self._under_way) * self._seconds_each > MAX_WAIT_SECONDS:
                # It will be late, and to wait for that would hold up its text for nothing.
                PICTURES.labels("late").inc()
                return b""
        # Several messages may wait for it, and one that goes away must not take it along.
        with self._count_waiter(scene):
            await asyncio.wait([task], timeout=MAX_WAIT_SECONDS)
        if not task.done():
            PICTURES.labels("late").inc()
            return b""
        return b"" if task.cancelled() or task.exception() else task.result()

    @contextmanager
    def _count_waiter(self, scene: Subject) -> Iterator[None]:
        self._wanted[scene.digest] += 1
        try:
            yield
        finally:
            self._wanted[scene.digest] -= 1
            if not self._wanted[scene.digest]:
                del self._wanted[scene.digest]

    async def _paint_in_process(self, scene: Subject) -> bytes:
        """A picture; ProcessDied if there is no process that paints it."""
        asked_at = time.monotonic()
        try:
            async with asyncio.timeout(HUNG_SECONDS):
                png = await self._processes.run(self._paint, scene)
        except TimeoutError:
            # Where others were painted meanwhile, there was only too much to do.
            if self._last_at < asked_at:
                self._last_at = time.monotonic()
                self._processes.restart()
            raise ProcessDied from None
        # They are painted one after the other.
        now = time.monotonic()
        self._seconds_each += LATEST_SHARE * (now - max(asked_at, self._last_at) - self._seconds_each)
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
    """Log why a task failed, if it did; without the error's words, which may name a card."""
    error = None if task.cancelled() else task.exception()
    if error:
        log.warning("picture_failed", why=type(error).__name__)
    return bool(error)
