"""A worker: everything that one process of the bot has, put together."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import partial
from importlib.util import find_spec
from typing import Any

import structlog

from bot.analysis_pool import AnalysisPool
from bot.background import Loop, Loops, TaskSet
from bot.cluster.clock import HostClock
from bot.cluster.shards import Shards
from bot.delivery.delivery import RING_AFTER, Delivery
from bot.delivery.names import SurfaceName, decode_name, encode_name
from bot.delivery.surface import Change, decode_change, encode_change
from bot.delivery.table_sync import Outcome
from bot.features.analysis.completion import Completion
from bot.features.daily.analyses import DayAnalyses
from bot.features.daily.days import Days
from bot.features.daily.loop import Reminders
from bot.features.find.finder import Finder
from bot.features.find.teller import Teller
from bot.features.privacy.forgetting import Forgetter
from bot.features.privacy.rewriting import Rewriter
from bot.features.privacy.unused import Unused
from bot.features.puzzles.groups import GroupPuzzles
from bot.features.ratings.honours import Honours
from bot.features.tournaments.director import Director
from bot.finished.archive import Archive
from bot.finished.rating_rules import why_unrated
from bot.finished.ratings import Ratings
from bot.metrics import GAMES, LAG, PLATFORM_UP, TABLES, UNSETTLED
from bot.outages import Outages
from bot.people import People
from bot.pictures.pool import PicturePool
from bot.platform import Adapter
from bot.robot_pool import RobotPool
from bot.scheduler import Scheduler
from bot.settings import Settings
from bot.stalls import watch_for_stalls
from bot.store import STORE_ERRORS, Store, keys
from bot.store.committed import Committed
from bot.store.durability import watch as watch_durability
from bot.store.retries import RetryQueue
from bot.tables.challenges import Challenges
from bot.tables.errors import NoSuchTable, SetAside
from bot.tables.room import ROBOT_PAUSE, Room
from bot.tables.table import Table
from bot.viewers import Viewers
from bot.watching import Watching

TROUBLE_SECONDS = 300.0
"""For how long after a failure, or our own start, nobody is blamed for not having answered."""

SWEEP_SECONDS = 5.0
"""How often the store is asked for tables that changed unheard: by a worker that died before it could tell."""

DAYS_SECONDS = 30.0
"""How often the leader checks whether a day or a month is over."""

FIRST_PATIENCE = 0.05
"""Seconds that a loop gets to end before it is told again, at first."""

PATIENCE = 1.5
"""Seconds that messages under way get when the bot stops."""

log = structlog.get_logger()


class Worker:
    """One worker, without the handlers of what people ask for (`bot.handlers`)."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        alone: bool = True,
        robot_pause: float = ROBOT_PAUSE,
        ring_after: float = RING_AFTER,
    ) -> None:
        self.store, self.settings = store, settings
        self.room = Room(store, robot_pause=robot_pause)
        self.challenges = Challenges(self.room)
        self.people = People(store.client)
        self.archive = Archive(store.client)
        self.ratings = Ratings(store.client, self.archive)
        self.robot_pool = RobotPool()
        self.picture_pool = PicturePool()
        self.analysis_pool = AnalysisPool(store.client, self.robot_pool)
        self.adapters: dict[str, Adapter] = {}
        self._started_at = time.monotonic()
        self.errors: dict[str, str] = {}
        """Why a platform is down, in a few words, as far as its supervisor knows."""
        self.shards = Shards(store, alone=alone, zone=settings.time_zone)
        self.clock = HostClock(store.attendance, settings.time_zone)
        self.outages = Outages(self._is_healthy, self._platform_back)
        self.watching = Watching(self.room, self.people, self.shards)
        self.on_heard: list[Callable[[str], None]] = [self.watching.look_at]
        """Called with the code of a table that this worker delivers, and to which another has committed something."""
        self.delivery = Delivery(
            self.room,
            self.shards,
            self.people,
            self.adapters,
            self.picture_pool,
            self.outages,
            self._finish,
            self.watching,
            ring_after,
        )
        self.completion = Completion(
            self.archive,
            self.analysis_pool,
            Viewers(self.people, self.adapters),
            self.picture_pool,
            self.adapters,
            self.delivery.answers,
        )
        if self.looks_at_games:
            self.delivery.on_results = self.completion.shown
        self.scheduler = Scheduler(self.room, self.shards, self.robot_pool)
        self._loops, self.retries = Loops(), RetryQueue(store.outage)
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
        self.finder = Finder(
            self.room,
            self.people,
            self.ratings,
            self.challenges,
            self.shards,
            self.adapters,
            self.delivery.answers,
        )
        self.finder.is_in_trouble = self._is_in_trouble
        self.days = Days(self.room, self.challenges, self.archive, self.robot_pool, self.clock)
        self.room.before_removal = self.finder.before_removal
        self.teller = Teller(store, self.shards, self.people, self.adapters, settings.reports_to)
        self.reminders = Reminders(store, self.shards, self.clock, self.people, self.adapters, self.days)
        self.honours = Honours(store.client, self.archive, self.ratings)
        self.puzzles = GroupPuzzles(store, self.shards, self.clock, self.people, self.adapters, self.delivery.announcer)
        self.director = Director(
            self.room,
            self.challenges,
            self.archive,
            self.ratings,
            self.shards,
            self.people,
            self.adapters,
            self.delivery.answers,
            self.delivery.announcer,
        )
        self.forgetter = Forgetter(
            self.room, self.people, self.archive, self.ratings, self.finder.queue, self._tell_to_forget
        )
        self.shards.on_lowest = self.delivery.lowest.note
        if not alone:
            self.people.on_change = self._tell_to_forget
            self.delivery.lowest.on_sent = self._tell_lowest

    @property
    def looks_at_games(self) -> bool:
        """Whether games are analysed though nobody asks for it. In plain Python it takes many times as long."""
        return self.settings.analyse_results and find_spec("numba") is not None

    def add(self, adapter: Adapter) -> None:
        self.adapters[adapter.platform] = adapter

    async def start(self) -> None:
        """Take shards and begin to deliver. StoreAway where other workers' days end in another time zone.

        First of all it is said that the worker is alive, if it was not before: nobody may take the store for one that
        no worker uses.
        """
        await self.shards.join()
        await self.shards.share_out()
        loops: dict[str, Loop] = {
            "ratings": self._catch_up,
            "leases": self.shards.keep,
            "notifications": self.shards.listen,
            "clocks": self.scheduler.run,
            "sweep": self._sweep,
            "forgetting": self.forgetter.run,
            "rewriting": Rewriter(self.store, self.shards).run,
            "finding": self.finder.run,
            "reports": self.teller.run,
            # Each in a loop of its own, so that neither holds up the other.
            "days": partial(self.shards.while_leader, DAYS_SECONDS, self.days.close_past),
            "months": partial(self.shards.while_leader, DAYS_SECONDS, self._close_past_months),
            "reminders": self.reminders.run,
            "puzzles": self.puzzles.run,
            "tournaments": self.director.run,
            "store risks": partial(watch_durability, self.store.client, self.store.outage),
            "store memory": self.store.memory.watch,
            "stalls": watch_for_stalls,
        }
        if self.looks_at_games:
            analyses = DayAnalyses(self.shards, self.days, self.archive, self.analysis_pool)
            loops["day analyses"] = analyses.run
        if days := self.settings.forget_after_days:
            loops["unused"] = Unused(self.store, self.people, self.forgetter, days).run
        self._tasks = [self._loops.start(name, loop) for name, loop in loops.items()]

    async def settled(self) -> None:
        """Wait until nothing is under way, a look through shards just taken among it; for tests and benchmarks."""
        while True:
            await self._told.wait()
            await self.delivery.settled()
            if not len(self._told):
                return

    async def stop(self) -> None:
        """Finish what is under way, note it, and give the shards back."""
        patience = FIRST_PATIENCE
        while running := [task for task in self._tasks if not task.done()]:
            # More than once: on Python 3.11 libraries are known to lose a cancellation that meets a result.
            for task in running:
                task.cancel()
            await asyncio.wait(running, timeout=patience)
            patience *= 2
        self.outages.stop()
        await self.retries.stop()
        self.completion.stop()
        self.days.stop()
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

    # What the handlers ask for

    async def tables_of(self, person: str) -> list[Table]:
        """The live tables where a person sits or asks for a chair."""
        return await self.room.lists.tables_of(person)

    async def tables_at(self, chat: str) -> list[Table]:
        """The tables that a chat shows."""
        return await self.room.lists.tables_at(chat)

    async def change(self, code: str, name: SurfaceName, change: Change) -> None:
        """Something was done with a surface, whichever worker delivers it."""
        if self.shards.owns(code):
            self.delivery.change(code, name, change)
        else:
            await self.shards.notify({"code": code, "name": encode_name(name), "change": encode_change(change)})

    async def touch(self, code: str) -> None:
        """A table's panels may have changed though the table has not."""
        if self.shards.owns(code):
            self.delivery.touch(code)
        else:
            await self.shards.notify({"code": code})

    async def healthy(self) -> dict[str, Any]:
        """How the worker does: store, platforms, delivery's lag in seconds.

        It does well once it has started, while the store answers, its loops run and any of its platforms can be spoken
        to: where one is away, starting anew brings nothing back, and stops the games on the others.
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
            "adapters": {name: self._state_of(adapter) for name, adapter in self.adapters.items()},
            "delivery_lag_seconds": round(self.delivery.lag, 3),
        }

    def _state_of(self, adapter: Adapter) -> str:
        platform = adapter.platform
        if adapter.healthy and not self.outages.is_failing(platform):
            return "up"
        return f"down: {self.errors.get(platform) or self.outages.why(platform) or 'not connected'}"

    def _is_healthy(self, platform: str) -> bool:
        adapter = self.adapters.get(platform)
        return adapter is not None and adapter.healthy

    def _is_in_trouble(self, platform: str) -> bool:
        """Whether people of a platform may have been cut off from us a moment ago, and are to blame for nothing."""
        has_just_started = time.monotonic() - self._started_at < TROUBLE_SECONDS
        return has_just_started or not self._is_healthy(platform) or self.outages.has_failed(platform, TROUBLE_SECONDS)

    def _platform_back(self, platform: str) -> None:
        self.delivery.platform_back(platform)

    def measure(self) -> None:
        """Bring up to date what is measured rather than counted, for who reads the metrics."""
        LAG.set(self.delivery.lag)
        UNSETTLED.set(self.delivery.busy)
        phases = self.room.by_phase()
        for phase in ("open", "playing"):
            TABLES.labels(phase).set(phases[phase])
        for name, adapter in self.adapters.items():
            PLATFORM_UP.labels(name).set(self._state_of(adapter) == "up")

    # What happens in the worker

    def _heard(self, told: Committed) -> None:
        """Another worker has committed something to a table that this one delivers."""
        # What replicas are yet to confirm may be lost: then it is loaded, once they have.
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

    async def _tell_to_forget(self, key: str) -> None:
        await self.shards.notify({"forget": key, "by": self.shards.worker_id})

    def _notified(self, word: dict[str, Any]) -> None:
        code = word["code"]
        self.delivery.touch(code, reload=True)
        if "name" in word:
            self.delivery.change(code, decode_name(word["name"]), decode_change(word["change"]))

    def _look_through(self, shard: int) -> None:
        # Where the store is away, the sweep finds them.
        self._spawn(self._take_over(shard), f"shard {shard}")

    async def _sweep(self) -> None:
        """Look again at tables that stay marked as changed at the same version: whoever should have told is gone."""
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
        """Look at what has changed in a shard, and whether this version can read what another could not."""
        for code in await self.store.all_changed([shard]):
            self.delivery.touch(code, reload=True)
        for code in await self.store.all_set_aside([shard]):
            await self._look_again(code)

    async def _set_aside(self, table: Table) -> None:
        """A table cannot be read: its owner sets it aside, once. Another worker may be of another release."""
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
        """Rate what is left unrated, once: after a rebuild that was cut short that may be every game."""
        while True:
            with self.store.outage.noted():
                await self.ratings.catch_up()
                return
            await self.store.outage.over()

    async def _finish(self, table: Table) -> Outcome:
        """Keep a finished game and rate it; doing so twice changes nothing."""
        assert table.game
        if table.day:
            return await self._finish_day(table, table.day)
        if table.is_duplicate:
            return await self._finish_duplicate(table)
        game = await self.archive.add(table, time.time())
        # Its table goes when this returns, and that may lie on another node than the game.
        await self.store.confirm(keys.game(game.id), keys.GAMES_ORDER)
        await self.ratings.catch_up()
        await self.finder.game_over(table)
        if table.fixture:
            await self.director.finished(table, game)
        GAMES.labels(table.game_id, table.game.ending or "").inc()
        names = {chair.person: chair.name for chair in table.chairs if chair}
        changes = await self.ratings.changes(game.id)
        shown = [(names.get(one.person, "?"), one.before, one.after) for one in changes]
        return Outcome(game.id, shown, game.ended, unrated=why_unrated(game, changes))

    async def _finish_day(self, table: Table, day: date) -> Outcome:
        """Keep what came of the deal of a day: it is not rated, and not to be read by others before the day is over."""
        game = await self.archive.finished(table, time.time())
        counts = await self.days.finish(game, day)
        await self.store.confirm(keys.daily_results(day))
        GAMES.labels(table.game_id, "day").inc()
        return Outcome(game.id, (), game.ended, par=await self.days.results.par(day), is_late=not counts)

    async def _finish_duplicate(self, table: Table) -> Outcome:
        """Keep what came of a duplicate's deal: it is not rated, and read by nobody before all have played it."""
        assert table.fixture
        game = await self.archive.finished(table, time.time())
        await self.director.finished(table, game)
        await self.store.confirm(keys.tournament_games(table.fixture.tournament))
        GAMES.labels(table.game_id, "duplicate").inc()
        return Outcome(game.id, (), game.ended)

    async def _close_past_months(self) -> None:
        """Have months that are over remembered. The store's clock counts: this worker's may be wrong."""
        await self.honours.close_past(datetime.fromtimestamp(await self.store.attendance.now(), UTC))
