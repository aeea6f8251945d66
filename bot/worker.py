"""A worker: everything that one process of the bot has, put together."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import structlog

from bot.background import Loop, Loops, TaskSet
from bot.core import Core
from bot.delivery.delivery import RING_AFTER
from bot.delivery.names import decode_name
from bot.delivery.surface import decode_change
from bot.feature import Feature
from bot.metrics import LAG, PLATFORM_UP, TABLES, UNSETTLED
from bot.platform import Adapter
from bot.registry import FEATURES
from bot.settings import Settings
from bot.stalls import watch_for_stalls
from bot.store import STORE_ERRORS, Store
from bot.store.committed import Committed
from bot.store.durability import watch as watch_durability
from bot.store.retries import RetryQueue
from bot.tables.errors import NoSuchTable, SetAside
from bot.tables.room import ROBOT_PAUSE
from bot.tables.table import Table

SWEEP_SECONDS = 5.0
"""Seconds between looks for changed tables that nobody told of, because the other worker died."""

FIRST_PATIENCE = 0.05
"""Seconds until a loop that does not end is cancelled again. The wait doubles each time."""

PATIENCE = 1.5
"""Grace period for messages in flight when the bot stops, in seconds."""

log = structlog.get_logger()


F = TypeVar("F", bound=Feature)


class Worker(Core):
    """One worker: the core, every feature, and the work in the background."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        alone: bool = True,
        robot_pause: float = ROBOT_PAUSE,
        ring_after: float = RING_AFTER,
    ) -> None:
        super().__init__(store, settings, alone=alone, robot_pause=robot_pause, ring_after=ring_after)
        self._loops = Loops()
        self.retries = RetryQueue(store.outage)
        self._tasks: list[asyncio.Task[None]] = []
        self._told = TaskSet()
        self.room.watchers += [self.scheduler.committed, self.delivery.committed]
        self.room.delivers = self.shards.owns
        self.room.on_unreadable = self._set_aside
        self.shards.on_taken = self._look_through
        self.shards.on_leaving = self.delivery.leave_shards
        self.shards.on_lost = self.delivery.drop_shard
        self.shards.on_committed = self._heard
        self.shards.on_notified = self._notified
        self.shards.on_forget = self.people.forget
        self.shards.on_lowest = self.delivery.lowest.note
        if not alone:
            self.people.on_change = self.tell_to_forget
            self.delivery.lowest.on_sent = self._tell_lowest
        for make in FEATURES:
            feature = make(self)
            self.features.append(feature)
            if feature.policy:
                self.policies[feature.name] = feature.policy

    def feature(self, kind: type[F]) -> F:
        """Return the feature of a class."""
        return next(one for one in self.features if isinstance(one, kind))

    def add(self, adapter: Adapter) -> None:
        self.adapters[adapter.platform] = adapter

    async def start(self) -> None:
        """Take shards and begin to deliver. StoreAway if the days of other workers end in another time zone.

        Say first that the worker is alive: nobody may think that no worker uses the store.
        """
        await self.shards.join()
        await self.shards.share_out()
        loops: dict[str, Loop] = {
            "ratings": self._catch_up,
            "leases": self.shards.keep,
            "notifications": self.shards.listen,
            "clocks": self.scheduler.run,
            "sweep": self._sweep,
            "store risks": partial(watch_durability, self.store.client, self.store.outage),
            "store memory": self.store.memory.watch,
            "stalls": watch_for_stalls,
        }
        for feature in self.features:
            loops |= feature.loops
        self._tasks = [self._loops.start(name, loop) for name, loop in loops.items()]

    async def settled(self) -> None:
        """Wait until nothing is under way, also no look through new shards. For tests and benchmarks."""
        while True:
            await self._told.wait()
            await self.delivery.settled()
            if not len(self._told):
                return

    async def stop(self) -> None:
        """Finish and note the work under way, and give the shards back."""
        patience = FIRST_PATIENCE
        while running := [task for task in self._tasks if not task.done()]:
            # More than once: on Python 3.11 libraries are known to lose a cancellation that meets a result.
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=patience)
            patience *= 2
        self.outages.stop()
        await self.retries.stop()
        for feature in self.features:
            feature.stop()
        self.watching.stop()
        self.analysis_pool.stop()
        # Before the robots that it waits for.
        self.scheduler.stop()
        self.robot_pool.stop()
        with self.store.outage.noted():
            await self.delivery.stop(PATIENCE)
            await self.shards.stop()
        self.picture_pool.stop()
        for adapter in self.adapters.values():
            await adapter.close()

    async def healthy(self) -> dict[str, Any]:
        """Return the health of the worker: store, loops, platforms, lag of the delivery in seconds.

        It is healthy if it has started, the store answers, the loops run, and one of its platforms is up. A restart
        because of another platform would only stop the games on this one.
        """
        store = not self.store.outage.is_on
        if store:
            try:
                await self.store.client.ping()
            except STORE_ERRORS as error:
                self.store.outage.begin(error)
                store = False
        up = any(adapter.healthy for adapter in self.adapters.values())
        return {
            "healthy": bool(self._tasks) and store and up and not self._loops.failing,
            "store": store,
            "failing_loops": sorted(self._loops.failing),
            "adapters": {name: self.state_of(adapter) for name, adapter in self.adapters.items()},
            "delivery_lag_seconds": round(self.delivery.lag, 3),
        }

    def measure(self) -> None:
        """Update the metrics that are measured, not counted."""
        LAG.set(self.delivery.lag)
        UNSETTLED.set(self.delivery.busy)
        phases = self.room.by_phase()
        for phase in ("open", "playing"):
            TABLES.labels(phase).set(phases[phase])
        for name, adapter in self.adapters.items():
            PLATFORM_UP.labels(name).set(self.state_of(adapter) == "up")

    # What happens in the worker

    def _heard(self, told: Committed) -> None:
        """Take note of a commit by another worker, to a table that this one delivers."""
        # With replicas an unconfirmed commit may be lost, so the table is loaded instead.
        is_known = not self.store.replicas and self.room.follow(told)
        self.scheduler.committed(told.code, told.clock)
        self.delivery.committed(told.code, told.clock, told.about, reload=not is_known)
        for look_at in self.on_heard:
            look_at(told.code)

    def _spawn(self, work: Coroutine[Any, Any, None], about: str) -> None:
        self._told.start(self._watched(work, about))

    async def _watched(self, work: Coroutine[Any, Any, None], about: str) -> None:
        try:
            await work
        except (NoSuchTable, SetAside) as fault:
            log.info("table_gone_meanwhile", table=about, why=type(fault).__name__)
        except STORE_ERRORS as error:
            self.store.outage.begin(error)
        except Exception:
            log.exception("background_work_failed", about=about)

    def _tell_lowest(self, place: str, code: str) -> None:
        self._spawn(self.shards.notify({"lowest": place, "code": code, "by": self.shards.worker_id}), code)

    def _notified(self, word: dict[str, Any]) -> None:
        code = word["code"]
        self.delivery.touch(code, reload=True)
        if "name" in word:
            self.delivery.change(code, decode_name(word["name"]), decode_change(word["change"]))

    def _look_through(self, shard: int) -> None:
        # If the store is away, the sweep finds them.
        self._spawn(self._take_over(shard), f"shard {shard}")

    async def _sweep(self) -> None:
        """Look at tables that stay marked as changed at the same version: the worker that changed them is gone."""
        before: dict[str, int] = {}
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                marked = await self.store.all_changed(sorted(self.shards.mine))
            except STORE_ERRORS as error:
                self.store.outage.begin(error)
                continue
            for code, version in marked.items():
                if before.get(code) == version and not self.delivery.is_busy(code):
                    self.delivery.touch(code, reload=True)
            before = marked

    async def _take_over(self, shard: int) -> None:
        """Look at the changed tables of a shard, and at those that another release could not read."""
        for code in await self.store.all_changed([shard]):
            self.delivery.touch(code, reload=True)
        for code in await self.store.all_set_aside([shard]):
            await self._look_again(code)

    async def _set_aside(self, table: Table) -> None:
        """Set an unreadable table aside, once, if this worker owns it. The owner may be of another release."""
        if not self.shards.owns(table.code):
            await self.shards.notify({"code": table.code})
        elif await self.store.set_aside(table.code, table.version):
            log.error("table_set_aside", table=table.code, why=table.error)
            self.delivery.touch(table.code)

    async def _look_again(self, code: str) -> None:
        with suppress(NoSuchTable):
            table = await self.room.load(code)
            if not table.error:
                await self.store.take_back(code, table.version)
                self.delivery.touch(code)

    async def _catch_up(self) -> None:
        """Rate all games that are not rated yet, once. After an interrupted rebuild these may be all games."""
        while True:
            with self.store.outage.noted():
                await self.ratings.catch_up()
                return
            await self.store.outage.over()
