"""Answers to requests: each waits for its place's turn, behind boards and hands."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from bot.concurrency.background import TaskSet
from bot.concurrency.backoff import Backoff
from bot.delivery.outages import Outages
from bot.delivery.send_limiter import SendLimiter
from bot.platform import DeliveryError, MessageRefused, NotDelivered, SlowDown, platform_of

MAX_WAITING = 5  # answers that can wait for one place; more are dropped
GIVE_UP_SECONDS = 120.0  # time after which an answer is given up: by then the person has asked again or lost interest
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 20.0  # pause before a failed answer is retried; it doubles each time

SendAnswer = Callable[[], Awaitable[object]]
OnLost = Callable[[], object]

log = structlog.get_logger()


@dataclass
class Job:
    """A pending answer: its latest version, and whether that version is still untried. See `AnswerQueue.send`."""

    send: SendAnswer
    on_lost: OnLost | None = None
    is_new: bool = True


class AnswerQueue:
    """Sends answers, each in its own task, so that they block nothing."""

    def __init__(self, limiter: SendLimiter, outages: Outages) -> None:
        self._limiter, self._outages = limiter, outages
        self._waiting: Counter[str] = Counter()
        self._jobs: dict[tuple[str, str], Job] = {}
        self.tasks = TaskSet()

    def send(self, place: str, send: SendAnswer, *, message: str = "", on_lost: OnLost | None = None) -> bool:
        """Call ``send`` when the place has its turn.

        Return False if too many answers are waiting and this one is dropped. An answer that changes a ``message``
        replaces a waiting answer for the same message. ``on_lost`` is called if the answer is given up later, but not
        when the bot stops.
        """
        if message and (job := self._jobs.get((place, message))):
            job.send, job.on_lost, job.is_new = send, on_lost, True
            return True
        if self._waiting[place] >= MAX_WAITING:
            log.info("answer_dropped", platform=platform_of(place), why="too many answers wait for this place")
            return False
        self._waiting[place] += 1
        job = Job(send, on_lost)
        if message:
            self._jobs[place, message] = job
        self.tasks.start(self._send(place, job, message))
        return True

    def stop(self) -> None:
        self.tasks.cancel()

    async def _send(self, place: str, job: Job, message: str) -> None:
        """Send until the latest answer is sent or lost. A replacement that comes during a send follows it."""
        try:
            while job.is_new:
                job.is_new = False
                await self._send_or_log(place, job)
        finally:
            self._jobs.pop((place, message), None)
            self._waiting[place] -= 1
            if not self._waiting[place]:
                del self._waiting[place]

    async def _send_or_log(self, place: str, job: Job) -> None:
        platform = platform_of(place)
        try:
            async with asyncio.timeout(GIVE_UP_SECONDS):
                await self._retry(place, job)
        except (DeliveryError, TimeoutError) as error:
            log.info("answer_lost", platform=platform, why=type(error).__name__)
        except Exception:
            log.exception("answer_failed", platform=platform)
        else:
            return
        if job.on_lost and not job.is_new:
            job.on_lost()

    async def _retry(self, place: str, job: Job) -> None:
        platform, backoff = platform_of(place), Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        while True:
            await self._limiter.wait_for_turn(place, answer=True)
            job.is_new = False
            try:
                with self._outages.call(platform):
                    await job.send()
            except SlowDown as error:
                self._limiter.block(place, error.seconds)
            except MessageRefused:
                raise
            except NotDelivered:
                await asyncio.sleep(backoff.next_pause())
            else:
                return
