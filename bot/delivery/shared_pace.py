"""The pace of chats for all workers. It is kept in the store, so a restart does not forget recent messages."""

from collections.abc import Callable
from typing import Any

from cachetools import LRUCache

from bot.rate_limiter import RateLimit, RateLimiter
from bot.store import STORE_ERRORS, keys
from bot.store.batch import BatchedScript
from bot.store.lua import read_script

CHATS_CACHED = 10_000
TAKE = read_script(__file__, "pace")


class SharedPace:
    """Counts messages to chats for all workers.

    During an outage of the store, each worker has only its own count, without a burst. After the outage, it adds that
    count to the store's with the chat's next message.
    """

    def __init__(self, client: Any, on_store_error: Callable[[Exception], object]) -> None:
        self._take = BatchedScript(client, TAKE)
        self._on_store_error = on_store_error
        self._outage_turns = RateLimiter(max_keys=CHATS_CACHED)
        self._uncounted: LRUCache[str, int] = LRUCache(CHATS_CACHED)  # messages to chats during an outage

    async def take(self, chat: str, rate_limit: RateLimit) -> float:
        """Count a message if the chat's limit allows it now. Otherwise return the seconds to wait."""
        uncounted, interval = self._uncounted.pop(chat, 0), round(1000 * rate_limit.interval)
        try:
            milliseconds = await self._take([keys.pace(chat)], [rate_limit.burst, interval, uncounted])
        except STORE_ERRORS as error:
            self._on_store_error(error)
            wait = self._outage_turns.take(chat, rate_limit._replace(burst=1))
            # Another message can have failed in the meantime.
            self._uncounted[chat] = self._uncounted.get(chat, 0) + uncounted + (wait <= 0)
            return wait
        return int(milliseconds) / 1000
