"""The reconciler: for every table that changed, draw each surface, compare with what stands there, send or edit until
chat and table agree.

Each surface is brought up to date by one task of its own, which always sends the latest state: what changes while a
chat's pace holds it back is sent once. A crash, a platform's wait or a lost connection cost time and nothing else.

What is known of surfaces is written down at once after a send, so that a crash can double a message only in between,
and for edits when the table has come to rest: an edit made twice changes nothing.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

import structlog

from bot.delivery.answers import Answers
from bot.delivery.bringing import Bringer
from bot.delivery.drawing import Outcome
from bot.delivery.lowest import LowestHands
from bot.delivery.notes import Notes
from bot.delivery.pace import Pacer
from bot.delivery.post import Post
from bot.delivery.shards import Shards
from bot.delivery.surfaces import Change, Surface, home_of, is_final, is_taken, seat_of, tag_of, wanted
from bot.outages import Outages
from bot.people import People
from bot.platform import (
    Adapter,
    Pace,
    is_aside,
    is_same_place,
    person_of,
    platform_of,
)
from bot.store import STORE_FAULTS, Store, keys
from bot.tables.faults import NoSuchTable
from bot.tables.room import Room
from bot.tables.table import Table

RING_AFTER = 45
"""Seconds that a person has left a panel alone after which their turn comes as a new message: then the phone rings."""

AGAIN_AFTER = 2.0
"""Seconds before a table is looked at again whose delivery met a fault of the store's, or of ours."""

POSTS_REMEMBERED = 25_000
"""Tables of which it is kept in memory what is shown, at some 3 kB each."""

MOST_EVICTED = 100
"""Tables at which one look is had for some to forget: it should cost little."""

log = structlog.get_logger()

