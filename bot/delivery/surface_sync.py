"""The task that updates one surface: it sends, edits, replaces or deletes one message at a time until all is shown."""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import structlog

from bot.delivery.message_state import Outdated, State
from bot.delivery.reposts import surface_urgency
from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Delete, Edit, Replace, Send, Step, Surface
from bot.delivery.surface_names import Board, Hand, encode_name
from bot.delivery.surface_waits import MAX_RETRY_SECONDS, SurfaceWaits
from bot.delivery.table_sync import TableSync
from bot.delivery.tools import DeliveryTools
from bot.metrics import message_counter
from bot.panel import Panel
from bot.panel_picture import Subject
from bot.platform import (
    ChatGone,
    MessageGone,
    MessageRefused,
    NoPicture,
    NotDelivered,
    NotDrawn,
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
from bot.tables.table import Table

SETTLE_SECONDS = 10.0  # time after which a timed-out upload no longer arrives

log = structlog.get_logger()


class SurfaceSync(SurfaceWaits):
    """Brings one surface up to date, once."""

    def __init__(self, tools: DeliveryTools, writer: StateWriter, sync: TableSync, surface: Surface) -> None:
        super().__init__(tools, writer, sync, surface)
        self._check_number = 0
        self._max_length = 0
        self._text_only = ""  # digest of the panel that is sent without its picture
        # The picture still being painted while its text is already shown.
        self._pending_picture: Subject | None = None
        # Urgency of the message that could not be edited. Its replacement is silent at this urgency.
        self._silent_urgency: int | None = None
        # The ephemeral message that could not be edited because its picture was late, and its place.
        self._replaced: tuple[str, SentMessage] | None = None
        self._is_marked = False  # True if the table is marked as changed because of outdated messages

    async def run(self, panel: Panel | None, check: int) -> None:
        """Update the surface until it shows the table. ``panel`` is the panel drawn at this ``check``, if any.

        Retry failures of the platform. Stop at an unreachable place. Raise TooLong if a text is still too long after it
        was cut.
        """
        while self._is_active:
            step: Step | None = None
            try:
                await self._collect_late_uploads()
                step = await self._next_step(panel if self._sync.is_current(check) else None)
                panel = None
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
                    # The surface has moved.
                    continue
                if self._surface.is_used:
                    # The person came back after the platform was called. Only this task can try again.
                    continue
                if not await self._restore_message():
                    self._give_up(error)
                    break
            except PlatformFailure as error:
                self._count("trouble")
                # The picture was not the reason for the failure.
                self._text_only = ""
                # After a pause the message can ring again.
                self._silent_urgency = None
                await self._back_off(error, step)
        await self._wait_out_late_uploads()
        if self._is_unsettled:
            await self._write_unsettled()

    # Decisions

    async def _next_step(self, panel: Panel | None) -> Step | None:
        """Wait until a step is allowed and return it; None if the surface shows the table."""
        table = await self._load_table()
        if panel is None and await self._wait_for_limit(self._tools.limiter.wait_seconds):
            # The surface might have moved in the meantime.
            table = await self._load_table()
        step = await self._decide(table, panel)
        if step and await self._wait_for_turn():
            # Another step, at another place, might be due now.
            table = await self._load_table()
            step = await self._decide(table, None)
        if step is None:
            self._sync.lag.mark_shown(self._surface.name)
        return step if self._is_active else None

    async def _wait_for_turn(self) -> bool:
        """Wait for a turn at the surface's place and for the shard's lease. Return whether that took time."""
        limiter = self._tools.limiter
        has_waited = await self._wait_for_limit(limiter.take_turn)
        while self._is_active and await limiter.claim_shared(self._place) > 0:
            # Another worker, or this one before a restart, used the turn.
            has_waited = await self._wait_for_limit(limiter.take_turn) or has_waited
        return await self._tools.shards.wait_until_held(self._sync.code) or has_waited

    async def _wait_for_limit(self, wait_seconds: Callable[[str], float]) -> bool:
        """Wait until the surface's place allows a message. Return whether that took time.

        The place can change in the meantime.
        """
        if (seconds := wait_seconds(self._place)) <= 0:
            return False
        with self._surface.pause() as woken:
            while seconds > 0 and self._is_active:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await woken.wait()
                woken.clear()
                await self._load_table()
                seconds = wait_seconds(self._place)
        return True

    async def _decide(self, table: Table, cached_panel: Panel | None) -> Step | None:
        """Return the next step. Later changes need another decision."""
        surface = self._surface
        self._check_number = self._sync.checks
        self._sync.lag.mark_decided(surface.name)
        if not self._place:
            # The hand's player has left.
            return None
        next_deletion = surface.next_deletion()
        if next_deletion and not self._delete_last:
            return next_deletion
        panel = cached_panel or await self._tools.drawer.draw(self._sync, table, surface)
        player_to_call = await self._tools.drawer.player_to_call(table) if isinstance(surface.name, Board) else None
        urgency = surface_urgency(table, surface, player_to_call)
        rings = self._tools.reposts.needs_repost(self._sync, surface, self._place, urgency)
        return surface.next_step(panel, urgency, rings=rings) or next_deletion

    async def _is_finished_after(self, step: Step) -> bool:
        """Return whether nothing is left to do after a step. Wait for the picture that follows the step."""
        surface = self._surface
        deletes_first = surface.next_deletion() and not self._delete_last
        if self._pending_picture and not deletes_first and not self._was_checked():
            with surface.pause() as woken:
                await self._tools.pictures.wait_until_done(self._pending_picture, woken)
            self._pending_picture = None
            return False
        if isinstance(step, Delete) or not self._sync.is_current(self._check_number):
            return False
        return surface.is_up_to_date(step.panel) and not (self._is_unsettled or surface.late_uploads)

    def _was_checked(self) -> bool:
        """Return whether a check since the decision skipped this surface, because its task was running."""
        return self._sync.checks != self._check_number

    # Steps

    async def _execute(self, step: Step) -> None:
        self._surface.begin_call()
        if isinstance(step, Replace):
            self._surface.outdate()
        if not isinstance(step, Edit):
            await self._write_outdated()
        match step:
            case Delete(outdated):
                await self._delete(outdated)
                return
            case Edit():
                await self._edit(step)
            case Send(panel, urgency) | Replace(panel, urgency):
                await self._send(panel, urgency)
        self._sync.lag.mark_shown(self._surface.name)

    async def _send(self, panel: Panel, urgency: int) -> None:
        """Send a new message and save it at once. Older ones are deleted later."""
        place, surface, code = self._place, self._surface, self._sync.code
        painted_panel, digest = await self._prepare(panel)
        attempt = surface.begin_send(digest)
        key = f"{code}.{encode_name(surface.name)}.{attempt.number}"
        try:
            if self._pending_picture:
                # The log has no trace of a text that was sent ahead of its picture.
                await self._write_incomplete()
            table = await self._tools.room.load_cached(code)
            topic = await self._tools.topics.place_to_send(table, surface.name, place)
            sent_message = await self._adapter.send(topic, painted_panel, key, silent=urgency == self._silent_urgency)
        except NotDrawn:
            surface.cancel_send(attempt)
            self._count("not_drawn")
            await self._send(panel, urgency)
            return
        except (SlowDown, NotDelivered):
            surface.cancel_send(attempt)
            raise
        self._count("sent")
        self._silent_urgency = self._replaced = None
        is_current = surface.finish_send(attempt, place, sent_message, urgency, int(time.time()))
        if is_current and isinstance(surface.name, Hand) and not is_ephemeral(place) and topic == place:
            # A hand in a topic of its own stays lowest there.
            self._tools.reposts.lowest.record_sent(place, code)
        if is_current and not sent_message.is_settled:
            self._unsettle()
        elif is_current:
            # A late upload changes only the previous message.
            self._unsettled_until = 0.0
        await self._writer.write_now(self._sync)

    async def _edit(self, step: Edit) -> None:
        sent_message = step.sent
        painted_panel, digest = await self._prepare(step.panel)
        # If only the picture failed, its text is already shown.
        if painted_panel.digest != self._surface.message_state.digest or not sent_message.is_certain:
            self._surface.begin_edit()
            if self._pending_picture:
                await self._write_incomplete()
            started_at = asyncio.get_running_loop().time()
            try:
                sent_message = await self._adapter.edit(self._place, sent_message, painted_panel)
            except PlatformFailure as error:
                if painted_panel.picture and not isinstance(error, NotDelivered):
                    # The upload can still arrive.
                    self._unsettle()
                raise
            self._count("edited")
            if not sent_message.is_settled:
                self._unsettle()
            elif started_at >= self._unsettled_until:
                self._unsettled_until = 0.0
        self._surface.finish_edit(sent_message, digest, step.urgency)
        # Save now: a restart must not repeat the edit, and the table can take a long time to come to rest.
        self._writer.write_soon(self._sync)

    async def _write_outdated(self) -> None:
        """Save the list of outdated messages, and mark the table as changed until they are deleted.

        The table's log has no reposts or moves of surfaces. Without the mark, a crash would leave two messages.
        """
        if not self._surface.message_state.outdated:
            return
        if self._is_marked:
            await self._writer.write_now(self._sync)
            return
        await self._write_incomplete()
        self._is_marked = True

    async def _delete(self, outdated: Outdated) -> None:
        try:
            await self._adapter.delete(outdated.place or self._place, outdated.message)
        except (Unreachable, ChatGone):
            # At an unreachable place the old message misleads no one.
            if not outdated.place:
                raise
        except MessageRefused as error:
            # Retries would always be refused and keep the table busy. A press on the message starts another attempt.
            self._count("refused")
            log.warning("message_refused", **self._log_fields(error))
        self._surface.remove_outdated(outdated)

    async def _prepare(self, panel: Panel) -> tuple[Panel, str]:
        """Return the panel to send, cut if needed and with its picture if that is ready in time, and its digest.

        The digest is that of the whole panel, or of the text if its picture follows.
        """
        painted_panel = replace(panel, picture=None) if self._text_only == panel.digest else panel
        subject, pictures = painted_panel.picture.subject if painted_panel.picture else None, self._tools.pictures
        if subject and self._adapter.draws(self._place, painted_panel):
            return painted_panel, panel.digest
        painted_panel = await pictures.paint_panel(
            painted_panel.cut(self._max_length) if self._max_length else painted_panel
        )
        is_late = subject and not painted_panel.picture and pictures.is_painting(subject)
        self._pending_picture = subject if is_late else None
        return painted_panel, painted_panel.digest if is_late else panel.digest

    def _unsettle(self) -> None:
        """Note a timed-out upload that can still overwrite the message."""
        self._unsettled_until = asyncio.get_running_loop().time() + SETTLE_SECONDS

    # Failures

    async def _slow_down(self, step: Step | None, error: SlowDown) -> None:
        """Block the place that was rate-limited: the surface's, or that of an outdated message."""
        older_place = step.outdated.place if isinstance(step, Delete) else ""
        self._tools.limiter.block(older_place or self._place, error.seconds)
        if older_place:
            await self._back_off(NotDelivered("the place of an older message is rate-limited"), step)

    def _omit_picture(self, step: Step | None, error: NoPicture) -> None:
        """Send this panel as text only. Later panels have pictures again."""
        assert isinstance(step, Send | Replace | Edit)
        if error.late:
            self._surface.late_uploads.append((self._place, error.late))
        if self._text_only == step.panel.digest:
            raise RuntimeError("an adapter has no picture for a panel without one") from error
        self._text_only = step.panel.digest

    async def _replace_uneditable(self, step: Step | None) -> None:
        """Mark a message that could not be edited as outdated, unless it has been replaced."""
        if isinstance(step, Edit) and step.sent.message != self._surface.message_state.message:
            return
        if isinstance(step, Edit) and step.panel.picture and is_ephemeral(self._place):
            self._replaced = (self._place, step.sent)
        self._surface.outdate()
        await self._writer.write_now(self._sync)

    async def _restore_message(self) -> bool:
        """Keep an ephemeral message while its next picture is late, because no new message is allowed now.

        The picture is tried again for about a minute. A press allows a new message and ends the wait. Return False if
        no ephemeral message was replaced here, or if the minute is over.
        """
        place, sent_message = self._replaced or ("", None)
        if sent_message is None or not is_same_place(place, self._place) or self._pause >= MAX_RETRY_SECONDS:
            return False
        self._replaced, self._text_only = None, ""
        self._surface.restore_message(sent_message)
        await self._writer.write_now(self._sync)
        await self._back_off(NotDelivered("its picture is late, and no other message is allowed there"), None)
        return True

    def _forget_message(self, step: Step | None) -> None:
        if isinstance(step, Edit):
            self._surface.forget_message(step.sent.message)
        elif isinstance(step, Delete):
            self._surface.remove_outdated(step.outdated)

    def _give_up(self, error: Unreachable | ChatGone) -> None:
        """Stop at an unreachable place. Boards can show that, and a hand returns to the private chat."""
        state = self._surface.give_up(self._place)
        status = "" if state is State.ABSENT else state.value
        self._count(status or "went_home")
        name = encode_name(self._surface.name)
        log.info("surface_given_up", table=self._sync.code, surface=name, status=status, why=type(error).__name__)
        self._sync.touch()

    def _count(self, result: str) -> None:
        message_counter(platform_of(self._place), result).inc()
