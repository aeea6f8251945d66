"""Bringing one surface up to date: draw it, compare with what stands there, and send, edit or take away, one message at
a time, until nothing is left to do.
"""

import asyncio
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal, NamedTuple

import structlog

from bot.delivery.drawing import NOBODY_AWAY, Viewer, calls, draw
from bot.delivery.lowest import LowestHands
from bot.delivery.notes import Notes
from bot.delivery.pace import Pacer
from bot.delivery.post import Post
from bot.delivery.shards import Shards
from bot.delivery.surfaces import Surface, place_of, seat_of
from bot.metrics import messages
from bot.outages import Outages
from bot.panel import Panel
from bot.people import People
from bot.platform import (
    Adapter,
    ChatGone,
    DeliveryFault,
    MessageGone,
    NotDone,
    Refused,
    SlowDown,
    TooLong,
    Trouble,
    Unreachable,
    is_aside,
    is_private,
    is_same_place,
    person_of,
    platform_of,
)
from bot.tables.room import Room
from bot.tables.table import Table

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""Seconds before a failed send is tried again: doubled each time, up to the longest."""

DOUBT = 4
"""How many times longer each pause is than the one before, without end, where a message is sent again that may have
arrived: a platform whose answers are all lost would otherwise fill a chat with one message.
"""

NOTHING_DRAWN = Panel(())

UNKNOWN = ""
"""The digest of a message of which it is not known what it shows."""

log = structlog.get_logger()


class Todo(NamedTuple):
    """What is to be done with a surface, with what it should show and how loudly that calls (`drawing.calls`)."""

    what: Literal["take away", "anew", "send", "edit"]
    panel: Panel
    calls: int


class Bringer:
    """Brings surfaces up to date, each by a task of its own; ``stopping`` ends them at their next step."""

    def __init__(
        self,
        room: Room,
        shards: Shards,
        people: People,
        adapters: Mapping[str, Adapter],
        pacer: Pacer,
        notes: Notes,
        outages: Outages,
        lowest: LowestHands,
        ring_after: float,
    ) -> None:
        self._room, self._shards, self._people, self._adapters = room, shards, people, adapters
        self._pacer, self._notes, self._ring_after = pacer, notes, ring_after
        self._outages, self._lowest = outages, lowest
        self._back: dict[str, asyncio.Event] = {}
        self.stopping = False

    def platform_back(self, platform: str) -> None:
        """A platform was away and is there again: whatever waits for that is tried now."""
        self._back.pop(platform, asyncio.Event()).set()

    async def draw(self, post: Post, table: Table, name: str) -> Panel:
        """What a surface should show."""
        panel = await self._drawn(post, table, name)
        assert panel
        return panel

    async def draw_if_free(self, post: Post, table: Table, name: str) -> Panel | None:
        """What a surface should show; None if that is not drawn yet and its place is held back for now: until it is
        free there will be something else to be drawn.
        """
        return await self._drawn(post, table, name, only_if_free=True)

    async def _drawn(self, post: Post, table: Table, name: str, *, only_if_free: bool = False) -> Panel | None:
        surface = post.surfaces[name]
        place = place_of(table, name, surface)
        viewer = await self._viewer(place)
        away = post.away(table, await self._called(table)) if name[0] == "d" else NOBODY_AWAY
        version = table.told_at if name[0] == "d" else table.version
        key = (version, surface.draft, viewer, away, post.outcome)
        known = post.drawn.get(name)
        if known and known[0] == key:
            return known[1]
        if only_if_free and not self._pacer.is_free(place):
            return None
        panel = draw(table, name, surface, viewer, away, post.outcome)
        post.drawn[name] = (key, panel)
        return panel

    async def _called(self, table: Table) -> tuple[str, str] | None:
        """Who is to move, if they want to be called for it in the group."""
        chair = table.chairs[table.game.turn] if table.game and table.game.turn is not None else None
        if chair is None or chair.is_robot or table.phase != "playing":
            return None
        return (chair.person, chair.name) if (await self._people.person(chair.person)).wants_calls else None

    async def _viewer(self, place: str) -> Viewer:
        if is_private(place):
            profile = await self._people.person(person_of(place))
            return Viewer(profile.language, profile.suits)
        return Viewer((await self._people.chat(place)).language)

    async def bring(self, post: Post, name: str, panel: Panel | None, looked: int) -> None:
        """Send or edit until the surface shows what it should: ``panel``, if drawn, as of that look over the table."""
        pause, longest = FIRST_PAUSE, 0
        while not self.stopping:
            place = place_of(await self._room.known(post.code), name, post.surfaces[name])
            adapter = self._adapters[platform_of(place)]
            todo: Todo | None = None
            try:
                if panel is None or looked != post.looks or post.dirty:
                    panel = None
                    await self._pacer.free(place)
                    # It may have been moved meanwhile.
                    place = place_of(await self._room.known(post.code), name, post.surfaces[name])
                looks = post.looks
                todo = await self._todo(post, name, place, panel)
                panel = None
                if todo and await self._wait(post, place):
                    # That took a while, and something else may be to be done by now.
                    todo = await self._todo(post, name, place)
                if todo is None:
                    return
                with self._outages.call(adapter.platform):
                    await self._do(post, name, adapter, place, todo, longest)
                pause = FIRST_PAUSE
                if self._stands(post, name, todo, looks):
                    return
            except SlowDown as fault:
                messages(adapter.platform, "slow_down").inc()
                self._pacer.block(place, fault.seconds)
            except MessageGone:
                messages(adapter.platform, "gone").inc()
                post.surfaces[name] = post.surfaces[name]._replace(message="", digest="")
            except TooLong as fault:
                messages(adapter.platform, "too_long").inc()
                if longest:
                    raise
                longest = fault.longest
            except (Unreachable, ChatGone) as fault:
                self._give_up(post, name, place, fault)
                return
            except Trouble as fault:
                messages(adapter.platform, "trouble").inc()
                if isinstance(fault, Refused) and pause == FIRST_PAUSE:
                    log.warning("message_refused", table=post.code, surface=name, why=str(fault))
                log.debug("send_failed", table=post.code, surface=name, again_in=pause, why=str(fault))
                wait = pause * random.uniform(0.8, 1.2)
                if todo and todo.what in ("send", "anew") and not isinstance(fault, NotDone):
                    await self._in_doubt(post, name, place, todo.panel.digest, wait)
                    pause *= DOUBT
                else:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(wait):
                            await self._back_of(adapter.platform).wait()
                    pause = min(2 * pause, LONGEST_PAUSE)

    def _back_of(self, platform: str) -> asyncio.Event:
        """What is set when a platform was away and is there again."""
        return self._back.setdefault(platform, asyncio.Event())

    async def _in_doubt(self, post: Post, name: str, place: str, digest: str, seconds: float) -> None:
        """Wait before a message is sent again that may have arrived, or until there is another one to be sent."""
        loop = asyncio.get_running_loop()
        until, back = loop.time() + seconds, self._back_of(platform_of(place))
        while loop.time() < until and not self.stopping and not back.is_set():
            looked_over = post.doubts[name] = asyncio.Event()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await looked_over.wait()
            table = await self._room.known(post.code)
            if name in post.fronts or place_of(table, name, post.surfaces[name]) != place:
                break
            if (await self.draw(post, table, name)).digest != digest:
                break
        post.doubts.pop(name, None)

    async def _wait(self, post: Post, place: str) -> bool:
        """Return when a message may go there, and the table is this worker's for certain; whether that took time."""
        paced = await self._pacer.turn(place)
        return await self._shards.hold(post.code) or paced

    @staticmethod
    def _stands(post: Post, name: str, done: Todo, looks: int) -> bool:
        """Whether what was sent is what should stand there still, for nothing was touched since: then it need not be
        drawn again to see.
        """
        surface = post.surfaces[name]
        return surface.digest == done.panel.digest and not surface.stale and not post.dirty and post.looks == looks

    async def _todo(self, post: Post, name: str, place: str, panel: Panel | None = None) -> Todo | None:
        """What is to be done next with a surface; None when it shows what it should. ``panel`` if that is drawn."""
        table = await self._room.known(post.code)
        surface = post.surfaces[name]
        if surface.stale and surface.message:
            return Todo("take away", NOTHING_DRAWN, 0)
        panel = panel or await self.draw(post, table, name)
        surface = post.surfaces[name]
        calling = calls(table, seat_of(name))
        if name[0] == "d" and table.game and table.game.turn is not None and await self._called(table):
            # Who is to move is called by a new board, once a turn.
            calling = 1 + table.game.turn
        if name in post.fronts or self._rings(post, surface, place, calling):
            return Todo("anew", panel, calling)
        if not surface.message:
            return Todo("send", panel, calling)
        return None if surface.digest == panel.digest else Todo("edit", panel, calling)

    async def _do(self, post: Post, name: str, adapter: Adapter, place: str, todo: Todo, longest: int) -> None:
        """One message sent, edited or taken away."""
        surface = post.surfaces[name]
        shown = todo.panel.cut(longest) if longest else todo.panel
        if todo.what == "take away":
            await self._take_away(adapter, place, surface.stale[0])
            post.surfaces[name] = post.surfaces[name]._replace(stale=post.surfaces[name].stale[1:])
        elif todo.what == "edit":
            await adapter.edit(place, surface.message, shown)
            messages(adapter.platform, "edited").inc()
            if post.surfaces[name].message == surface.message:
                post.surfaces[name] = post.surfaces[name].edited(todo.panel.digest, todo.calls)
        else:
            if todo.what == "anew":
                await self._let_go(post, name)
            await self._send(post, name, adapter, place, shown, todo.panel.digest, todo.calls)

    async def _let_go(self, post: Post, name: str) -> None:
        """Note that a new message is wanted, before it is sent: a crash in between sends it with the same key."""
        surface = post.surfaces[name]
        if surface.message:
            stale = (*surface.stale, surface.message)
            post.surfaces[name] = surface._replace(message="", digest="", stale=stale)
            await self._notes.now(post)
        post.fronts.discard(name)

    @staticmethod
    async def _take_away(adapter: Adapter, place: str, stale: str) -> None:
        elsewhere, _, message = stale.rpartition("|")
        try:
            await adapter.delete(elsewhere or place, message)
        except (Unreachable, ChatGone):
            # Where nobody can be reached any more nobody is misled.
            if not elsewhere:
                raise

    async def _send(
        self, post: Post, name: str, adapter: Adapter, place: str, panel: Panel, digest: str, calling: int
    ) -> None:
        """Send a new message, and note at once that it is there; older ones are taken away after it."""
        number = post.surfaces[name].sent + 1
        before = post.tried.get(name, UNKNOWN if post.inherited else None)
        # A platform that knows the key keeps to what came under it first: then an edit makes sure.
        digest = digest if before in (None, digest) else UNKNOWN
        post.tried[name] = digest
        message = await adapter.send(place, panel, f"{post.code}.{name}.{number}")
        post.tried[name] = None
        messages(adapter.platform, "sent").inc()
        surface = post.surfaces[name]
        if not is_same_place(surface.aside, place if is_aside(place) else ""):
            # It was moved elsewhere meanwhile.
            post.surfaces[name] = surface._replace(sent=number, stale=(*surface.stale, f"{place}|{message}"))
            await self._notes.now(post)
            return
        post.surfaces[name] = surface._replace(
            message=message,
            digest=digest,
            sent=number,
            at=int(time.time()),
            calls=calling,
        )
        if seat_of(name) is not None and not is_aside(place):
            self._lowest.sent(place, post.code)
        await self._notes.now(post)

    def _rings(self, post: Post, surface: Surface, place: str, calling: int) -> bool:
        """Whether the panel comes as a new message, so that the phone rings.

        A hand does when time runs out, and when there is something to do for somebody who is not looking, or looks at
        another table; what is shown aside never rings, for it may not be sent at any time. A board does for somebody
        who wants to be called and has left their hand alone.
        """
        if not surface.message or is_aside(place) or calling == surface.calls:
            return False
        if not is_private(place):
            return calling > 0 and self._left_alone(post.surfaces.get(f"h{calling - 1}", surface))
        if calling <= surface.calls:
            return False
        return calling > 1 or self._left_alone(surface) or not self._lowest.is_lowest(place, post.code)

    def _left_alone(self, surface: Surface) -> bool:
        # What was seen in the future was seen before a clock was set back, nobody knows when.
        return abs(time.time() - surface.at) > self._ring_after

    def _give_up(self, post: Post, name: str, place: str, fault: DeliveryFault) -> None:
        """Nothing can be shown there; a hand aside goes home, where it may be reachable."""
        status = "" if is_aside(place) else "unreachable" if is_private(place) else "dropped"
        messages(platform_of(place), status or "went_home").inc()
        log.info("surface_given_up", table=post.code, surface=name, status=status, why=type(fault).__name__)
        post.surfaces[name] = post.surfaces[name]._replace(status=status, message="", digest="", aside="")
        post.fronts.discard(name)
        post.dirty = True
