"""Answers to what people ask for, on their way: each waits for its place's turn, behind boards and hands."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import structlog

from bot.delivery.send_limiter import SendLimiter
from bot.outages import Outages
from bot.platform import DeliveryFault, NotDone, Refused, SlowDown, platform_of

MOST_WAITING = 5
"""Answers that may wait for one place: what is asked for beyond that nobody will miss."""

WANTED_SECONDS = 120.0
"""For how long an answer is tried: who has waited longer has asked again, or does not care any more."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 20.0
"""Seconds before an answer is tried again that did not go out: doubled each time, up to the longest."""

Say = Callable[[], Awaitable[object]]

log = structlog.get_logger()


class Answers:
    """Sends answers, each by a task of its own, so that they hold nobody up."""

    def __init__(self, limiter: SendLimiter, outages: Outages) -> None:
        self._limiter, self._outages = limiter, outages
        self._waiting: Counter[str] = Counter()
        self._latest: dict[tuple[str, str], Say] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, place: str, say: Say, *, message: str = "") -> None:
        """Have ``say`` send an answer to a place in its turn; one too many is dropped.

        An answer that changes a ``message`` takes the place of one that still waits to do so.
        """
        if message and (place, message) in self._latest:
            self._latest[place, message] = say
            return
        if self._waiting[place] >= MOST_WAITING:
            log.info("answer_dropped", platform=platform_of(place), why="too many wait for this place")
            return
        self._waiting[place] += 1
        if message:
            self._latest[place, message] = say
        task = asyncio.create_task(self._send(place, say, message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def tasks(self) -> "list[asyncio.Task[None]]":
        """Those that are on their way."""
        return list(self._tasks)

    def stop(self) -> None:
        """Send no more."""
        for task in self._tasks:
            task.cancel()

    async def _send(self, place: str, say: Say, message: str) -> None:
        platform = platform_of(place)
        try:
            async with asyncio.timeout(WANTED_SECONDS):
                await self._until_said(place, say, message)
        except (DeliveryFault, TimeoutError) as fault:
            log.info("answer_lost", platform=platform, why=type(fault).__name__)
        except Exception:
            log.exception("answer_failed", platform=platform)
        finally:
            self._waiting[place] -= 1
            if not self._waiting[place]:
                del self._waiting[place]

    async def _until_said(self, place: str, say: Say, message: str) -> None:
        platform, pause = platform_of(place), FIRST_PAUSE
        while True:
            await self._limiter.turn(place, answer=True)
            say = self._latest.pop((place, message), say)
            try:
                with self._outages.call(platform):
                    await say()
            except SlowDown as fault:
                self._limiter.block(place, fault.seconds)
            except Refused:
                raise
            except NotDone:
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                return
