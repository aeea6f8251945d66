"""Delivery: for each table that changed, draw each surface, compare with what stands there, send or edit until chat and
table agree.

Each surface is brought up to date by one task of its own, which always sends the latest state: what changes while a
place is held back is sent once. A crash, a platform's wait or a lost connection cost time and nothing else.

What is known of messages is written down at once after a send, so that a crash can double a message only in between.
After an edit it is written a moment later, together with others. A crash in that moment has the edit made again, which
changes nothing.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress

import structlog

from bot.cluster.shards import Shards
from bot.delivery.announcer import Announcer
from bot.delivery.answers import Answers
from bot.delivery.drawing import Drawer
from bot.delivery.lag import now
from bot.delivery.message_state import State, decode_state
from bot.delivery.names import Hand, Result, SurfaceName, decode_name, encode_name
from bot.delivery.send_limiter import SendLimiter
from bot.delivery.shared_pace import SharedPace
from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Change, Surface, decode_change
from bot.delivery.surface_sync import SurfaceSync, SyncTools
from bot.delivery.surfaces import home_of, is_final, required_surfaces
from bot.delivery.table_sync import TableSync
from bot.delivery.urgency import RepostPolicy
from bot.outages import Outages
from bot.panel import Panel
from bot.people import People
from bot.pictures.pool import PicturePool
from bot.platform import Adapter, RateLimit, SentMessage, person_of, platform_of
from bot.site.watching import Watching
from bot.store import STORE_ERRORS, keys
from bot.table_policy import Outcome, Policies
from bot.tables.errors import NoSuchTable
from bot.tables.room import Commit, Room
from bot.tables.table import Table

RING_AFTER = 45
"""Seconds that a person has left a panel alone after which their turn comes as a new message: then the phone rings."""

RETRY_AFTER = 2.0
"""Seconds before a table is looked at again whose delivery met an error of the store's, or of ours for the first time.
"""

MAX_RETRY_AFTER = 300.0
"""Seconds up to which that doubles while errors of ours come again. A change of the table has it looked at at once."""

LEAVING_SECONDS = 1.5
"""How long what is being sent is waited for when shards go to another worker; much less than a lease lasts."""

TABLES_CACHED = 25_000
"""Tables of which it is kept in memory what is shown, at some 3 kB each."""

MAX_EVICTED = 100
"""Tables at which one look is had for some to forget: it should cost little."""

Finish = Callable[[Table], Awaitable[Outcome]]
OnResults = Callable[[Table, Outcome, Mapping[Result, SentMessage]], None]

log = structlog.get_logger()


class Delivery:
    """Brings the tables of one worker's shards to rest.

    ``finish`` keeps a finished game. ``on_results`` is called with a game that is over, its outcome, and the messages
    that show its result for good.
    """

    def __init__(
        self,
        room: Room,
        shards: Shards,
        people: People,
        adapters: Mapping[str, Adapter],
        pictures: PicturePool,
        outages: Outages,
        finish: Finish,
        on_results: OnResults,
        watching: Watching,
        policies: Policies,
        reposts: RepostPolicy,
    ) -> None:
        self._room, self._shards, self._people, self._adapters = room, shards, people, adapters
        self._finish, self._on_results = finish, on_results
        self._tables: OrderedDict[str, TableSync] = OrderedDict()
        pace = SharedPace(room.store.client, room.store.outage.begin)
        limiter = SendLimiter(self._rate_limit, self._overall_limit, pace)
        self.answers = Answers(limiter, outages)
        self.announcer = Announcer(pictures, self.answers)
        self._writer = StateWriter(room.store, shards.worker_id, self._retry_later)
        self._tools = SyncTools(
            room=room,
            shards=shards,
            adapters=adapters,
            limiter=limiter,
            drawer=Drawer(people, limiter, adapters, pictures, watching, policies),
            pictures=pictures,
            reposts=reposts,
            writer=self._writer,
            outages=outages,
        )
        room.watchers.append(self._handle_commit)

    # What others tell

    def touch(self, code: str, *, reload: bool = False) -> None:
        """A table may have changed. ``reload`` when another worker changed it."""
        if sync := self._sync_of(code):
            sync.touch(reload=reload)
            if not sync.is_running:
                sync.run(self._deliver(sync))

    def _handle_commit(self, commit: Commit) -> None:
        self.touch(commit.code, reload=not commit.is_known)
        if commit.about:
            # The surface that was pressed. Older releases name the person instead, and only the time of the look is
            # lost by that.
            with suppress(ValueError):
                name, change = commit.about
                self.apply_change(commit.code, decode_name(name), decode_change(change))

    def apply_change(self, code: str, name: SurfaceName, change: Change) -> None:
        """Somebody did something with a surface of a table."""
        if self._record_press(code, name, change):
            return
        if sync := self._sync_of(code):
            sync.add_change(name, change)
            self.touch(code)

    def _sync_of(self, code: str) -> TableSync | None:
        """The delivery of a table, which is a busy one from now on; None if it is not for this worker, or not now."""
        if self._tools.stopping or not self._shards.owns(code):
            return None
        sync = self._tables.get(code)
        if sync is None:
            sync = self._tables[code] = TableSync(code)
        self._tables.move_to_end(code)
        return sync

    def _record_press(self, code: str, name: SurfaceName, change: Change) -> bool:
        """Whether this is a press on the message that stands where it should, which is noted: what it does to the table
        is told by the room, and nothing else is to be drawn.
        """
        sync, table = self._tables.get(code), self._room.remembered(code)
        surface = sync.get(name) if sync else None
        if surface is None or table is None or not change.pressed:
            return False
        return surface.record_press(change, home_of(table, name) if change.place else "", int(time.time()))

    def resume_platform(self, platform: str) -> None:
        """A platform was away and is there again: what waits for it is tried now."""
        self._tools.resume_platform(platform)
        for sync in self._tables.values():
            sync.stop_waiting()

    def is_busy(self, code: str) -> bool:
        """Whether a table is being delivered just now."""
        sync = self._tables.get(code)
        return sync is not None and sync.is_busy

    async def wait_until_idle(self) -> None:
        """Wait until nothing is under way; for tests and benchmarks."""
        while True:
            tasks = [self._writer.task, *(task for sync in self._tables.values() for task in sync.tasks)]
            busy = [task for task in tasks if task and not task.done()]
            if not busy:
                return
            self._writer.flush()
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
            self._writer.flush()
            await asyncio.wait([self._writer.task])
        for sync in self._tables.values():
            await self._writer.write_now(sync)

    async def leave_shards(self, shards: Collection[int]) -> None:
        """Finish what is being sent for shards that are about to be another worker's, and write it down: what the store
        does not know of is sent again.
        """
        syncs = [sync for code, sync in self._tables.items() if keys.shard_of(code) in shards]
        for sync in syncs:
            sync.stop_waiting()
        if tasks := [task for sync in syncs for task in sync.tasks]:
            await asyncio.wait(tasks, timeout=LEAVING_SECONDS)
        for sync in syncs:
            await self._writer.write_now(sync)

    def drop_shard(self, shard: int) -> None:
        """Another worker delivers this shard from now on."""
        for code in [code for code in self._tables if keys.shard_of(code) == shard]:
            self._tables.pop(code).cancel()

    @property
    def busy_tables(self) -> int:
        """Tables with a message under way."""
        return sum(1 for sync in self._tables.values() if sync.is_busy)

    @property
    def lag(self) -> float:
        """The age of the oldest change that is not shown everywhere yet, in seconds; 0 if all are shown."""
        unshown = [at for sync in self._tables.values() if (at := sync.lag.oldest) is not None]
        return now() - min(unshown) if unshown else 0.0

    # Bringing a table to rest

    async def _deliver(self, sync: TableSync) -> None:
        """Until all of a table is shown, a surface has failed or the bot stops."""
        try:
            if await self._deliver_until_shown(sync):
                self._forget(sync)
            else:
                self._evict()
        except NoSuchTable as fault:
            if sync.next_changed:
                log.info("table_vanished", table=sync.code, why=type(fault).__name__)
            self._forget(sync)
        except Exception as error:  # noqa: BLE001 - it is logged, and tried again
            self._handle_error(sync, error)

    async def _deliver_until_shown(self, sync: TableSync) -> bool:
        """Bring a table to rest; whether it is removed then, for no more is to come of it.

        NoSuchTable if there is no such table any more.
        """
        await self._load(sync)
        table: Table | None = None
        has_waited = False
        while not self._tools.stopping and self._shards.owns(sync.code):
            if sync.is_behind or table is None:
                table, has_waited = await self._check_table(sync), False
            elif sync.has_syncing_surface:
                await sync.wait_for_event()
                has_waited = True
            elif sync.has_failed:
                return False
            elif has_waited and not self._room.is_playing_at(sync.code, table.version):
                # The surfaces that had nothing to do then may have something now.
                sync.touch()
            else:
                is_removed = await self._complete(sync, table)
                if not sync.is_behind:
                    return is_removed
        return False

    async def _load(self, sync: TableSync) -> None:
        """Read what is known of a table's messages, once."""
        if sync.is_loaded:
            return
        stored, found = await self._room.store.load_shown(sync.code), {}
        for text, state in stored.items():
            try:
                name = decode_name(text)
            except ValueError:
                # A release to come may know it.
                log.info("unknown_surface_skipped", table=sync.code, surface=text)
                continue
            found[name] = decode_state(state)
        table = await self._room.cached(sync.code)
        # A table at which everybody sat from the beginning has shown nothing else yet.
        sync.load(found, inherited=table.game is not None and not table.log.is_newly_opened)

    async def _check_table(self, sync: TableSync) -> Table:
        """See to it that each surface comes to show the table, and that the lists say who sits there."""
        reload = sync.begin_check()
        # What another worker has written is not shown before replicas have confirmed it.
        table = await (self._room.load(sync.code, confirmed=True) if reload else self._room.cached(sync.code))
        table = await self._apply_changes(sync, table)
        sync.count_check()
        if table.phase == "over" and sync.outcome is None:
            sync.set_outcome(await self._finish(table))
        if table.error:
            sync.set_listed(None)
        elif table.phase in ("open", "playing") and not sync.is_listed(table):
            await self._room.lists.confirm(table)
            sync.set_listed(table)
        for name in sync.surfaces_to_check(table):
            await self._check_surface(sync, table, name)
        sync.lag.end_check()
        return table

    async def _apply_changes(self, sync: TableSync, table: Table) -> Table:
        """Have surfaces heed what people did with them; returns the table, which may be a later one by then."""
        while name := sync.next_changed:
            if not sync.get(name) and name not in required_surfaces(table):
                # It may have come with a commit that the table in memory lacks.
                table = await self._room.load(sync.code, confirmed=True)
            sync.apply_next_change(home_of(table, name) if sync.get(name) or name in required_surfaces(table) else None)
        return table

    async def _check_surface(self, sync: TableSync, table: Table, name: SurfaceName) -> None:
        """Begin to bring a surface up to date, if there is anything to do."""
        known = sync.get(name)
        if known and known.state is State.DONE:
            return
        home = home_of(table, name)
        if platform_of(home) not in self._adapters:
            # The host has taken this platform off; the game goes on elsewhere.
            return
        surface = sync.surface(name, home)
        if not surface.is_syncing and await self._waits_for_press(table, surface, home):
            surface.wait_for_press()
            # Boards say so.
            sync.touch()
        surface.wake()
        if surface.is_syncing:
            sync.lag.mark_behind(name)
            return
        if surface.is_out_of_reach:
            sync.lag.mark_at_rest(name)
            return
        panel = await self._tools.drawer.draw_if_free(sync, table, surface)
        if panel is None or not surface.is_up_to_date(panel):
            sync.lag.mark_behind(name)
            sync.start_surface(surface, self._run_sync(sync, surface, panel, sync.checks))
            return
        sync.lag.mark_at_rest(name)
        if is_final(table, name):
            surface.finish()

    async def _waits_for_press(self, table: Table, surface: Surface, home: str) -> bool:
        """Whether a hand is for the group, ephemeral, and its player has not yet pressed anything that allows it."""
        known = surface.known
        if not isinstance(surface.name, Hand) or known.state is not State.ABSENT:
            return False
        if known.ephemeral or surface.wants_repost or not table.game:
            return False
        if not self._adapters[platform_of(home)].has_ephemeral:
            return False
        return (await self._people.person(person_of(home))).wants_ephemeral

    async def _run_sync(self, sync: TableSync, surface: Surface, panel: Panel | None, look: int) -> None:
        try:
            await SurfaceSync(self._tools, sync, surface).run(panel, look)
            sync.lag.mark_at_rest(surface.name)
        except Exception as error:  # noqa: BLE001 - it is logged, and tried again
            sync.mark_failed()
            self._handle_error(sync, error, encode_name(surface.name))

    async def _complete(self, sync: TableSync, table: Table) -> bool:
        """Everything shows this table; whether it is removed, for no more is to come of it."""
        if table.phase in ("over", "closed"):
            await self._room.remove(table)
            if sync.outcome:
                self._on_results(table, sync.outcome, sync.results())
            return True
        self._writer.write_soon(sync, table.version)
        sync.clear_cached_panels()
        sync.reset_retries()
        return False

    def _handle_error(self, sync: TableSync, error: Exception, surface: str = "") -> None:
        """A table, or a surface of it, met an error. It stays marked as changed, and is looked at again."""
        if isinstance(error, STORE_ERRORS):
            self._room.store.outage.begin(error)
            self._retry_later(sync.code)
            return
        if sync.is_new_error(error, surface):
            about = {"surface": surface} if surface else {}
            log.error("surface_failed" if surface else "delivery_failed", table=sync.code, **about, exc_info=error)
        sync.retry_in(RETRY_AFTER, MAX_RETRY_AFTER, lambda: self.touch(sync.code, reload=True))

    def _retry_later(self, code: str) -> None:
        asyncio.get_running_loop().call_later(RETRY_AFTER, lambda: self.touch(code, reload=True))

    def _forget(self, sync: TableSync) -> None:
        if self._tables.get(sync.code) is sync:
            del self._tables[sync.code]

    def _evict(self) -> None:
        """Forget the tables that were left alone longest, where there are too many; a busy one is not left alone."""
        for _ in range(min(MAX_EVICTED, len(self._tables))):
            if len(self._tables) <= TABLES_CACHED:
                return
            oldest = next(iter(self._tables.values()))
            if oldest.is_busy:
                self._tables.move_to_end(oldest.code)
            else:
                del self._tables[oldest.code]

    def _rate_limit(self, place: str) -> RateLimit | None:
        adapter = self._adapters.get(platform_of(place))
        return adapter.rate_limit(place) if adapter else RateLimit()

    def _overall_limit(self, place: str) -> RateLimit:
        adapter = self._adapters.get(platform_of(place))
        return adapter.overall_rate_limit() if adapter else RateLimit()
