"""Writes down what is known of messages: at once after a send, and together, in a moment, after edits."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from bot.delivery.message_state import encode_state
from bot.delivery.names import encode_name
from bot.delivery.table_sync import TableSync
from bot.store import STORE_ERRORS, Store

GATHER_SECONDS = 0.05
"""Seconds in which states gather that can wait."""


class StateWriter:
    """States of messages on their way to the store. ``on_lost`` is called with the code of a table that lost some."""

    def __init__(self, store: Store, worker: str, on_lost: Callable[[str], None]) -> None:
        self._store, self._worker, self._on_lost = store, worker, on_lost
        self._waiting: dict[str, tuple[TableSync, int | None]] = {}
        self._writes: dict[str, asyncio.Task[None]] = {}
        """The writes of the batch that went out last, by table code."""
        self._hurried = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def write_now(self, sync: TableSync) -> None:
        """Write what has changed: a message that was sent must not be sent again."""
        await self._write(sync, None)

    def write_soon(self, sync: TableSync, version: int | None = None) -> None:
        """Write in a moment, with others, what its messages show; with a ``version``, that all show that version.

        If a crash loses this, edits are made again.
        """
        if version is not None or sync.code not in self._waiting:
            self._waiting[sync.code] = (sync, version)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._write_all())

    async def write_incomplete(self, sync: TableSync, version: int) -> None:
        """Write at once what has changed, and that not all is shown as of this version.

        The next worker then looks at the table again. A change outside the log, such as a draft, leaves no other trace.
        """
        self._waiting.pop(sync.code, None)
        if write := self._writes.get(sync.code):
            # It may say that all is shown.
            await asyncio.wait([write])
        await self.write_now(sync)
        await self._store.mark_changed(sync.code, version, self._worker)

    def flush(self) -> None:
        """Have what gathers written now: somebody waits for it."""
        self._hurried.set()

    async def _write_all(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(GATHER_SECONDS):
                await self._hurried.wait()
        self._hurried.clear()
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
