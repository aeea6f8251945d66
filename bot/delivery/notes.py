"""Writing down what is shown: at once after a send, and together, in a moment, after edits."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from bot.delivery.post import Post
from bot.store import STORE_FAULTS, Store

NOTE_AFTER = 0.05
"""Seconds in which notes gather that can wait."""


class Notes:
    """What is known of surfaces, on its way to the store. ``on_lost`` is called with a table whose note was lost."""

    def __init__(self, store: Store, worker: str, on_lost: Callable[[str], None]) -> None:
        self._store, self._worker, self._on_lost = store, worker, on_lost
        self._waiting: dict[str, tuple[Post, int]] = {}
        self._hurried = asyncio.Event()
        self.task: asyncio.Task[None] | None = None

    async def now(self, post: Post) -> None:
        """Note what has changed: a message that was sent must not be sent again."""
        changes = post.take_changes()
        try:
            await self._store.note(post.code, changes, None, self._worker)
        except BaseException:
            post.noted.clear()
            raise

    def soon(self, post: Post, version: int) -> None:
        """Note with others that all is shown as of this version; lost in a crash, an edit is made again."""
        self._waiting[post.code] = (post, version)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._write())

    def hurry(self) -> None:
        """Have what gathers written now: somebody waits for it."""
        self._hurried.set()

    async def _write(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(NOTE_AFTER):
                await self._hurried.wait()
        self._hurried.clear()
        while self._waiting:
            batch, self._waiting = self._waiting, {}
            notes = [
                self._store.note(code, post.take_changes(), version, self._worker)
                for code, (post, version) in batch.items()
            ]
            try:
                await asyncio.gather(*notes)
            except STORE_FAULTS as error:
                self._store.outage.begin(error)
                for code, (post, _version) in batch.items():
                    post.noted.clear()
                    self._on_lost(code)
