"""A worker: all parts of the bot in one process."""

import asyncio
import time
from functools import partial
from typing import Any, TypeVar

import structlog

from bot.announcements import Announcements
from bot.bans import BAN_SECONDS, BanEnforcer
from bot.concurrency.background import Loop, Loops
from bot.core import Core
from bot.delivery.reposts import RING_SECONDS
from bot.feature import Feature
from bot.health import check_health, store_answers
from bot.metrics import ANALYSES, LAG, PLATFORM_UP, RATE_LIMITED_ANSWERS, STALLED, STORE_UP, TABLES, UNSETTLED
from bot.platform import Adapter
from bot.registry import FEATURES
from bot.settings import Settings
from bot.store import Store
from bot.store.leases import CLOCK
from bot.store.retries import RetryQueue
from bot.store.risks import watch_settings
from bot.tables.room import ROBOT_PAUSE

FIRST_CANCEL_SECONDS = 0.05  # wait before a loop that does not end is cancelled again; doubled each time
SHUTDOWN_SECONDS = 1.5  # grace period for messages in flight at shutdown
TICK_SECONDS = 1.0
STALL_SECONDS = 5.0  # longer pauses are logged: players notice, and platforms can give up on presses
F = TypeVar("F", bound=Feature)

log = structlog.get_logger()


class Worker(Core):
    """The core, all features and the background loops."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        alone: bool = True,
        robot_pause: float = ROBOT_PAUSE,
        ring_after: float = RING_SECONDS,
    ) -> None:
        super().__init__(store, settings, alone=alone, robot_pause=robot_pause, ring_after=ring_after)
        self._loops = Loops()
        self.retries = RetryQueue(store.outage)
        self._tasks: list[asyncio.Task[None]] = []
        store.levers.contact = settings.contact
        self.announcements = Announcements(store, self.shards, self.delivery.touch)
        self.bans = BanEnforcer(self)
        for create_feature in FEATURES:
            feature = create_feature(self)
            self.features.append(feature)
            if feature.policy:
                self.policies[feature.name] = feature.policy

    def feature(self, kind: type[F]) -> F:
        return next(feature for feature in self.features if isinstance(feature, kind))

    def add_adapter(self, adapter: Adapter) -> None:
        self.adapters[adapter.platform] = adapter
        RATE_LIMITED_ANSWERS.labels(adapter.platform)  # shown as 0 from the start

    async def start(self) -> None:
        """Take shards and start to deliver. Raise StoreUnavailable if other workers have a different time zone."""
        await self.store.levers.refresh()
        # Join first, because commands such as `restore` only notice registered workers.
        await self.shards.join()
        await self.shards.balance()
        loops: dict[str, Loop] = {
            "ratings": self.finisher.catch_up,
            "leases": self.shards.renew_leases,
            "notifications": self.shards.listen,
            "clocks": self.alarms.run,
            "sweep": self.updates.sweep,
            "store risks": partial(watch_settings, self.store.client, self.store.outage),
            "store memory": self.store.memory.watch,
            "levers": self.store.levers.follow,
            "boards of announcements": self.announcements.run,
            "presence": self.presence.run,
            "bans": partial(self.shards.while_leader, BAN_SECONDS, self.bans.work),
            "stalls": watch_for_stalls,
        }
        for feature in self.features:
            loops |= feature.loops
        self._tasks = [self._loops.start(name, loop) for name, loop in loops.items()]

    async def wait_until_idle(self) -> None:
        """Wait until no work is running; for tests and benchmarks."""
        await self.updates.wait_until_idle()
        await self.hints.wait_until_idle()
        await self.updates.wait_until_idle()

    async def stop(self) -> None:
        """Finish and store current work, and release the shards."""
        wait_seconds = FIRST_CANCEL_SECONDS
        while running := [task for task in self._tasks if not task.done()]:
            # Cancel repeatedly: on Python 3.11, libraries can lose a cancellation that coincides with a result.
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=wait_seconds)
            wait_seconds *= 2
        self.outages.stop()
        await self.retries.stop()
        for feature in self.features:
            feature.stop()
        self.watching.stop()
        self.analysis_pool.stop()
        # Stop alarms and hints before the robots for which they wait.
        self.alarms.stop()
        self.hints.stop()
        self.robot_pool.stop()
        with self.store.outage.suppress_errors():
            await self.delivery.stop(SHUTDOWN_SECONDS)
            await self.shards.stop()
        self.picture_pool.stop()
        for adapter in self.adapters.values():
            await adapter.close()

    async def check_health(self) -> dict[str, Any]:
        return await check_health(self, self._loops.failing, has_started=bool(self._tasks))

    async def update_metrics(self) -> None:
        STORE_UP.set(await store_answers(self.store))
        LAG.set(self.delivery.lag)
        UNSETTLED.set(self.delivery.busy_tables)
        phases = self.room.count_by_phase()
        for phase in ("open", "playing"):
            TABLES.labels(phase).set(phases[phase])
        ANALYSES.labels("requested").set(self.analysis_pool.requested_count)
        ANALYSES.labels("automatic").set(self.analysis_pool.automatic)
        for name, adapter in self.adapters.items():
            PLATFORM_UP.labels(name).set(self.platform_state(adapter) == "up")


async def watch_for_stalls() -> None:
    """Log pauses of the process, for example because it was frozen, its machine slept, or a call blocked it."""
    while True:
        last_tick = time.clock_gettime(CLOCK)
        await asyncio.sleep(TICK_SECONDS)
        delay = time.clock_gettime(CLOCK) - last_tick - TICK_SECONDS
        if delay > STALL_SECONDS:
            STALLED.inc(delay)
            log.warning("stalled", seconds=round(delay, 1), why="the process was frozen, blocked or starved")