Finish = Callable[[Table], Awaitable[Outcome]]


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
        self.room, self.shards, self.people, self.adapters = room, shards, people, adapters
        self.store: Store = room.store
        self._finish = finish
        self._posts: OrderedDict[str, Post] = OrderedDict()
        self._notes = Notes(self.store, shards.worker, self._touch_later)
        pacer = Pacer(self._pace, self._overall)
        self.answers = Answers(pacer, outages)
        self.lowest = LowestHands()
        self._bringer = Bringer(room, shards, people, adapters, pacer, self._notes, outages, self.lowest, ring_after)

    # What others tell

    def touch(self, code: str, *, reload: bool = False) -> None:
        """A table may have changed. ``reload`` when another worker changed it."""
        if self._bringer.stopping or not self.shards.owns(code):
            return
        post = self._posts.get(code)
        if post is None:
            post = self._posts[code] = Post(code)
        self._posts.move_to_end(code)
        if not post.is_busy:
            post.since = time.monotonic()
        post.dirty, post.stale = True, post.stale or reload
        if not post.is_pumped:
            post.pump = asyncio.create_task(self._pump(post))

    async def change(self, code: str, name: str, change: Change) -> None:
        """Somebody did something with a surface of a table."""
        if await self._only_pressed(code, name, change):
            return
        pressed, draft, front, place, genuine = change
        self.touch(code)
        post = self._posts.get(code)
        if post is None:
            # The bot stops, or the shard was lost a moment ago.
            return
        if post.pump and not post.loaded:
            await asyncio.wait([post.pump])
        # A surface that is new has come with a commit which the table in memory may not have.
        table = await (self.room.known(code) if name in post.surfaces else self.room.load(code))
        if name not in post.surfaces and name not in wanted(table):
            return
        # From here on without a pause, for a message may be under way.
        home = home_of(table, name)
        surface = post.surfaces.get(name) or self._surface(post, name, home)
        here = front or ((pressed or place) and surface.status in ("unreachable", "dropped"))
        if pressed and not genuine and not surface.has_shown(pressed, home, place):
            # The press was made up, or the platform no longer knows the message: it may be any message at all.
            pressed = place = ""
        if place:
            surface = surface.moved(home, place, pressed)
        if pressed and surface.status == "done":
            # What will not change any more has no buttons: this is a message that a crash doubled.
            surface = surface._replace(status="", message=pressed, digest="")
        stale = surface.stale
        if pressed and pressed not in (surface.message, *stale) and surface.message:
            # A message that a crash doubled, or an older one that could not be taken away then.
            stale = (*stale, pressed)
        post.surfaces[name] = surface._replace(
            at=int(time.time()) if pressed else surface.at,
            draft=surface.draft if draft is None else draft,
            status="" if here else surface.status,
            stale=stale,
        )
        if front:
            post.fronts.add(name)
        self.touch(code)

    async def _only_pressed(self, code: str, name: str, change: Change) -> bool:
        """Note a press on the message that stands where it should: what it does to the table is told by the room, and
        nothing else is to be drawn. False for everything else.
        """
        post = self._posts.get(code)
        if post is None or not post.loaded or change.draft is not None or change.front or not change.pressed:
            return False
        home = home_of(await self.room.known(code), name) if change.place else ""
        surface = post.surfaces.get(name)
        if surface is None or surface.status or surface.message != change.pressed:
            return False
        if change.place and not is_same_place(surface.aside or home, change.place):
            return False
        aside = change.place if is_aside(change.place) else surface.aside
        post.surfaces[name] = surface.looked_at(int(time.time()), aside)
        return True

    def platform_back(self, platform: str) -> None:
        """A platform was away and is there again: what waits for it is tried now."""
        self._bringer.platform_back(platform)
        for post in self._posts.values():
            for waits in post.doubts.values():
                waits.set()

    def is_busy(self, code: str) -> bool:
        """Whether a table is being delivered just now."""
        post = self._posts.get(code)
        return post is not None and post.is_busy

    async def settled(self) -> None:
        """Wait until nothing is under way; for tests and benches."""
        while True:
            tasks = [self._notes.task, *(t for post in self._posts.values() for t in (post.pump, *post.tasks.values()))]
            busy = [task for task in tasks if task and not task.done()]
            if not busy:
                return
            self._notes.hurry()
            await asyncio.wait(busy)

    async def stop(self, patience: float) -> None:
        """Finish what is being sent, for so many seconds, and note it."""
        self._bringer.stopping = True
        for post in self._posts.values():
            for looked_over in post.doubts.values():
                looked_over.set()
        tasks = [task for post in self._posts.values() for task in (*post.tasks.values(), post.pump) if task]
        tasks += self.answers.tasks
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=patience)
            for task in late:
                task.cancel()
        self.answers.stop()
        if self._notes.task:
            self._notes.hurry()
            await asyncio.wait([self._notes.task])
        for post in self._posts.values():
            await self._notes.now(post)

    def drop_shard(self, shard: int) -> None:
        """Another worker delivers this shard from now on."""
        for code in [code for code in self._posts if keys.shard_of(code) == shard]:
            post = self._posts.pop(code)
            for task in (post.pump, *post.tasks.values()):
                if task:
                    task.cancel()

    @property
    def busy(self) -> int:
        """Tables with a message under way."""
        return sum(1 for post in self._posts.values() if post.is_busy)

    @property
    def lag(self) -> float:
        """How long the table that has waited longest has been behind, in seconds."""
        now = time.monotonic()
        return max((now - post.since for post in self._posts.values() if post.is_busy), default=0.0)

    # Bringing a table to rest

    async def _pump(self, post: Post) -> None:
        try:
            if not post.loaded:
                stored = await self.store.shown(post.code)
                post.surfaces = {name: Surface.of(text) for name, text in stored.items()}
                post.noted, post.loaded = dict(post.surfaces), True
                post.inherited = (await self.room.known(post.code)).game is not None
            while post.dirty and not self._bringer.stopping:
                post.dirty = False
                await self._look_over(post)
        except NoSuchTable:
            self._forget(post)
        except STORE_FAULTS as error:
            # The table stays marked as changed.
            self.store.outage.begin(error)
            self._touch_later(post.code)
        except Exception:
            log.exception("delivery_failed", table=post.code)
            self._touch_later(post.code)

    async def _look_over(self, post: Post) -> None:
        # What another worker has written is not shown before replicas have confirmed it.
        table = await (self.room.load(post.code, confirmed=True) if post.stale else self.room.known(post.code))
        post.stale, post.failed, post.looked_at, post.looks = False, False, table.version, post.looks + 1
        if table.phase == "over" and post.outcome is None:
            post.outcome = await self._finish(table)
        who = (table.chairs, tuple(table.asking.values()), table.hosts)
        if table.fault:
            post.listed = None
        elif post.listed != who and table.phase in ("open", "playing"):
            await self.room.lists.confirm(table)
            post.listed = who
        for name in dict.fromkeys([*wanted(table), *(name for name in post.surfaces if is_taken(table, name))]):
            known = post.surfaces.get(name)
            if known and known.status == "done":
                continue
            home = home_of(table, name)
            if platform_of(home) not in self.adapters:
                # The host has taken this platform off; the game goes on elsewhere.
                continue
            surface = self._surface(post, name, home)
            if await self._waits_for_press(post, table, name, home):
                surface = post.surfaces[name] = surface._replace(status="unreachable")
                post.dirty = True
            under_way = post.tasks.get(name)
            if name in post.doubts:
                post.doubts[name].set()
            # A task that is done may have looked its last before what brought us here.
            if (under_way and not under_way.done()) or surface.status in ("dropped", "unreachable"):
                continue
            panel = await self._bringer.draw_if_free(post, table, name)
            if panel is None or panel.digest != surface.digest or name in post.fronts or surface.stale:
                task = post.tasks[name] = asyncio.create_task(self._bringer.bring(post, name, panel, post.looks))
                task.add_done_callback(partial(self._brought, post, name))
            elif is_final(table, name):
                post.surfaces[name] = surface.finished()
        if self._is_at_rest(post):
            await self._settle(post, table)

    @staticmethod
    def _surface(post: Post, name: str, home: str) -> Surface:
        """What is known of a surface; nothing, if somebody else sits there by now, or the chat is another one."""
        whom = tag_of(home)
        surface = post.surfaces.get(name)
        if surface is None or surface.whom != whom:
            surface = post.surfaces[name] = Surface(whom=whom)
        return surface

    async def _waits_for_press(self, post: Post, table: Table, name: str, home: str) -> bool:
        """Whether a hand is for the group, aside, and its player has not yet pressed anything that allows it."""
        surface = post.surfaces[name]
        if seat_of(name) is None or surface.message or surface.aside or surface.status or name in post.fronts:
            return False
        if not table.game or not self.adapters[platform_of(home)].has_asides:
            return False
        return (await self.people.person(person_of(home))).hands == "aside"

    def _brought(self, post: Post, name: str, task: asyncio.Task[None]) -> None:
        is_last = post.tasks.get(name) is task
        if is_last:
            del post.tasks[name]
        if task.cancelled():
            return
        if error := task.exception():
            if isinstance(error, STORE_FAULTS):
                self.store.outage.begin(error)
            else:
                log.error("surface_failed", table=post.code, surface=name, exc_info=error)
            post.failed = True
            self._touch_later(post.code)
        elif post.dirty:
            self.touch(post.code)
        elif not post.is_pumped and self._is_at_rest(post):
            # The others were up to date when the table was looked over.
            if self.room.is_playing_at(post.code, post.looked_at):
                self._all_shown(post, post.looked_at)
            else:
                self.touch(post.code)

    def _is_at_rest(self, post: Post) -> bool:
        """Whether all that was found to do is done: nothing is under way, broken off or to be tried again."""
        return not (post.tasks or post.dirty or post.failed or self._bringer.stopping)

    async def _settle(self, post: Post, table: Table) -> None:
        """Everything shows the table at this version."""
        if table.phase in ("over", "closed"):
            await self.room.remove(table)
            self._forget(post)
            return
        self._all_shown(post, table.version)

    def _all_shown(self, post: Post, version: int) -> None:
        self._notes.soon(post, version)
        # Hands change with the next press; boards do not always.
        post.drawn = {name: drawn for name, drawn in post.drawn.items() if name[0] == "d"}
        self._evict()

    def _evict(self) -> None:
        """Forget the tables that were left alone longest, where there are too many; a busy one is not left alone."""
        for _ in range(min(MOST_EVICTED, len(self._posts))):
            if len(self._posts) <= POSTS_REMEMBERED:
                return
            oldest = next(iter(self._posts.values()))
            if oldest.is_busy:
                self._posts.move_to_end(oldest.code)
            else:
                del self._posts[oldest.code]

    def _touch_later(self, code: str) -> None:
        asyncio.get_running_loop().call_later(AGAIN_AFTER, lambda: self.touch(code, reload=True))

    def _forget(self, post: Post) -> None:
        if self._posts.get(post.code) is post:
            del self._posts[post.code]

    def _pace(self, place: str) -> Pace | None:
        adapter = self.adapters.get(platform_of(place))
        return adapter.pace(place) if adapter else Pace()

    def _overall(self, place: str) -> Pace:
        adapter = self.adapters.get(platform_of(place))
        return adapter.overall() if adapter else Pace()
