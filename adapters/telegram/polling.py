"""Long polling: one worker asks Telegram for updates.

The offset of each request is the id of the first unhandled update. This confirms all earlier updates. After a kill,
Telegram sends the unconfirmed ones again. Answers to commands are sent later, so a kill can lose an answer but never a
move.

Each response repeats the unconfirmed updates, a hundred at most. While an update is handled, later ones come again:
they are recognised, and requests are paced. If unconfirmed updates fill a response, they hide newer ones, so an update
that takes too long is confirmed anyway. An update that fails although the store works is logged with its error and
confirmed, because it would fail each time.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import structlog
from telegram import Bot, Update
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.errors import LIBRARY_ERRORS, error_name
from adapters.telegram.limits import MAX_UPDATES, slow_down_error
from adapters.telegram.raw_updates import build_update
from adapters.telegram.reading import PLATFORM
from adapters.telegram.transport import InvalidAnswer
from bot.concurrency.backoff import Backoff
from bot.settings import Settings
from bot.store import WorkDropped

POLL_SECONDS = 30
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0

BUSY_PAUSE = 0.02  # pause between requests while updates are handled; most updates take less time

SAME_OFFSET_SECONDS = 0.55
"""Pause before a repeated offset. Within 0.5 s Telegram would return only the first update (tdlib/telegram-bot-api,
``Client::process_get_updates_query``). The other 0.05 s are for latency.
"""

STUCK_SECONDS = 10.0  # time after which an unhandled update that hides others is confirmed

ALLOWED_UPDATES = [
    Update.MESSAGE,
    Update.CALLBACK_QUERY,
    Update.INLINE_QUERY,
    Update.CHOSEN_INLINE_RESULT,
    Update.GUEST_MESSAGE,
    Update.MY_CHAT_MEMBER,
]


def update_kinds(settings: Settings) -> list[str]:
    """Return the kinds of updates that the bot wants."""
    return [*ALLOWED_UPDATES, *(["widget_query"] if settings.telegram_widgets else [])]


HandleUpdate = Callable[[Update], Coroutine[Any, Any, None]]
"""Handles an update. It raises only `WorkDropped`, if the update must not be confirmed yet."""

log = structlog.get_logger()


class Polling:
    """Fetches updates and handles each in its own task. ``is_receiving`` is true while Telegram answers."""

    def __init__(
        self,
        bot: Bot,
        handle: HandleUpdate,
        report_outage: Callable[[str, str], None],
        kinds: Sequence[str] = ALLOWED_UPDATES,
    ) -> None:
        """``kinds`` are the kinds of updates that the bot wants."""
        self._bot, self._handle, self._report_outage, self._kinds = bot, handle, report_outage, list(kinds)
        self._busy: dict[int, asyncio.Task[None]] = {}
        self._arrived_at: dict[int, float] = {}  # loop time at which unconfirmed updates first arrived, by id
        self._next = 0  # id after the latest update
        self._last_offset = 0  # offset of the last request
        self._requested_at = 0.0  # loop time of the last request
        self.is_receiving = False

    @property
    def _offset(self) -> int:
        """The id of the first update that is not handled yet."""
        unhandled = (number for number, task in self._busy.items() if number in self._arrived_at and not task.done())
        return min(unhandled, default=self._next)

    async def run(self) -> None:
        """Poll until cancelled; raise InvalidToken if Telegram refuses the token.

        When cancelled, updates in progress get a moment to finish.
        """
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        try:
            while True:
                try:
                    # The first request, and each after an error, returns at once, to check whether Telegram answers.
                    updates = await self._fetch(POLL_SECONDS if self.is_receiving else 0)
                    self.is_receiving = True
                    backoff.reset()
                except InvalidToken:
                    raise
                except LIBRARY_ERRORS as error:
                    self.is_receiving = False
                    await self._wait_out(error, backoff.next_pause())
                    continue
                self._start(updates)
                await self._wait(is_empty=not updates)
        finally:
            self.is_receiving = False
            if self._busy:
                await asyncio.wait(self._busy.values(), timeout=2.0)
            # Confirm handled updates, so that Telegram does not deliver them again.
            with suppress(*LIBRARY_ERRORS, TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._fetch(0, limit=1)

    async def _fetch(self, timeout: int, limit: int = MAX_UPDATES) -> list[Any]:
        """Confirm the handled updates, and return the others as raw JSON."""
        self._last_offset = offset = self._offset
        self._requested_at = asyncio.get_running_loop().time()
        fields = {"offset": offset, "timeout": timeout, "limit": limit, "allowed_updates": self._kinds}
        # Do not use `get_updates`, which fails for the whole batch if one update cannot be read.
        updates: Any = await self._bot._post("getUpdates", fields)
        if not isinstance(updates, list):
            raise InvalidAnswer("updates are not a list")
        self._arrived_at = {number: arrived_at for number, arrived_at in self._arrived_at.items() if number >= offset}
        return updates

    def _start(self, raw_updates: list[Any]) -> None:
        updates = {
            raw["update_id"]: raw
            for raw in raw_updates
            if isinstance(raw, dict) and isinstance(raw.get("update_id"), int)
        }
        if len(updates) < len(raw_updates):
            log.warning("telegram_update_unreadable", why="no update_id")
        if updates:
            # Ignore the old `_next`: after a week without updates Telegram continues at a random id, which can be
            # lower.
            self._next = max([*updates, *self._arrived_at]) + 1
        new_updates = {number: raw for number, raw in updates.items() if number not in self._arrived_at}
        for number, raw in new_updates.items():
            self._arrived_at[number] = asyncio.get_running_loop().time()
            try:
                update = build_update(raw, self._bot)
            except LIBRARY_ERRORS as error:
                log.warning("telegram_update_unreadable", update=number, why=error_name(error))
                continue
            self._busy[number] = asyncio.create_task(self._handle_with_retries(number, update))
            self._busy[number].add_done_callback(partial(self._forget_task, number))
        if not new_updates and len(updates) >= MAX_UPDATES:
            # Unhandled updates fill the response and hide newer ones.
            first = self._offset
            if asyncio.get_running_loop().time() - self._arrived_at.get(first, math.inf) > STUCK_SECONDS:
                log.warning("telegram_update_confirmed_early", update=first)
                del self._arrived_at[first]

    async def _handle_with_retries(self, number: int, update: Update) -> None:
        """Handle an update. While the queue is full, retry as long as the update is unconfirmed."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                return await self._handle(update)
            except WorkDropped:
                await asyncio.sleep(backoff.next_pause())
            if number not in self._arrived_at:
                log.error("telegram_update_lost", update=number, why="too many updates are waiting for the store")
                return None

    def _forget_task(self, number: int, task: asyncio.Task[None]) -> None:
        if self._busy.get(number) is task:
            del self._busy[number]

    async def _wait(self, *, is_empty: bool) -> None:
        """Wait until there is more to confirm, if Telegram would repeat the same updates at once."""
        if self._busy:
            await asyncio.wait(self._busy.values(), timeout=BUSY_PAUSE)
        offset = self._offset
        pause = self._requested_at + SAME_OFFSET_SECONDS - asyncio.get_running_loop().time()
        if offset != self._last_offset or pause <= 0:
            return
        if first := self._busy.get(offset):
            await asyncio.wait([first], timeout=pause)
        elif not is_empty:
            await asyncio.sleep(pause)

    async def _wait_out(self, error: Exception, pause: float) -> None:
        reason = error_name(error)
        if isinstance(error, Conflict) and "webhook" in error.message.lower():
            # The host has removed BUONGIOCO_TELEGRAM_WEBHOOK_URL.
            log.warning("telegram_webhook_removed", why="BUONGIOCO_TELEGRAM_WEBHOOK_URL is not set")
            with suppress(TelegramError):
                await self._bot.delete_webhook()
                return
        elif isinstance(error, Conflict):
            reason = "another bot polls with this token: stop it"
        self._report_outage(PLATFORM, reason)
        await asyncio.sleep(slow_down_error(error).seconds if isinstance(error, RetryAfter) else pause)
