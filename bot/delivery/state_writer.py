"""Saves message states: at once after a send, batched after edits."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from bot.delivery.message_state import encode_state
from bot.delivery.surface_names import encode_name
from bot.delivery.table_sync import TableSync
from bot.store import STORE_ERRORS, Store

GATHER_SECONDS = 0.05  # time for which states of edits are collected


class StateWriter:
    """Saves the states of messages. ``on_lost`` gets the code of a table after its save failed."""

    def __init__(self, store: Store, worker: str, on_lost: Callable[[str], None]) -> None:
        self._store, self._worker, self._on_lost = store, worker, on_lost
        self._waiting: dict[str, tuple[TableSync, int | None]] = {}
        self._writes: dict[str, asyncio.Task[None]] = {}  # the write of each table's last batch, by code
        self._flush_requested = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def write_now(self, sync: TableSync) -> None:
        """Save a table's states now, so that no sent message is sent again."""
        await self._write(sync, None)

    def write_soon(self, sync: TableSync, version: int | None = None) -> None:
        """Save a table's states with the next batch.

        All surfaces show ``version``, if given. A lost save only repeats edits.
        """
        if version is not None or sync.code not in self._waiting:
            self._waiting[sync.code] = (sync, version)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._write_all())

    async def write_incomplete(self, sync: TableSync, version: int) -> None:
        """Save a table's states now and mark the table as changed.

        The next worker then checks the table. A change outside the log, such as a draft, leaves no other trace.
        """
        self._waiting.pop(sync.code, None)
        if write := self._writes.get(sync.code):
            # A write in progress can clear the mark.
            await asyncio.wait([write])
        await self.write_now(sync)
        await self._store.mark_changed(sync.code, version, self._worker)

    def flush(self) -> None:
        self._flush_requested.set()

    async def _write_all(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(GATHER_SECONDS):
                await self._flush_requested.wait()
        self._flush_requested.clear()
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            self._writes = {code: asyncio.create_task(self._write(*entry)) for code, entry in batch.items()}
            try:
                await asyncio.gather(*self._writes.values())
            except STORE_ERRORS as error:
                self._store.outage.begin(error)
                for code in batch:
                    self._on_lost(code)

    async def _write(self, sync: TableSync, version: int | None) -> None:
        texts = {encode_name(name): encode_state(state) for name, state in sync.take_unsaved().items()}
        try:
            await self._store.save_shown(sync.code, texts, version, self._worker)
        except BaseException:
            sync.forget_saved()
            raise
