"""The pace of chats for all workers. It is kept in the store, so a restart does not forget recent messages."""

from collections.abc import Callable
from typing import Any

from bot.rate_limiter import RateLimit
from bot.store import STORE_ERRORS, keys
from bot.store.batch import BatchedScript
from bot.store.lua import read_script

TAKE = read_script(__file__, "pace")


class SharedPace:
    """Counts messages to chats for all workers. During an outage of the store, each worker has only its own count."""

    def __init__(self, client: Any, on_store_error: Callable[[Exception], object]) -> None:
        self._take = BatchedScript(client, TAKE)
        self._on_store_error = on_store_error

    async def take(self, chat: str, rate_limit: RateLimit) -> float:
        """Count a message if the chat's limit allows it now. Otherwise return the seconds to wait."""
        try:
            milliseconds = await self._take([keys.pace(chat)], [rate_limit.burst, round(1000 * rate_limit.interval)])
        except STORE_ERRORS as error:
            self._on_store_error(error)
            return 0.0
        return int(milliseconds) / 1000
