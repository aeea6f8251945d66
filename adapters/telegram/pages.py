"""Sends pages to people who asked for them, as a new message or in the pressed one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bot.card_room import CardRoom
from bot.concurrency.background import TaskSet
from bot.panel import Panel
from bot.platform import Adapter, NoPicture, NotDelivered, NotEditable, PlatformFailure, Press, SentMessage

UNKNOWN_PICTURE = "?"  # stands for the unknown digest of a pressed photo


class Pages:
    """Sends and replaces pages; raises the errors of the adapter's methods."""

    def __init__(self, adapter: Adapter, card_room: CardRoom, background: TaskSet) -> None:
        self._adapter, self._card_room, self._background = adapter, card_room, background

    async def replace(self, press: Press, panel: Panel, *, is_photo: bool = False) -> None:
        """Edit the pressed message to show a page, or replace it with a new message if that is impossible."""
        message = SentMessage(press.message, UNKNOWN_PICTURE if is_photo else "", is_certain=False)
        try:
            with _safe_to_repeat():
                await self._adapter.edit(press.place, message, panel)
        except (NotEditable, NoPicture):
            await self.send(press.place, panel, press.key, silent=True)
            # Queued separately: if the deletion is retried, the page is not sent again.
            self._queue_deletion(press.place, press.message)

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> None:
        """Send a page. If the picture fails, send the page without it."""
        try:
            await self._adapter.send(place, panel, key, silent=silent)
        except NoPicture as error:
            if error.late:
                self._background.start(self._delete_late(place, error.late))
            await self._adapter.send(place, replace(panel, picture=None), key, silent=silent)

    async def _delete_late(self, place: str, late_message: asyncio.Future[str]) -> None:
        """Delete a page that arrives late, after its text was sent alone."""
        if message := await late_message:
            self._queue_deletion(place, message)

    def _queue_deletion(self, place: str, message: str) -> None:
        async def delete() -> None:
            with _safe_to_repeat():
                await self._adapter.delete(place, message)

        self._card_room.queue_answer(place, delete)


@contextmanager
def _safe_to_repeat() -> Iterator[None]:
    """Raise NotDelivered instead of PlatformFailure, because edits and deletions can safely be repeated."""
    try:
        yield
    except NotDelivered:
        raise
    except PlatformFailure as error:
        raise NotDelivered(str(error)) from error
