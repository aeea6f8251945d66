"""Shards: the worker that owns a shard sends its tables' messages and runs their clocks.

Every worker handles presses at all tables. Workers hold a lease for each of their shards and share them evenly. A dead
worker loses its leases after some seconds. The others take its shards and check all tables marked as changed.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Any, Literal

import structlog

from bot.concurrency.background import TaskSet
from bot.store import STORE_ERRORS, Store, StoreUnavailable, keys
from bot.store.commit_notification import CommitNotification
from bot.store.leases import CHECK_SECONDS, CLOCK, LEASE_SECONDS

# Interval of lease renewals. It is shorter than the longest gap that counts as playing time (playing_time.lua).
RENEW_SECONDS = 4.0
LEADER_SHARD = 0  # shard of the leader, which does the work that only one worker must do

log = structlog.get_logger()


class ShardListener:
    """Receives events of a worker's shards, and notifications from other workers. All methods do nothing by default."""

    def on_taken(self, shards: Collection[int]) -> None:
        """This worker has become the owner of these shards."""

    async def on_leaving(self, shards: Collection[int]) -> None:
        """Finish current work in shards that will be released, while their leases still hold."""

    def on_lost(self, shard: int) -> None:
        """This worker no longer owns a shard."""

    def on_commit(self, commit: CommitNotification) -> None:
        """Another worker committed to a table of this worker's shards."""

    def on_notification(self, notification: dict[str, Any]) -> None:
        """Another worker sent a notification about a table of this worker's shards."""

    def on_profile_changed(self, key: str) -> None:
        """Another worker changed a profile or chat, given by its key in the store."""

    def on_lowest(self, place: str, code: str) -> None:
        """Another worker sent the hand of table ``code`` to the private chat ``place``, where it is now the lowest."""


