"""Bringing one surface up to date: draw it, compare with what stands there, and send, edit, replace or take away, one
message at a time, until nothing is left to do; wait where the platform says so, and give up where nobody is reached.
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

import structlog

from bot.cluster.shards import Shards
from bot.delivery.drawing import Drawer
from bot.delivery.message_state import Outdated, State
from bot.delivery.names import Board, Hand, encode_name
from bot.delivery.send_limiter import SendLimiter
from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Delete, Edit, Replace, Send, Step, Surface
from bot.delivery.surfaces import home_of
from bot.delivery.table_sync import TableSync
from bot.delivery.urgency import RepostPolicy, surface_urgency
from bot.metrics import message_counter
from bot.outages import Outages
from bot.panel import Panel
from bot.picture import Subject
from bot.pictures.pool import PicturePool
from bot.platform import (
    Adapter,
    ChatGone,
    MessageGone,
    MessageRefused,
    NoPicture,
    NotDelivered,
    NotEditable,
    PlatformFailure,
    SentMessage,
    SlowDown,
    TooLong,
    Unreachable,
    is_ephemeral,
    is_same_place,
    platform_of,
)
from bot.tables.room import Room
from bot.tables.table import Table

FIRST_PAUSE, MAX_PAUSE = 0.5, 60.0
"""Seconds before what failed is tried again: doubled each time, up to the longest."""

SETTLE_SECONDS = 10.0
"""Seconds in which an upload arrives, or never, that its adapter gave up."""

DOUBT_FACTOR = 4
"""How many times longer each pause is than the one before, without end, where one message is sent again that may have
arrived: a platform whose answers are all lost would otherwise fill a chat with it.
"""

log = structlog.get_logger()


@dataclass
class SyncTools:
    """What it takes to bring surfaces up to date. ``stopping`` ends that at the next step."""

    room: Room
    shards: Shards
    adapters: Mapping[str, Adapter]
    limiter: SendLimiter
    drawer: Drawer
    pictures: PicturePool
    reposts: RepostPolicy
    writer: StateWriter
    outages: Outages
    stopping: bool = False
    _back_events: dict[str, asyncio.Event] = field(default_factory=dict)

    def back_event(self, platform: str) -> asyncio.Event:
        """What is set when a platform was away and is there again."""
        return self._back_events.setdefault(platform, asyncio.Event())

    def resume_platform(self, platform: str) -> None:
        """A platform was away and is there again: whatever waits for that is tried now."""
        self._back_events.pop(platform, asyncio.Event()).set()


class SurfaceSync:
    """Brings one surface up to date, once."""

    def __init__(self, tools: SyncTools, sync: TableSync, surface: Surface) -> None:
        self._tools, self._sync, self._surface = tools, sync, surface
        self._place = ""
        self._check_number = 0
        self._max_length = 0
        # The panel whose text goes without its picture, by its digest.
        self._text_only = ""
        # What is still being painted, while its text stands there by itself.
        self._pending_picture: Subject | None = None
        # Until when, by the loop's clock, an upload that was given up may come over what is shown; 0.0 if none may.
        # Only an edit that begins later is sure to stay.
        self._unsettled_until = 0.0
        # How loudly a message called that could not be edited: what takes its place rings for no more than that.
        self._silent_urgency: int | None = None
        # What stood in the group for one person alone, and could not be edited for want of its next picture; and where.
        self._replaced: tuple[str, SentMessage] | None = None
        # What could not be taken away holds nothing up.
        self._delete_last = False
        self._is_marked = False
        self._pause = self._pause_in_doubt = FIRST_PAUSE

    async def run(self, drawn: Panel | None, look: int) -> None:
        """Until the surface shows what it should; ``drawn`` is that, if it is drawn already, as of a look at the table.

        Whatever the platform does, this goes on, but where nobody can be reached, and for a text that is too long
        though it was cut: that is raised.
        """
        while self._is_active:
            step: Step | None = None
            try:
                await self._collect_late_uploads()
                step = await self._next_step(drawn if self._sync.is_current(look) else None)
                drawn = None
                if step is None:
                    if self._was_checked() or await self._wait_for_late():
                        continue
                    break
                with self._tools.outages.call(platform_of(self._place)):
                    await self._execute(step)
                if await self._is_finished_after(step):
                    return
                self._reset_pauses()
            except SlowDown as error:
                self._count("slow_down")
                await self._slow_down(step, error)
            except MessageGone:
                self._count("gone")
                self._forget_message(step)
            except NotEditable:
                self._count("not_editable")
                self._silent_urgency = step.urgency if isinstance(step, Edit) else None
                await self._replace_uneditable(step)
            except NoPicture as error:
                self._count("no_picture")
                self._omit_picture(step, error)
            except TooLong as error:
                self._count("too_long")
                if self._max_length:
                    raise
                self._max_length = error.longest
            except (Unreachable, ChatGone) as error:
                if not is_same_place(await self._current_place(), self._place):
                    # It has been moved meanwhile.
                    continue
                if self._surface.is_used:
                    # The person came back after the platform was called: try again, because nobody else will.
                    continue
                if not await self._restore_message():
                    self._give_up(error)
                    break
            except PlatformFailure as error:
                self._count("trouble")
                # It was not for the picture that the text did not go out.
                self._text_only = ""
                # What called so long ago rings for itself again.
                self._silent_urgency = None
                await self._back_off(error, step)
        await self._wait_out_late_uploads()
        if self._is_unsettled:
            await self._write_unsettled()

    @property
    def _is_active(self) -> bool:
        """Whether more may be done: not once the bot stops, or another worker is to deliver the table."""
        return not self._tools.stopping and self._tools.shards.owns(self._sync.code)

    # What is to be done

    async def _next_step(self, drawn: Panel | None) -> Step | None:
        """Wait until something may be done, and say what; None when the surface shows what it should."""
        table = await self._load_table()
        if drawn is None and await self._wait_for_limit(self._tools.limiter.wait_seconds):
            # It may have been moved meanwhile.
            table = await self._load_table()
        self._begin_decision()
        step = await self._decide(table, drawn)
        if step and await self._wait_for_turn():
            # That took a while, and something else may be to be done by now, elsewhere.
            table = await self._load_table()
            self._begin_decision()
            step = await self._decide(table, None)
        if step is None:
            self._sync.lag.mark_shown(self._surface.name)
        return step if self._is_active else None

    def _begin_decision(self) -> None:
        """Changes from here on are not part of what is decided."""
        self._check_number = self._sync.checks
        self._sync.lag.mark_decided(self._surface.name)

    async def _load_table(self) -> Table:
        """The table as it is just now, by which the surface's place is known from here on."""
        table = await self._tools.room.cached(self._sync.code)
        self._place = self._place_at(table)
        return table

    async def _current_place(self) -> str:
        """Where the surface is just now."""
        return self._place_at(await self._tools.room.cached(self._sync.code))

    def _place_at(self, table: Table) -> str:
        return self._surface.known.ephemeral or home_of(table, self._surface.name)

    async def _wait_for_turn(self) -> bool:
        """Return when a message may go where the surface is by then, and the table is this worker's for certain;
        whether that took time.
        """
        limiter = self._tools.limiter
        waited = await self._wait_for_limit(limiter.take_turn)
        while self._is_active and await limiter.claim_shared(self._place) > 0:
            # Another worker, or this one before a restart, was faster.
            waited = await self._wait_for_limit(limiter.take_turn) or waited
        return await self._tools.shards.wait_until_held(self._sync.code) or waited

    async def _wait_for_limit(self, seconds_early: Callable[[str], float]) -> bool:
        """Wait until it is not too early for the surface's place, which may be another one by then; whether that took
        time. It ends early where this does not go on.
        """
        if (early := seconds_early(self._place)) <= 0:
            return False
        with self._surface.pause() as woken:
            while early > 0 and self._is_active:
                with suppress(TimeoutError):
                    async with asyncio.timeout(early):
                        await woken.wait()
                woken.clear()
                await self._load_table()
                early = seconds_early(self._place)
        return True

    async def _decide(self, table: Table, drawn: Panel | None) -> Step | None:
        surface = self._surface
        if not self._place:
            # Whose hand it was has left.
            return None
        outdated = surface.next_deletion()
        if outdated and not self._delete_last:
            return outdated
        panel = drawn or await self._tools.drawer.draw(self._sync, table, surface)
        called = await self._tools.drawer.player_to_call(table) if isinstance(surface.name, Board) else None
        urgency = surface_urgency(table, surface, called)
        rings = self._tools.reposts.needs_repost(self._sync, surface, self._place, urgency)
        return surface.next_step(panel, urgency, rings=rings) or outdated

    def _is_shown(self, step: Step) -> bool:
        """Whether what was sent is what should stand there still, for nothing was touched since: then it need not be
        drawn again to see.
        """
        if isinstance(step, Delete) or not self._sync.is_current(self._check_number):
            return False
        return self._surface.known.digest == step.panel.digest and not self._surface.known.outdated

    async def _is_finished_after(self, step: Step) -> bool:
        """Whether nothing is to be done after a step that was done; what follows it by itself is waited for."""
        takes_away_first = self._surface.next_deletion() and not self._delete_last
        if self._pending_picture and not takes_away_first and not self._was_checked():
            await self._wait_for_picture(self._pending_picture)
            return False
        return self._is_shown(step) and not (self._is_unsettled or self._surface.late_uploads)

    @property
    def _is_unsettled(self) -> bool:
        """Whether the message that stands there may have come to show something older."""
        return bool(self._unsettled_until and self._place and self._surface.known.message)

    def _was_checked(self) -> bool:
        """Whether the table was looked over since it was decided what is to be done: that left out this surface, which
        was under way. A table that is merely behind is still to be looked over, and that will not leave it out.
        """
        return self._sync.checks != self._check_number

    # Doing it

    async def _execute(self, step: Step) -> None:
        self._surface.begin_call()
        match step:
            case Delete(outdated):
                await self._write_outdated()
                await self._delete(outdated)
                return
            case Edit():
                await self._edit(step)
            case Replace(panel, urgency):
                self._surface.outdate()
                await self._write_outdated()
                await self._send(panel, urgency)
            case Send(panel, urgency):
                await self._write_outdated()
                await self._send(panel, urgency)
        self._sync.lag.mark_shown(self._surface.name)

    async def _send(self, panel: Panel, urgency: int) -> None:
        """Send a new message, and write at once that it is there; older ones are taken away after it."""
        place, surface, code = self._place, self._surface, self._sync.code
        ready = await self._prepare(panel)
        attempt = surface.begin_send(self._digest_of(panel, ready))
        key = f"{code}.{encode_name(surface.name)}.{attempt.number}"
        try:
            await self._write_picture_pending()
            sent = await self._adapter.send(place, ready, key, silent=urgency == self._silent_urgency)
        except (SlowDown, NotDelivered):
            surface.cancel_send(attempt)
            raise
        self._count("sent")
        self._silent_urgency = self._replaced = None
        stands = surface.finish_send(attempt, place, sent, urgency, int(time.time()))
        if stands and isinstance(surface.name, Hand) and not is_ephemeral(place):
            self._tools.reposts.lowest.record_sent(place, code)
        if stands and not sent.is_settled:
            self._unsettle()
        elif stands:
            # What may come, comes over the message before.
            self._unsettled_until = 0.0
        await self._tools.writer.write_now(self._sync)

    async def _edit(self, step: Edit) -> None:
        ready, sent = await self._prepare(step.panel), step.sent
        # Where a picture failed that was to follow, its text stands there already.
        if ready.digest != self._surface.known.digest or not sent.is_certain:
            self._surface.begin_edit()
            await self._write_picture_pending()
            began = asyncio.get_running_loop().time()
            try:
                sent = await self._adapter.edit(self._place, sent, ready)
            except PlatformFailure as error:
                if ready.picture and not isinstance(error, NotDelivered):
                    # Its upload may still be under way.
                    self._unsettle()
                raise
            self._count("edited")
            if not sent.is_settled:
                self._unsettle()
            elif began >= self._unsettled_until:
                self._unsettled_until = 0.0
        self._surface.finish_edit(sent, self._digest_of(step.panel, ready), step.urgency)
        # The table may not come to rest for long: a restart must not repeat the edit.
        self._tools.writer.write_soon(self._sync)

    async def _write_outdated(self) -> None:
        """Write which older messages must go, and mark the table as changed until they are gone.

        A repost or a move is not in the log. Without the mark, the next bot leaves two messages after a crash.
        """
        if not self._surface.known.outdated:
            return
        if self._is_marked:
            await self._tools.writer.write_now(self._sync)
            return
        table = await self._tools.room.cached(self._sync.code)
        await self._tools.writer.write_incomplete(self._sync, table.version)
        self._is_marked = True

    async def _delete(self, outdated: Outdated) -> None:
        try:
            await self._adapter.delete(outdated.place or self._place, outdated.message)
        except (Unreachable, ChatGone):
            # Where nobody can be reached any more nobody is misled.
            if not outdated.place:
                raise
        except MessageRefused as error:
            # It would be refused for ever, and keep the table from its rest. Whoever presses it has it tried again.
            self._count("refused")
            log.warning("message_refused", **self._log_fields(error))
        self._surface.remove_outdated(outdated)

    async def _prepare(self, panel: Panel) -> Panel:
        """The panel as the adapter is to have it: cut if need be, with its picture if that can be had in time."""
        if self._text_only == panel.digest:
            panel = replace(panel, picture=None)
        pictures = self._tools.pictures
        ready = await pictures.paint_panel(panel.cut(self._max_length) if self._max_length else panel)
        is_late = panel.picture and not ready.picture and pictures.is_painting(panel.picture.subject)
        self._pending_picture = panel.picture.subject if is_late and panel.picture else None
        return ready

    def _digest_of(self, panel: Panel, ready: Panel) -> str:
        """What a message counts as that shows a panel so: as the whole of it without its picture too, but where that
        follows.
        """
        return ready.digest if self._pending_picture else panel.digest

    async def _write_picture_pending(self) -> None:
        """Before a text goes out whose picture is to follow, write that something is still to be shown: a bot that ends
        meanwhile tells nobody, where no entry of the log does.
        """
        if self._pending_picture:
            table = await self._tools.room.cached(self._sync.code)
            await self._tools.writer.write_incomplete(self._sync, table.version)

    async def _wait_for_picture(self, scene: Subject) -> None:
        """Wait until a picture is painted that follows its text, or there may be something else to show."""
        with self._surface.pause() as woken:
            await self._tools.pictures.wait_until_done(scene, woken)
        self._pending_picture = None

    async def _wait_for_late(self) -> bool:
        """Wait where an upload that was given up may still come, over what is shown or beside it; whether one may."""
        if self._is_unsettled and self._is_active:
            await self._settle()
        elif self._surface.late_uploads:
            await self._wait_for_late_uploads()
        else:
            return False
        return True

    def _unsettle(self) -> None:
        """An upload was given up that may still come over what is shown."""
        self._unsettled_until = asyncio.get_running_loop().time() + SETTLE_SECONDS

    async def _write_unsettled(self) -> None:
        """Write that nobody knows what stands there: it is edited again, also by whoever delivers the table then."""
        self._surface.mark_uncertain()
        table = await self._tools.room.cached(self._sync.code)
        await self._tools.writer.write_incomplete(self._sync, table.version)

    async def _settle(self) -> None:
        """Wait until nothing older can come over what is shown, or there may be something else to show; it is edited
        again in any case.
        """
        with self._surface.pause() as woken:
            await self._write_unsettled()
            with suppress(TimeoutError):
                async with asyncio.timeout_at(self._unsettled_until):
                    await woken.wait()

    async def _wait_for_late_uploads(self) -> None:
        """Wait until a message has come late, or is sure not to, or there may be something else to show."""
        with self._surface.pause() as woken:
            for _place, late in self._surface.late_uploads:
                late.add_done_callback(lambda _done: woken.set())
            await woken.wait()

    async def _wait_out_late_uploads(self) -> None:
        """The bot stops: what comes until its patience ends is written down, for whoever starts next to delete it."""
        while self._surface.late_uploads:
            await asyncio.wait([late for _place, late in self._surface.late_uploads])
            await self._collect_late_uploads()

    async def _collect_late_uploads(self) -> None:
        """Messages that came late are outdated. This is written at once, for whoever starts next to delete them."""
        for place, late in self._surface.late_uploads.copy():
            if not late.done():
                continue
            if not late.cancelled() and late.result():
                table = await self._tools.room.cached(self._sync.code)
                self._surface.add_late_message(late.result(), place, home_of(table, self._surface.name))
                await self._tools.writer.write_incomplete(self._sync, table.version)
            self._surface.late_uploads.remove((place, late))

    # What went wrong

    async def _slow_down(self, step: Step | None, error: SlowDown) -> None:
        """Too much was sent: to the surface's place, or to where an older message is."""
        if isinstance(step, Delete) and step.outdated.place:
            self._tools.limiter.block(step.outdated.place, error.seconds)
            await self._back_off(NotDelivered("too much was sent to where an older message is"), step)
        else:
            self._tools.limiter.block(self._place, error.seconds)

    def _omit_picture(self, step: Step | None, error: NoPicture) -> None:
        """What was to be shown goes by itself as text; what comes after it has its picture again."""
        assert isinstance(step, Send | Replace | Edit)
        if error.late:
            self._surface.late_uploads.append((self._place, error.late))
        if self._text_only == step.panel.digest:
            raise RuntimeError("an adapter has no picture for a panel without one") from error
        self._text_only = step.panel.digest

    async def _replace_uneditable(self, step: Step | None) -> None:
        """What stands there could not be edited: a new message is to take its place, unless one has by now."""
        if isinstance(step, Edit) and step.sent.message != self._surface.known.message:
            return
        if isinstance(step, Edit) and step.panel.picture and is_ephemeral(self._place):
            self._replaced = (self._place, step.sent)
        self._surface.outdate()
        await self._tools.writer.write_now(self._sync)

    async def _restore_message(self) -> bool:
        """What gave way only because its next picture is late stays, for nothing may be sent in its place just now; a
        while later the picture is tried again, for a minute or so. A press of its person's allows a new message, and
        ends the wait. False where nothing gave way here, or that time is over.
        """
        place, sent = self._replaced or ("", None)
        if sent is None or not is_same_place(place, self._place) or self._pause >= MAX_PAUSE:
            return False
        self._replaced, self._text_only = None, ""
        self._surface.restore_message(sent)
        await self._tools.writer.write_now(self._sync)
        await self._back_off(NotDelivered("its picture is late, and no other message may take its place"), None)
        return True

    def _forget_message(self, step: Step | None) -> None:
        if isinstance(step, Edit):
            self._surface.forget_message(step.sent.message)
        elif isinstance(step, Delete):
            self._surface.remove_outdated(step.outdated)

    def _give_up(self, error: Unreachable | ChatGone) -> None:
        """Nothing can be shown there: boards may have to say so, and a hand goes home."""
        state = self._surface.give_up(self._place)
        status = "" if state is State.ABSENT else state.value
        self._count(status or "went_home")
        name = encode_name(self._surface.name)
        log.info("surface_given_up", table=self._sync.code, surface=name, status=status, why=type(error).__name__)
        self._sync.touch()

    async def _back_off(self, error: PlatformFailure, step: Step | None) -> None:
        """Wait before it is tried again: longer each time, and longest where it may have been done.

        A pause that ended early is no longer the next time: it was not the platform that took its time.
        """
        in_doubt = isinstance(step, Send | Replace) and not isinstance(error, NotDelivered)
        pause = self._pause_in_doubt if in_doubt else self._pause
        if isinstance(error, MessageRefused) and pause == FIRST_PAUSE:
            log.warning("message_refused", **self._log_fields(error))
        log.debug("send_failed", again_in=pause, **self._log_fields(error))
        digest: str | None = None
        if isinstance(step, Delete):
            self._delete_last, digest = True, self._surface.known.digest
        elif step and in_doubt:
            digest = step.panel.digest
        back = self._tools.back_event(platform_of(self._place))
        is_over = await self._pause_before_retry(pause * random.uniform(0.8, 1.2), back, digest)
        if back.is_set():
            self._reset_pauses()
        elif is_over and in_doubt:
            self._pause_in_doubt *= DOUBT_FACTOR
        elif is_over:
            self._pause = min(2 * self._pause, MAX_PAUSE)

    def _log_fields(self, error: PlatformFailure) -> dict[str, str]:
        """What the log is to say of it."""
        return {"table": self._sync.code, "surface": encode_name(self._surface.name), "why": str(error)}

    def _reset_pauses(self) -> None:
        self._pause = self._pause_in_doubt = FIRST_PAUSE

    async def _pause_before_retry(self, seconds: float, back: asyncio.Event, digest: str | None) -> bool:
        """Wait so many seconds, and return True; or until the platform is ``back``, or the surface is wanted anew or
        elsewhere, or, where a ``digest`` is given, is to show something else; nothing is as `UNKNOWN`.
        """
        until = asyncio.get_running_loop().time() + seconds
        with self._surface.pause() as woken:
            while not (self._tools.stopping or back.is_set() or await self._has_changed(digest)):
                try:
                    async with asyncio.timeout_at(until):
                        await woken.wait()
                except TimeoutError:
                    return True
                woken.clear()
            return False

    async def _has_changed(self, digest: str | None) -> bool:
        if self._surface.wants_repost or await self._current_place() != self._place:
            return True
        if digest is None:
            return False
        table = await self._tools.room.cached(self._sync.code)
        return (await self._tools.drawer.draw(self._sync, table, self._surface)).digest != digest

    @property
    def _adapter(self) -> Adapter:
        return self._tools.adapters[platform_of(self._place)]

    def _count(self, what: str) -> None:
        message_counter(platform_of(self._place), what).inc()
