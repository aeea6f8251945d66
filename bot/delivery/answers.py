"""Answers to commands, on their way: each waits for its place's turn, behind boards and hands."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable

import structlog

from bot.delivery.pace import Pacer
from bot.platform import DeliveryFault, SlowDown, platform_of

MOST_WAITING = 5
"""Answers that may wait for one place: what is asked for beyond that nobody will miss."""

MOST_TRIES = 5
"""How often an answer is sent that the platform asks to wait with."""

log = structlog.get_logger()


class Answers:
    """Sends answers, each by a task of its own, so that they hold nobody up."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._waiting: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()

    def send(self, place: str, say: Callable[[], Awaitable[object]]) -> None:
        """Have ``say`` send an answer to a place in its turn; one too many is dropped."""
        if self._waiting[place] >= MOST_WAITING:
            log.info("answer_dropped", platform=platform_of(place), why="too many wait for this place")
            return
        self._waiting[place] += 1
        task = asyncio.create_task(self._send(place, say))
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

    async def _send(self, place: str, say: Callable[[], Awaitable[object]]) -> None:
        try:
            for _ in range(MOST_TRIES):
                await self._pacer.turn(place, answer=True)
                try:
                    await say()
                except SlowDown as fault:
                    self._pacer.block(place, fault.seconds)
                else:
                    return
            log.info("answer_lost", platform=platform_of(place), why="SlowDown")
        except DeliveryFault as fault:
            log.info("answer_lost", platform=platform_of(place), why=type(fault).__name__)
        except Exception:
            log.exception("answer_failed", platform=platform_of(place))
        finally:
            self._waiting[place] -= 1
            if not self._waiting[place]:
                del self._waiting[place]
