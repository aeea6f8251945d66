"""The waits of a surface's task: for late uploads, and before retries."""

import asyncio
import random
from contextlib import suppress

import structlog

from bot.delivery.state_writer import StateWriter
from bot.delivery.surface import Delete, Replace, Send, Step, Surface
from bot.delivery.surface_names import encode_name
from bot.delivery.surfaces import home_of
from bot.delivery.table_sync import TableSync
from bot.delivery.tools import DeliveryTools
from bot.platform import Adapter, MessageRefused, NotDelivered, PlatformFailure, platform_of
from bot.tables.table import Table

FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.5, 60.0  # seconds before a retry; the pause doubles each time

# Growth of each pause while a message that might have arrived is sent again. There is no maximum: if answers are lost,
# the chat must not fill up with copies.
DOUBT_FACTOR = 4

log = structlog.get_logger()


class SurfaceWaits:
    """The base of `SurfaceSync`. Each wait ends early if the surface is woken."""

    def __init__(self, tools: DeliveryTools, writer: StateWriter, sync: TableSync, surface: Surface) -> None:
        self._tools, self._writer, self._sync, self._surface = tools, writer, sync, surface
        self._place = ""
        # Loop time until which a timed-out upload can overwrite the message, so that only a later edit is final; 0.0
        # if there is none.
        self._unsettled_until = 0.0
        self._delete_last = False  # True after a failed deletion, which must not delay other steps
        self._reset_pauses()

    @property
    def _is_active(self) -> bool:
        """False if the bot stops or another worker delivers the table."""
        return not self._tools.stopping and self._tools.shards.owns(self._sync.code)

    @property
    def _adapter(self) -> Adapter:
        return self._tools.adapters[platform_of(self._place)]

    @property
    def _is_unsettled(self) -> bool:
        """True if a timed-out upload can overwrite the message."""
        return bool(self._unsettled_until and self._place and self._surface.message_state.message)

    async def _load_table(self) -> Table:
        table = await self._tools.room.load_cached(self._sync.code)
        self._place = self._place_at(table)
        return table

    async def _current_place(self) -> str:
        return self._place_at(await self._tools.room.load_cached(self._sync.code))

    def _place_at(self, table: Table) -> str:
        return self._surface.message_state.ephemeral or home_of(table, self._surface.name)

    async def _write_incomplete(self) -> None:
        """Save the states of the table's messages now, and mark the table as changed."""
        table = await self._tools.room.load_cached(self._sync.code)
        await self._writer.write_incomplete(self._sync, table.version)

    # Late uploads

    async def _wait_for_late(self) -> bool:
        """Wait until late uploads have arrived or no longer can. Return whether any was pending.

        A message that a late upload can overwrite is edited again afterwards.
        """
        if self._is_unsettled and self._is_active:
            with self._surface.pause() as woken:
                await self._write_unsettled()
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._unsettled_until):
                        await woken.wait()
            return True
        if not self._surface.late_uploads:
            return False
        with self._surface.pause() as woken:
            for _place, upload in self._surface.late_uploads:
                upload.add_done_callback(lambda _done: woken.set())
            await woken.wait()
        return True

    async def _write_unsettled(self) -> None:
        """Save that the message is uncertain, so that this or another worker edits it again."""
        self._surface.mark_uncertain()
        await self._write_incomplete()

    async def _wait_out_late_uploads(self) -> None:
        """Save uploads that arrive while the bot stops, so that the next bot deletes them."""
        while self._surface.late_uploads:
            await asyncio.wait([late for _place, late in self._surface.late_uploads])
            await self._collect_late_uploads()

    async def _collect_late_uploads(self) -> None:
        """Mark messages that arrived late as outdated, and save that at once."""
        for place, upload in self._surface.late_uploads.copy():
            if not upload.done():
                continue
            if not upload.cancelled() and upload.result():
                table = await self._tools.room.load_cached(self._sync.code)
                self._surface.add_late_message(upload.result(), place, home_of(table, self._surface.name))
                await self._writer.write_incomplete(self._sync, table.version)
            self._surface.late_uploads.remove((place, upload))

    # Retries

    def _reset_pauses(self) -> None:
        self._pause = self._pause_in_doubt = FIRST_RETRY_SECONDS

    async def _back_off(self, error: PlatformFailure, step: Step | None) -> None:
        """Wait before a retry.

        Pauses grow, and they grow fastest if the message might have arrived. A pause that was cut short does not
        lengthen the next one.
        """
        in_doubt = isinstance(step, Send | Replace) and not isinstance(error, NotDelivered)
        pause = self._pause_in_doubt if in_doubt else self._pause
        if isinstance(error, MessageRefused) and pause == FIRST_RETRY_SECONDS:
            log.warning("message_refused", **self._log_fields(error))
        log.debug("send_failed", again_in=pause, **self._log_fields(error))
        digest: str | None = None
        if isinstance(step, Delete):
            self._delete_last, digest = True, self._surface.message_state.digest
        elif step and in_doubt:
            digest = step.panel.digest
        platform_is_back = self._tools.back_event(platform_of(self._place))
        is_over = await self._pause_before_retry(pause * random.uniform(0.8, 1.2), platform_is_back, digest)
        if platform_is_back.is_set():
            self._reset_pauses()
        elif is_over and in_doubt:
            self._pause_in_doubt *= DOUBT_FACTOR
        elif is_over:
            self._pause = min(2 * self._pause, MAX_RETRY_SECONDS)

    async def _pause_before_retry(self, seconds: float, platform_is_back: asyncio.Event, digest: str | None) -> bool:
        """Wait and return True, or return False as soon as a retry makes sense.

        That is the case if ``platform_is_back`` is set, the surface is requested again or moved, or its panel differs
        from ``digest``.
        """
        deadline = asyncio.get_running_loop().time() + seconds
        with self._surface.pause() as woken:
            while not (self._tools.stopping or platform_is_back.is_set() or await self._has_changed(digest)):
                try:
                    async with asyncio.timeout_at(deadline):
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
        table = await self._tools.room.load_cached(self._sync.code)
        return (await self._tools.drawer.draw(self._sync, table, self._surface)).digest != digest

    def _log_fields(self, error: PlatformFailure) -> dict[str, str]:
        return {"table": self._sync.code, "surface": encode_name(self._surface.name), "why": str(error)}
