"""Delivery: draw each surface of a changed table, compare it with its message, and send or edit until both agree.

Each surface has its own task, which always sends the latest state. Changes during a wait are sent once. A crash, a rate
limit or a lost connection only costs time.

A sent message is saved at once, so only a crash in between sends it twice. An edit is saved a moment later with others.
A crash in that moment repeats the edit, which changes nothing.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress

import structlog

from bot.delivery.announcer import Announcer
from bot.delivery.answer_queue import AnswerQueue
from bot.delivery.lag import now
from bot.delivery.message_state import State, decode_state
from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Change, Surface, decode_change
from bot.delivery.surface_names import Result, SurfaceName, decode_name, encode_name
from bot.delivery.surface_sync import SurfaceSync
from bot.delivery.surfaces import home_of, is_final, required_surfaces
from bot.delivery.table_sync import TableSync
from bot.delivery.tools import DeliveryTools
from bot.panel import Panel
from bot.platform import SentMessage, platform_of
from bot.store import STORE_ERRORS, keys
from bot.table_policy import Outcome
from bot.tables.errors import NoSuchTable
from bot.tables.table import Table
from bot.tables.table_memory import Commit

RETRY_SECONDS = 2.0  # pause before a table is checked again after a store error, or after the first of other errors
MAX_RETRY_SECONDS = 300.0  # limit of that pause, which doubles for repeated errors; a change ends it
LEAVING_SECONDS = 1.5  # time limit of sends when shards move to another worker; far less than a lease
TABLES_CACHED = 25_000  # tables whose messages are kept in memory, about 3 kB each
MAX_EVICTED = 100  # tables checked for eviction at a time, so that each call is cheap

Finish = Callable[[Table], Awaitable[Outcome]]
OnResults = Callable[[Table, Outcome, Mapping[Result, SentMessage]], None]

log = structlog.get_logger()


class Delivery:
    """Delivers the tables of one worker's shards.

    ``finish`` stores a finished game. ``on_results`` gets a finished game, its outcome and its final result messages.
    """

    def __init__(self, tools: DeliveryTools, finish: Finish, on_results: OnResults) -> None:
        self._tools, self._finish, self._on_results = tools, finish, on_results
        self._room, self._shards = tools.room, tools.shards
        self._tables: OrderedDict[str, TableSync] = OrderedDict()
        self.answers = AnswerQueue(tools.limiter, tools.outages)
        self.announcer = Announcer(tools.pictures, self.answers)
        self._writer = StateWriter(tools.room.store, tools.shards.worker_id, self._retry_later)
        tools.room.watchers.append(self._handle_commit)

    # Changes and notifications

    def touch(self, code: str, *, reload: bool = False) -> None:
        """Deliver a table that might have changed. Set ``reload`` if another worker changed it."""
        if sync := self._sync_of(code):
            sync.touch(reload=reload)
            if not sync.is_running:
                sync.run(self._deliver(sync))

    def _handle_commit(self, commit: Commit) -> None:
        self.touch(commit.code, reload=not commit.is_known)
        if commit.details:
            # The details name the pressed surface. Older releases send the person instead. Then the press is not
            # recorded, which is harmless.
            with suppress(ValueError):
                name, change = commit.details
                self.apply_change(commit.code, decode_name(name), decode_change(change))

    def apply_change(self, code: str, name: SurfaceName, change: Change) -> None:
        sync, table = self._tables.get(code), self._room.cached_table(code)
        surface = sync.get(name) if sync else None
        if surface and table and change.pressed:
            home = home_of(table, name) if change.place else ""
            if surface.record_press(change, home, int(time.time())):
                return
        if sync := self._sync_of(code):
            sync.add_change(name, change)
            self.touch(code)

    def _sync_of(self, code: str) -> TableSync | None:
        """Return a table's sync, marked as recently used; None if this worker does not deliver it now."""
        if self._tools.stopping or not self._shards.owns(code):
            return None
        sync = self._tables.get(code)
        if sync is None:
            sync = self._tables[code] = TableSync(code)
        self._tables.move_to_end(code)
        return sync

    def resume_platform(self, platform: str) -> None:
        """Retry the pending work for a platform that is available again."""
        self._tools.resume_platform(platform)
        for sync in self._tables.values():
            sync.stop_waiting()

    def is_busy(self, code: str) -> bool:
        sync = self._tables.get(code)
        return sync is not None and sync.is_busy

    async def wait_until_idle(self) -> None:
        """Wait until no work is left; for tests and benchmarks."""
        while True:
            tasks = [self._writer.task, *(task for sync in self._tables.values() for task in sync.tasks)]
            busy_tasks = [task for task in tasks if task and not task.done()]
            if not busy_tasks:
                return
            self._writer.flush()
            await asyncio.wait(busy_tasks)

    async def stop(self, patience: float) -> None:
        """Finish sends within this many seconds and save them."""
        self._tools.stopping = True
        for sync in self._tables.values():
            sync.stop_waiting()
        tasks = [task for sync in self._tables.values() for task in sync.tasks] + list(self.answers.tasks)
        if tasks:
            _, unfinished_tasks = await asyncio.wait(tasks, timeout=patience)
            for task in unfinished_tasks:
                task.cancel()
        self.answers.stop()
        if self._writer.task:
            self._writer.flush()
            await asyncio.wait([self._writer.task])
        for sync in self._tables.values():
            await self._writer.write_now(sync)

    async def leave_shards(self, shards: Collection[int]) -> None:
        """Finish and save the sends of shards that move to another worker, which would send unsaved messages again."""
        syncs = [sync for code, sync in self._tables.items() if keys.shard_of(code) in shards]
        for sync in syncs:
            sync.stop_waiting()
        if tasks := [task for sync in syncs for task in sync.tasks]:
            await asyncio.wait(tasks, timeout=LEAVING_SECONDS)
        for sync in syncs:
            await self._writer.write_now(sync)

    def drop_shard(self, shard: int) -> None:
        """Stop delivering a shard that another worker has now."""
        for code in [code for code in self._tables if keys.shard_of(code) == shard]:
            self._tables.pop(code).cancel()

    @property
    def busy_tables(self) -> int:
        return sum(1 for sync in self._tables.values() if sync.is_busy)

    @property
    def lag(self) -> float:
        """The age of the oldest change not yet shown, in seconds; 0 if all are shown."""
        oldest_changes = [changed_at for sync in self._tables.values() if (changed_at := sync.lag.oldest) is not None]
        return now() - min(oldest_changes) if oldest_changes else 0.0

    # Delivering a table until it is at rest

    async def _deliver(self, sync: TableSync) -> None:
        """Deliver a table until everything is shown, a surface fails or the bot stops."""
        try:
            if await self._deliver_until_shown(sync):
                self._forget(sync)
            else:
                self._evict()
        except NoSuchTable as error:
            if sync.next_changed:
                log.info("table_vanished", table=sync.code, why=type(error).__name__)
            self._forget(sync)
        except Exception as error:  # noqa: BLE001 - it is logged, and tried again
            self._handle_error(sync, error)

    async def _deliver_until_shown(self, sync: TableSync) -> bool:
        """Deliver a table. Return whether it was removed at its end. Raise NoSuchTable if it is gone."""
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
                # Surfaces that were up to date can be outdated now.
                sync.touch()
            else:
                is_removed = await self._complete(sync, table)
                if not sync.is_behind:
                    return is_removed
        return False

    async def _load(self, sync: TableSync) -> None:
        if sync.is_loaded:
            return
        stored_states, states = await self._room.store.load_shown(sync.code), {}
        for text, state in stored_states.items():
            try:
                name = decode_name(text)
            except ValueError:
                # A later release has stored this surface.
                log.info("unknown_surface_skipped", table=sync.code, surface=text)
                continue
            states[name] = decode_state(state)
        table = await self._room.load_cached(sync.code)
        # A table whose game starts as it opens has shown nothing before.
        sync.load(states, inherited=table.game is not None and not table.log.is_newly_opened)

    async def _check_table(self, sync: TableSync) -> Table:
        """Apply queued changes, start the tasks of outdated surfaces, and update the lists of tables."""
        reload = sync.begin_check()
        # Show another worker's entries only after replicas have confirmed them.
        table = await (self._room.load(sync.code, confirmed=True) if reload else self._room.load_cached(sync.code))
        while name := sync.next_changed:
            if not sync.get(name) and name not in required_surfaces(table):
                # The change's commit can be missing from the table in memory.
                table = await self._room.load(sync.code, confirmed=True)
            sync.apply_next_change(home_of(table, name) if sync.get(name) or name in required_surfaces(table) else None)
        sync.checks += 1
        if table.phase == "over" and sync.outcome is None:
            sync.outcome = await self._finish(table)
        if table.error:
            sync.set_listed(None)
        elif table.is_unfinished and not sync.is_listed(table):
            await self._room.lists.restore_entries(table)
            sync.set_listed(table)
        for name in sync.surfaces_to_check(table):
            await self._check_surface(sync, table, name)
        sync.lag.end_check()
        return table

    async def _check_surface(self, sync: TableSync, table: Table, name: SurfaceName) -> None:
        """Start a surface's task if there is anything to do."""
        known = sync.get(name)
        if known and known.state is State.DONE:
            return
        home = home_of(table, name)
        if platform_of(home) not in self._tools.adapters:
            # The host removed this platform. The game continues on the others.
            return
        surface = sync.surface(name, home)
        if not surface.is_syncing and await self._tools.drawer.needs_press(table, surface):
            surface.wait_for_press()
            # Boards show which player must press.
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

    async def _run_sync(self, sync: TableSync, surface: Surface, panel: Panel | None, check: int) -> None:
        try:
            await SurfaceSync(self._tools, self._writer, sync, surface).run(panel, check)
            sync.lag.mark_at_rest(surface.name)
        except Exception as error:  # noqa: BLE001 - it is logged, and tried again
            sync.has_failed = True
            self._handle_error(sync, error, encode_name(surface.name))

    async def _complete(self, sync: TableSync, table: Table) -> bool:
        """Finish a table after all its surfaces are shown. Return whether it was removed."""
        if table.phase in ("over", "closed"):
            await self._tools.topics.close(table)
            await self._room.remove(table)
            if sync.outcome:
                self._on_results(table, sync.outcome, sync.results(table))
            return True
        self._writer.write_soon(sync, table.version)
        sync.clear_cached_panels()
        sync.reset_retries()
        return False

    def _handle_error(self, sync: TableSync, error: Exception, surface: str = "") -> None:
        """Handle an error of a table or surface. The table stays marked as changed and is checked again."""
        if isinstance(error, STORE_ERRORS):
            self._room.store.outage.begin(error)
            self._retry_later(sync.code)
            return
        if sync.is_new_error(error, surface):
            fields = {"surface": surface} if surface else {}
            log.error("surface_failed" if surface else "delivery_failed", table=sync.code, **fields, exc_info=error)
        sync.retry_in(RETRY_SECONDS, MAX_RETRY_SECONDS, lambda: self.touch(sync.code, reload=True))

    def _retry_later(self, code: str) -> None:
        asyncio.get_running_loop().call_later(RETRY_SECONDS, lambda: self.touch(code, reload=True))

    def _forget(self, sync: TableSync) -> None:
        if self._tables.get(sync.code) is sync:
            del self._tables[sync.code]

    def _evict(self) -> None:
        """Drop the least recently used tables from memory if there are too many, except busy ones."""
        for _ in range(min(MAX_EVICTED, len(self._tables))):
            if len(self._tables) <= TABLES_CACHED:
                return
            oldest = next(iter(self._tables.values()))
            if oldest.is_busy:
                self._tables.move_to_end(oldest.code)
            else:
                del self._tables[oldest.code]
