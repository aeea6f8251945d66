"""Long polling: one worker asks Telegram for what has happened."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from telegram import Bot, Update
from telegram.error import Conflict, RetryAfter, TelegramError

from adapters.telegram.faults import seconds, why

POLL_SECONDS = 30
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0

LISTENING_TO = [Update.MESSAGE, Update.CALLBACK_QUERY, Update.MY_CHAT_MEMBER]
"""The kinds of updates that the bot has a use for."""

Hear = Callable[[Update], Awaitable[None]]

log = structlog.get_logger()


class Polling:
    """Fetches updates and has each heard by a task of its own. ``hears`` while Telegram answers."""

    def __init__(self, bot: Bot, hear: Hear) -> None:
        self._bot, self._hear = bot, hear
        self._busy: set[asyncio.Task[None]] = set()
        self._offset = 0
        self.hears = False

    async def run(self) -> None:
        """Poll until cancelled; what has come in is heard before it returns."""
        pause = FIRST_PAUSE
        try:
            while True:
                try:
                    # At first, and after trouble, at once: whether Telegram answers should not take a long poll to see.
                    seconds_to_wait = POLL_SECONDS if self.hears else 0
                    updates = await self._bot.get_updates(
                        offset=self._offset, timeout=seconds_to_wait, allowed_updates=LISTENING_TO
                    )
                    self.hears, pause = True, FIRST_PAUSE
                except (TelegramError, OSError) as error:
                    self.hears = False
                    await self._waited_for(error, pause)
                    pause = min(2 * pause, LONGEST_PAUSE)
                    continue
                if updates:
                    # Of this batch: after a quiet week Telegram begins anew anywhere.
                    self._offset = max(update.update_id for update in updates) + 1
                for update in updates:
                    task = asyncio.ensure_future(self._hear(update))
                    self._busy.add(task)
                    task.add_done_callback(self._busy.discard)
        finally:
            self.hears = False
            await self._end()

    async def _waited_for(self, error: Exception, pause: float) -> None:
        hint = why(error)
        if isinstance(error, Conflict) and "webhook" in error.message.lower():
            # BUONGIOCO_TELEGRAM_WEBHOOK_URL has been taken out of the settings.
            log.warning("telegram_webhook_removed", why="this bot polls")
            with suppress(TelegramError):
                await self._bot.delete_webhook()
                return
        elif isinstance(error, Conflict):
            hint = "another bot polls with this token"
        log.warning("telegram_away", why=hint, again_in=pause)
        await asyncio.sleep(seconds(error) if isinstance(error, RetryAfter) else pause)

    async def _end(self) -> None:
        if self._busy:
            await asyncio.wait(self._busy, timeout=2.0)
        # So that Telegram does not deliver again what has been answered.
        with suppress(TelegramError, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._bot.get_updates(offset=self._offset, limit=1, timeout=0)
