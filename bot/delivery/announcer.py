"""Messages that are never edited. Each has its picture, or only text if the picture fails."""

import asyncio
from dataclasses import replace
from functools import partial

from bot.delivery.answer_queue import AnswerQueue
from bot.panel import Panel
from bot.pictures.pool import PicturePool
from bot.platform import Adapter, NoPicture


class Announcer:
    """Sends announcements. A picture that arrives after its text was sent alone is deleted."""

    def __init__(self, pictures: PicturePool, answers: AnswerQueue) -> None:
        self._pictures, self._answers = pictures, answers

    async def send(self, adapter: Adapter, place: str, panel: Panel, key: str) -> None:
        """Send a panel. ``key`` and the errors are those of `Adapter.send`."""
        try:
            await adapter.send(place, await self._pictures.paint_panel(panel), key)
        except NoPicture as error:
            if error.late:
                self._answers.tasks.start(self._delete_late(adapter, place, error.late))
            await adapter.send(place, replace(panel, picture=None), key)

    async def _delete_late(self, adapter: Adapter, place: str, late_upload: asyncio.Future[str]) -> None:
        if message := await late_upload:
            self._answers.send(place, partial(adapter.delete, place, message))