class Shards:
    """The shards of this worker, and notifications to the other workers."""

    def __init__(self, store: Store, *, alone: bool, zone: str = "") -> None:
        """``alone``: no other worker exists, so leases of a killed worker are ignored.

        ``zone`` is the time zone of days.
        """
        self.store = store
        self.worker_id = secrets.token_hex(6)
        self.owned: set[int] = set()
        self.worker_count = 1  # live workers at the last check
        self.listeners: list[ShardListener] = []
        self.tasks = TaskSet()  # notifications that no caller awaits
        self.now: Callable[[], float] = lambda: time.clock_gettime(CLOCK)
        self._alone, self._zone = alone, zone
        self._logged_zones: list[str] = []
        self._notifications: list[dict[str, Any]] = []
        self._publishing: asyncio.Task[None] | None = None
        self._held_until: dict[int, float] = {}
        self._balanced = asyncio.Event()

    @property
    def is_leader(self) -> bool:
        """True if this worker leads. Two workers can lead for a moment."""
        return LEADER_SHARD in self.owned

    async def while_leader(self, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
        """Until cancelled, do ``work`` now and every ``seconds``, but only while this worker leads.

        After an error of the store, the work is done again next time. Other errors are raised:
        `bot.concurrency.background.Loops` logs them and restarts the loop.
        """
        while True:
            if self.is_leader:
                with self.store.outage.suppress_errors():
                    await work()
            await asyncio.sleep(seconds)

    def owns(self, code: str) -> bool:
        """Return whether this worker owns a table's shard, as far as it knows."""
        return keys.shard_of(code) in self.owned

    def surely_owns(self, code: str) -> bool:
        """Return whether this worker certainly owns a table's shard. After a hang, it might have lost leases."""
        shard = keys.shard_of(code)
        return shard in self.owned and (self._alone or self.now() < self._held_until[shard])

    async def wait_until_held(self, code: str) -> bool:
        """Wait until this worker certainly owns a table's shard. Return whether it had to wait."""
        has_waited = False
        while not self.surely_owns(code):
            has_waited = True
            await self._balanced.wait()
        return has_waited

    async def join(self, max_seconds: float = 0.0) -> None:
        """Register this worker. Raise StoreUnavailable if workers with another time zone do not stop in time.

        With two zones, the cards of a day would be revealed in one while they are still played in the other.
        """
        deadline = asyncio.get_running_loop().time() + max_seconds
        is_logged = False
        while True:
            zones = await self.store.leases.report_alive(self.worker_id, self._zone, joins=not self._alone)
            other_zones = ", ".join(self._other_zones(zones))
            if not other_zones:
                return
            if asyncio.get_running_loop().time() >= deadline:
                raise StoreUnavailable(
                    f"Another worker on this store has BUONGIOCO_TIME_ZONE={other_zones}, and this one has "
                    f"{self._zone}. All workers must have the same: stop all of them before you start one with "
                    f"another time zone. A killed worker counts for {LEASE_SECONDS} more seconds."
                )
            if not is_logged:
                log.info("waiting_for_workers", time_zone=other_zones, why="they are stopping, or were just killed")
                is_logged = True
            await asyncio.sleep(CHECK_SECONDS)

    def _other_zones(self, zones: Iterable[str]) -> list[str]:
        """Return those of the workers' time zones that differ from this worker's."""
        return [] if self._alone else sorted({*zones} - {"", self._zone})

    async def renew_leases(self) -> None:
        """Renew leases, and take or release shards, until cancelled."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with self.store.outage.suppress_errors():
                await self.balance()

    async def stop(self) -> None:
        """Release all shards, and unregister this worker."""
        owned = list(self.owned)
        await self._release(owned)
        for shard in owned:
            self._lose(shard)
        await self.store.leases.remove_worker(self.worker_id, self._zone)

    async def notify(self, notification: dict[str, Any]) -> None:
        """Notify the owner of a table, or all workers.

        If a shard has no owner, its next owner finds the table marked as changed. Notifications are sent at once, or
        together if another is being sent: every worker receives all messages, so there must not be too many.
        """
        self._notifications.append(notification)
        if self._publishing is None or self._publishing.done():
            self._publishing = asyncio.create_task(self._publish())
        await asyncio.shield(self._publishing)

    async def notify_forget(self, key: str) -> None:
        """Make other workers drop a cached profile or chat, by its key in the store."""
        await self.notify({"forget": key, "by": self.worker_id})

    def notify_lowest(self, place: str, code: str) -> None:
        """Notify other workers of the table whose hand is lowest in a private chat, without waiting."""

        async def notify() -> None:
            try:
                with self.store.outage.suppress_errors():
                    await self.notify({"lowest": place, "code": code, "by": self.worker_id})
            except Exception:
                log.exception("notification_not_sent")

        self.tasks.start(notify())

    async def _publish(self) -> None:
        while self._notifications:
            notifications, self._notifications = self._notifications, []
            await self.store.client.publish(keys.NOTIFICATIONS, json.dumps(notifications))

    async def listen(self) -> None:
        """Pass commits and notifications from other workers to the listeners, until cancelled."""
        commits = keys.worker_channel(self.worker_id)
        while True:
            try:
                async with self.store.client.pubsub() as subscription:
                    await subscription.subscribe(keys.NOTIFICATIONS, commits)
                    async for message in subscription.listen():
                        if message["type"] != "message":
                            continue
                        if message["channel"] == commits.encode():
                            self._receive_commit(message["data"])
                        else:
                            self._receive_notifications(message["data"])
            except STORE_ERRORS as error:
                self.store.outage.begin(error)
                await asyncio.sleep(1)

    def _receive_commit(self, data: bytes) -> None:
        try:
            commit = CommitNotification.parse(data)
            if self.owns(commit.code):
                for listener in self.listeners:
                    listener.on_commit(commit)
        except Exception:
            # Another version might have sent it. The sweep finds the table.
            log.exception("commit_notification_failed")

    def _receive_notifications(self, data: bytes) -> None:
        try:
            notifications = list(json.loads(data))
        except (ValueError, TypeError):
            log.warning("notification_unreadable")
            return
        for notification in notifications:
            try:
                self._receive(notification)
            except STORE_ERRORS as error:
                self.store.outage.begin(error)
            except Exception:
                # Another version might have sent it. The sweep finds the table.
                log.exception("notification_failed")

    def _receive(self, notification: dict[str, Any]) -> None:
        is_own = ("forget" in notification or "lowest" in notification) and notification["by"] == self.worker_id
        for listener in () if is_own else self.listeners:
            if "forget" in notification:
                listener.on_profile_changed(notification["forget"])
            elif "lowest" in notification:
                listener.on_lowest(notification["lowest"], notification["code"])
            elif self.owns(notification["code"]):
                listener.on_notification(notification)

    async def balance(self) -> None:
        """Renew leases, and take or release shards to give every worker an equal share."""
        leases = self.store.leases
        workers = await leases.report_alive(self.worker_id, self._zone)
        self.worker_count = 1 if self._alone else len(workers)
        # `join` did not see workers that had not yet registered, so compare the zones again.
        other_zones = self._other_zones(workers)
        if other_zones and other_zones != self._logged_zones:
            log.error("time_zones_differ", here=self._zone, elsewhere=other_zones)
        self._logged_zones = other_zones
        fair_share = -(-keys.SHARDS // self.worker_count)
        if surplus_shards := sorted(self.owned)[fair_share:]:
            await self._leave(surplus_shards)
        owned_shards = sorted(self.owned)
        kept_shards = await self._hold(owned_shards, "keep")
        for shard in owned_shards:
            if shard not in kept_shards:
                self._lose(shard)
        self._balanced.set()
        self._balanced.clear()
        # Workers start at different shards so that they do not compete for the same ones.
        start = int(self.worker_id, 16) % keys.SHARDS
        free_shards = [shard for shard in (*range(start, keys.SHARDS), *range(start)) if shard not in self.owned]
        while free_shards and (missing_count := fair_share - len(self.owned)) > 0:
            taken_shards = await self._hold(free_shards[:missing_count], "seize" if self._alone else "take")
            free_shards = free_shards[missing_count:]
            if taken_shards:
                self.owned.update(taken_shards)
                for listener in self.listeners:
                    listener.on_taken(taken_shards)

    async def _leave(self, leaving: Collection[int]) -> None:
        """Release shards to other workers. A lease that cannot be released expires."""
        self.owned.difference_update(leaving)
        try:
            for listener in self.listeners:
                await listener.on_leaving(leaving)
        finally:
            for shard in leaving:
                self._lose(shard)
        await self._release(leaving)

    async def _release(self, shards: Collection[int]) -> None:
        await asyncio.gather(*(self.store.leases.release_shard(self.worker_id, shard) for shard in shards))

    async def _hold(self, shards: Sequence[int], mode: Literal["keep", "take", "seize"]) -> list[int]:
        """Renew or take the leases of shards. Return the shards that this worker has now."""

        async def hold(shard: int) -> bool:
            # Measured before the call, so that the lease cannot end in the store before this time.
            lease_end = self.now() + LEASE_SECONDS
            is_held = await self.store.leases.hold_shard(self.worker_id, shard, mode)
            if is_held:
                self._held_until[shard] = lease_end
            return is_held

        answers = await asyncio.gather(*map(hold, shards))
        return [shard for shard, is_held in zip(shards, answers, strict=True) if is_held]

    def _lose(self, shard: int) -> None:
        self.owned.discard(shard)
        for listener in self.listeners:
            listener.on_lost(shard)
