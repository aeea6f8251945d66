"""Long polling: one worker asks Telegram for what has happened.

An update is confirmed once what it asks for is done, by the offset of the next question: a bot that is killed before
gets it again. Answers to commands wait for their turn after that: a kill may lose an answer, never a move. Telegram
confirms from the front only, and brings what is not confirmed with every answer, a hundred at most. So while an update
is being answered, those behind it come again and are known again, and questions are asked apart; and one that takes
too long is confirmed all the same once it hides what comes behind the hundred. One that cannot be done though the store
is there has been logged with its error, and is confirmed: it would end the same each time.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any

import structlog
from telegram import Bot, Update
from telegram.error import Conflict, InvalidToken, RetryAfter, TelegramError

from adapters.telegram.errors import LIBRARY_ERRORS, error_name, slow_down_error
from adapters.telegram.reading import PLATFORM
from adapters.telegram.transport import InvalidAnswer
from adapters.telegram.updates import update_of
from bot.backoff import Backoff
from bot.store import WorkDropped

POLL_SECONDS = 30
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0

BUSY_PAUSE = 0.02
"""Seconds between two questions while something is being answered: most is answered by then."""

SAME_OFFSET_SECONDS = 0.55
"""Of a question that is asked again within half a second Telegram answers no more than the first update, whatever has
come since (tdlib/telegram-bot-api, ``Client::process_get_updates_query``). The rest is for the way there.
"""

BATCH = 100
"""Updates that Telegram brings at a time."""

STUCK_SECONDS = 10.0
"""Seconds after which an update may be confirmed that has not been answered, where it hides others."""

ALLOWED_UPDATES = [
    Update.MESSAGE,
    Update.CALLBACK_QUERY,
    Update.INLINE_QUERY,
    Update.CHOSEN_INLINE_RESULT,
    Update.MY_CHAT_MEMBER,
]
"""The kinds of updates that the bot has a use for."""

HandleUpdate = Callable[[Update], Coroutine[Any, Any, None]]
"""Does what an update asks for. It raises `WorkDropped` for one that is not to be confirmed yet, and nothing else."""

log = structlog.get_logger()


class Polling:
    """Fetches updates and has each heard by a task of its own. ``hears`` while Telegram answers; ``away`` is told where
    it does not, and why.
    """

    def __init__(self, bot: Bot, hear: HandleUpdate, away: Callable[[str, str], None]) -> None:
        self._bot, self._handle, self._away = bot, hear, away
        self._busy: dict[int, asyncio.Task[None]] = {}
        self._since: dict[int, float] = {}
        """When the updates came, on the loop's clock, that Telegram may bring again."""
        self._next = self._asked = 0
        self._asked_at = 0.0
        """When Telegram was last asked, on the loop's clock, and from which update on."""
        self.is_receiving = False

    @property
    def _offset(self) -> int:
        """The first update that has not been answered."""
        open_ones = (number for number, task in self._busy.items() if number in self._since and not task.done())
        return min(open_ones, default=self._next)

    async def run(self) -> None:
        """Poll until cancelled, or until InvalidToken; what has come in is heard before it returns."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        try:
            while True:
                try:
                    # At first, and after trouble, at once: whether Telegram answers should not take a long poll to see.
                    found = await self._fetch(POLL_SECONDS if self.is_receiving else 0)
                    self.is_receiving = True
                    backoff.reset()
                except InvalidToken:
                    raise
                except LIBRARY_ERRORS as error:
                    self.is_receiving = False
                    await self._wait_out(error, backoff.next_pause())
                    continue
                self._start(found)
                await self._wait(found)
        finally:
            self.is_receiving = False
            await self._finish()

    async def _fetch(self, patience: int, limit: int = BATCH) -> list[Any]:
        """What Telegram has that is not confirmed, as it came; confirms what has been answered."""
        self._asked = offset = self._offset
        self._asked_at = asyncio.get_running_loop().time()
        asked = {"offset": offset, "timeout": patience, "limit": limit, "allowed_updates": ALLOWED_UPDATES}
        # Not `get_updates`, which gives nothing of a batch if there is one update in it that it cannot read.
        found: Any = await self._bot._post("getUpdates", asked)
        if not isinstance(found, list):
            raise InvalidAnswer("updates that are no list")
        self._since = {number: at for number, at in self._since.items() if number >= offset}
        return found

    def _start(self, found: list[Any]) -> None:
        """Have everything heard that has not come before."""
        updates = {number: one for one in found if isinstance(number := _field(one, "update_id"), int)}
        if len(updates) < len(found):
            log.warning("telegram_update_unreadable", why="it has no number")
        if updates:
            # Of those that Telegram may still bring: after a quiet week it begins anew anywhere.
            self._next = max([*updates, *self._since]) + 1
        new = {number: one for number, one in updates.items() if number not in self._since}
        for number, one in new.items():
            self._since[number] = asyncio.get_running_loop().time()
            try:
                update = update_of(one, self._bot)
            except LIBRARY_ERRORS as error:
                log.warning("telegram_update_unreadable", update=number, why=error_name(error))
                continue
            self._busy[number] = asyncio.create_task(self._handle_with_retries(number, update))
            self._busy[number].add_done_callback(partial(self._forget_task, number))
        if not new and len(updates) >= BATCH:
            self._confirm_stuck()

    async def _handle_with_retries(self, number: int, update: Update) -> None:
        """Have an update heard; again and again where too much waits, as long as Telegram would bring it again."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                return await self._handle(update)
            except WorkDropped:
                await asyncio.sleep(backoff.next_pause())
            if number not in self._since:
                log.error("telegram_update_lost", update=number, why="too much waits for the store")
                return None

    def _forget_task(self, number: int, task: asyncio.Task[None]) -> None:
        if self._busy.get(number) is task:
            del self._busy[number]

    def _confirm_stuck(self) -> None:
        """Confirm the first update though it has not been answered, if that has taken long already."""
        first = self._offset
        if asyncio.get_running_loop().time() - self._since.get(first, math.inf) > STUCK_SECONDS:
            log.warning("telegram_update_late", update=first)
            del self._since[first]

    async def _wait(self, found: list[Any]) -> None:
        """Wait where Telegram would bring the same again at once, until there is more to confirm."""
        if self._busy:
            await asyncio.wait(self._busy.values(), timeout=BUSY_PAUSE)
        offset, left = self._offset, self._asked_at + SAME_OFFSET_SECONDS - asyncio.get_running_loop().time()
        if offset != self._asked or left <= 0:
            return
        if first := self._busy.get(offset):
            await asyncio.wait([first], timeout=left)
        elif found:
            await asyncio.sleep(left)

    async def _wait_out(self, error: Exception, pause: float) -> None:
        hint = error_name(error)
        if isinstance(error, Conflict) and "webhook" in error.message.lower():
            # BUONGIOCO_TELEGRAM_WEBHOOK_URL has been taken out of the settings.
            log.warning("telegram_webhook_removed", why="this bot polls")
            with suppress(TelegramError):
                await self._bot.delete_webhook()
                return
        elif isinstance(error, Conflict):
            hint = "another bot polls with this token"
        self._away(PLATFORM, hint)
        await asyncio.sleep(slow_down_error(error).seconds if isinstance(error, RetryAfter) else pause)

    async def _finish(self) -> None:
        if self._busy:
            await asyncio.wait(self._busy.values(), timeout=2.0)
        # So that Telegram does not deliver again what has been answered.
        with suppress(*LIBRARY_ERRORS, TimeoutError):
            async with asyncio.timeout(1.0):
                await self._fetch(0, limit=1)


def _field(one: Any, name: str) -> Any:
    return one.get(name) if isinstance(one, dict) else None
