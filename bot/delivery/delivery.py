"""Delivery of the tables of one worker's shards: what others tell of them, and which are brought to rest just now."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping

import structlog

from bot.delivery.answers import Answers
from bot.delivery.drawer import Drawer
from bot.delivery.lowest import LowestHands
from bot.delivery.names import SurfaceName
from bot.delivery.reconciler import Finish, Reconciler
from bot.delivery.send_limiter import SendLimiter
from bot.delivery.shards import Shards
from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Change
from bot.delivery.surface_sync import Tools
from bot.delivery.surfaces import home_of, wanted
from bot.delivery.table_sync import TableSync
from bot.delivery.urgency import Reposts
from bot.outages import Outages
from bot.people import People
from bot.platform import Adapter, RateLimit, platform_of
from bot.store import STORE_ERRORS, keys
from bot.tables.errors import NoSuchTable
from bot.tables.room import Room

RING_AFTER = 45
"""Seconds that a person has left a panel alone after which their turn comes as a new message: then the phone rings."""

AGAIN_AFTER = 2.0
"""Seconds before a table is looked at again whose delivery met an error of the store's, or of ours for the first time.
"""

LONGEST_AGAIN_AFTER = 300.0
"""Seconds up to which that doubles while errors of ours come again. A change of the table has it looked at at once."""

TABLES_REMEMBERED = 25_000
"""Tables of which it is kept in memory what is shown, at some 3 kB each."""

MOST_EVICTED = 100
"""Tables at which one look is had for some to forget: it should cost little."""

log = structlog.get_logger()


class Delivery:
    """Delivers the tables of one worker's shards."""

    def __init__(
        self,
        room: Room,
        shards: Shards,
        people: People,
        adapters: Mapping[str, Adapter],
        outages: Outages,
        finish: Finish,
        ring_after: float = RING_AFTER,
    ) -> None:
        self._room, self._shards, self._adapters = room, shards, adapters
        self._tables: OrderedDict[str, TableSync] = OrderedDict()
        limiter = SendLimiter(self._rate_limit, self._overall)
        self.answers = Answers(limiter, outages)
        self.lowest = LowestHands()
        self._writer = StateWriter(room.store, shards.worker_id, self._again_later)
        self._tools = Tools(
            room=room,
            shards=shards,
            adapters=adapters,
            limiter=limiter,
            drawer=Drawer(people, limiter),
            reposts=Reposts(self.lowest, ring_after),
            lowest=self.lowest,
            writer=self._writer,
            outages=outages,
        )
        self._reconciler = Reconciler(self._tools, people, finish, self._broke_off)

    # What others tell

    def touch(self, code: str, *, reload: bool = False) -> None:
        """A table may have changed. ``reload`` when another worker changed it."""
        if self._tools.stopping or not self._shards.owns(code):
            return
        sync = self._tables.get(code)
        if sync is None:
            sync = self._tables[code] = TableSync(code)
        self._tables.move_to_end(code)
        sync.touch(reload=reload)
        if not sync.is_running:
            sync.run(self._bring_to_rest(sync))

    async def change(self, code: str, name: SurfaceName, change: Change) -> None:
        """Somebody did something with a surface of a table."""
        if await self._only_pressed(code, name, change):
            return
        self.touch(code)
        sync = self._tables.get(code)
        if sync is None:
            # The bot stops, or the shard was lost a moment ago.
            return
        await self._reconciler.load(sync)
        # A surface that is new has come with a commit which the table in memory may not have.
        table = await (self._room.cached(code) if sync.get(name) else self._room.load(code))
        if not sync.get(name) and name not in wanted(table):
            return
        # From here on without a pause, for a message may be under way.
        home = home_of(table, name)
        sync.surface(name, home).apply(change, home, int(time.time()))
        self.touch(code)

    async def _only_pressed(self, code: str, name: SurfaceName, change: Change) -> bool:
        """Whether this is a press on the message that stands where it should: what it does to the table is told by the
        room, and nothing else is to be drawn.
        """
        sync = self._tables.get(code)
        surface = sync.get(name) if sync else None
        if surface is None or not change.pressed:
            return False
        home = home_of(await self._room.cached(code), name) if change.place else ""
        return surface.press(change, home, int(time.time()))

    def platform_back(self, platform: str) -> None:
        """A platform was away and is there again: what waits for it is tried now."""
        self._tools.platform_back(platform)
        for sync in self._tables.values():
            sync.stop_waiting()

    def is_busy(self, code: str) -> bool:
        """Whether a table is being delivered just now."""
        sync = self._tables.get(code)
        return sync is not None and sync.is_busy

    async def settled(self) -> None:
        """Wait until nothing is under way; for tests and benches."""
        while True:
            tasks = [self._writer.task, *(task for sync in self._tables.values() for task in sync.tasks)]
            busy = [task for task in tasks if task and not task.done()]
            if not busy:
                return
            self._writer.hurry()
            await asyncio.wait(busy)

    async def stop(self, patience: float) -> None:
        """Finish what is being sent, for so many seconds, and write it down."""
        self._tools.stopping = True
        for sync in self._tables.values():
            sync.stop_waiting()
        tasks = [task for sync in self._tables.values() for task in sync.tasks] + list(self.answers.tasks)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=patience)
            for task in late:
                task.cancel()
        self.answers.stop()
        if self._writer.task:
            self._writer.hurry()
            await asyncio.wait([self._writer.task])
        for sync in self._tables.values():
            await self._writer.now(sync)

    def drop_shard(self, shard: int) -> None:
        """Another worker delivers this shard from now on."""
        for code in [code for code in self._tables if keys.shard_of(code) == shard]:
            self._tables.pop(code).cancel()

    @property
    def busy(self) -> int:
        """Tables with a message under way."""
        return sum(1 for sync in self._tables.values() if sync.is_busy)

    @property
    def lag(self) -> float:
        """How long the table that has waited longest has been behind, in seconds."""
        now = time.monotonic()
        return max((now - sync.since for sync in self._tables.values() if sync.is_busy), default=0.0)

    # Bringing tables to rest

    async def _bring_to_rest(self, sync: TableSync) -> None:
        try:
            if await self._reconciler.bring_to_rest(sync):
                self._forget(sync)
            else:
                self._evict()
        except NoSuchTable:
            self._forget(sync)
        except Exception as error:  # noqa: BLE001 - it is logged, and tried again
            self._broke_off(sync, error)

    def _broke_off(self, sync: TableSync, error: Exception, surface: str = "") -> None:
        """A table, or a surface of it, met an error. It stays marked as changed, and is looked at again."""
        if isinstance(error, STORE_ERRORS):
            self._room.store.outage.begin(error)
            self._again_later(sync.code)
            return
        if sync.is_new(error, surface):
            about = {"surface": surface} if surface else {}
            log.error("surface_failed" if surface else "delivery_failed", table=sync.code, **about, exc_info=error)
        sync.again_in(AGAIN_AFTER, LONGEST_AGAIN_AFTER, lambda: self.touch(sync.code, reload=True))

    def _again_later(self, code: str) -> None:
        asyncio.get_running_loop().call_later(AGAIN_AFTER, lambda: self.touch(code, reload=True))

    def _forget(self, sync: TableSync) -> None:
        if self._tables.get(sync.code) is sync:
            del self._tables[sync.code]

    def _evict(self) -> None:
        """Forget the tables that were left alone longest, where there are too many; a busy one is not left alone."""
        for _ in range(min(MOST_EVICTED, len(self._tables))):
            if len(self._tables) <= TABLES_REMEMBERED:
                return
            oldest = next(iter(self._tables.values()))
            if oldest.is_busy:
                self._tables.move_to_end(oldest.code)
            else:
                del self._tables[oldest.code]

    def _rate_limit(self, place: str) -> RateLimit | None:
        adapter = self._adapters.get(platform_of(place))
        return adapter.rate_limit(place) if adapter else RateLimit()

    def _overall(self, place: str) -> RateLimit:
        adapter = self._adapters.get(platform_of(place))
        return adapter.overall() if adapter else RateLimit()
