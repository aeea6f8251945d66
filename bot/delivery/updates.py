"""Forwards changes of tables to the workers that deliver them, and handles other workers' notifications."""

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import structlog

from bot.cluster.shards import ShardListener, Shards
from bot.concurrency.background import TaskSet
from bot.delivery.delivery import Delivery
from bot.delivery.reposts import LowestHands
from bot.delivery.surface import Change, decode_change, encode_change
from bot.delivery.surface_names import SurfaceName, decode_name, encode_name
from bot.people import People
from bot.store import STORE_ERRORS, Store
from bot.store.commit_notification import CommitNotification
from bot.tables.room import Room

SWEEP_SECONDS = 5.0  # pause between checks for changed tables without a notification; their worker might have died

log = structlog.get_logger()


class Updates(ShardListener):
    """Updates of tables, for all workers of one store."""

    def __init__(self, room: Room, shards: Shards, people: People, delivery: Delivery, lowest: LowestHands) -> None:
        self._store: Store = room.store
        self._room, self._shards, self._people = room, shards, people
        self._delivery, self._lowest = delivery, lowest
        self._tasks = TaskSet()
        shards.listeners.append(self)

    async def send_change(self, code: str, name: SurfaceName, change: Change) -> None:
        if self._shards.owns(code):
            self._delivery.apply_change(code, name, change)
        else:
            await self._shards.notify({"code": code, "name": encode_name(name), "change": encode_change(change)})

    async def touch(self, code: str) -> None:
        """Report that a table's panels might have changed, although the table itself has not."""
        if self._shards.owns(code):
            self._delivery.touch(code)
        else:
            await self._shards.notify({"code": code})

    def on_notification(self, notification: dict[str, Any]) -> None:
        code = notification["code"]
        self._delivery.touch(code, reload=True)
        if "name" in notification:
            self._delivery.apply_change(code, decode_name(notification["name"]), decode_change(notification["change"]))

    def on_commit(self, commit: CommitNotification) -> None:
        self._room.handle_commit(commit)

    def on_profile_changed(self, key: str) -> None:
        self._people.forget(key)

    def on_lowest(self, place: str, code: str) -> None:
        self._lowest.record(place, code)

    def on_taken(self, shards: Collection[int]) -> None:
        self._tasks.start(self._take_over(sorted(shards)))

    async def on_leaving(self, shards: Collection[int]) -> None:
        await self._delivery.leave_shards(shards)

    def on_lost(self, shard: int) -> None:
        self._delivery.drop_shard(shard)

    async def _take_over(self, shards: Sequence[int]) -> None:
        """Deliver the changed tables of new shards, and reload tables that were set aside."""
        try:
            # After an outage of the store, the sweep finds them.
            with self._store.outage.suppress_errors():
                for code in await self._store.changed_tables(shards):
                    self._delivery.touch(code, reload=True)
                for code in await self._store.set_aside_tables(shards):
                    await self._room.resume(code)
        except Exception:
            log.exception("shard_takeover_failed", shards=shards)

    async def sweep(self) -> None:
        """Check tables again that stay marked as changed at the same version, until cancelled."""
        earlier_versions: dict[str, int] = {}
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                changed_tables = await self._store.changed_tables(sorted(self._shards.owned))
            except STORE_ERRORS as error:
                self._store.outage.begin(error)
                continue
            for code, version in changed_tables.items():
                if earlier_versions.get(code) == version and not self._delivery.is_busy(code):
                    self._delivery.touch(code, reload=True)
            earlier_versions = changed_tables

    async def wait_until_idle(self) -> None:
        """Wait until no work is left here or in delivery; for tests and benchmarks."""
        while True:
            await self._tasks.wait()
            await self._shards.tasks.wait()
            await self._delivery.wait_until_idle()
            if not (len(self._tasks) or len(self._shards.tasks)):
                return
