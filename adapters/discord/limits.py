"""Discord's limits: the rates of messages, edits and requests, refused requests, and the sizes of messages.

Delivery paces each place by `BOARD_LIMIT` or `PRIVATE_LIMIT`, and all places together by `REQUESTS_PER_SECOND`
(`bot.delivery.send_limiter`). Answers to interactions have no rate limit. After a 429 the library waits and retries.
For a wait longer than `LONGEST_WAIT_SECONDS`, `adapters.discord.errors` raises `SlowDown`, and delivery waits instead.
"""

import time
from collections import deque

import structlog

from bot.platform import SlowDown
from bot.rate_limiter import RateLimit

# Discord accepts five edits in five seconds per channel. A board that changes less often is easier to read.
BOARD_LIMIT = RateLimit(burst=2, interval=3.0)
PRIVATE_LIMIT = RateLimit(burst=5, interval=1.0)
REQUESTS_PER_SECOND = 45  # Discord accepts fifty from a bot; answers to interactions do not count

LONGEST_WAIT_SECONDS = 30.0  # longest wait of the library after a 429
RATE_LIMIT_SECONDS = 5.0  # pause after a 429 that names no wait
OPEN_CHAT_SECONDS = 60.0  # pause after too many new private chats
TOKEN_SECONDS = 14.5 * 60  # Discord accepts an interaction's token for 15 minutes

MAX_COMPONENTS, MAX_IN_ROW = 40, 5  # components of a message; buttons of a row
LONGEST_TEXT, LONGEST_LABEL, LONGEST_DESCRIPTION = 4000, 80, 1024  # characters of a message, a button, a picture's text
LONGEST_NONCE = 25  # characters
LONGEST_TITLE, LONGEST_FIELD, LONGEST_OPTION = 45, 45, 100  # characters of a form's title, its labels and its options
MAX_CHOICES, LONGEST_CHOICE = 25, 100  # completions of an argument, and their characters

# Discord bans an address for 10,000 invalid requests in ten minutes.
MAX_REFUSALS, WINDOW_SECONDS = 1000, 600.0
COUNTED_STATUSES = (401, 403)  # 429 counts too: `library_log` reports it, because the library retries

log = structlog.get_logger()


class RefusalBudget:
    """The requests that Discord refused recently. After too many of them all requests pause."""

    def __init__(self, limit: int = MAX_REFUSALS) -> None:
        self._limit = limit
        self._refusal_times: deque[float] = deque()

    def count(self) -> None:
        self._refusal_times.append(time.monotonic())
        if len(self._refusal_times) == self._limit:
            log.error("discord_requests_paused", requests=self._limit, why="Discord refused too many requests")

    def check(self) -> None:
        """Raise SlowDown if too many recent requests were refused."""
        if not self._refusal_times:
            return
        now = time.monotonic()
        while self._refusal_times and self._refusal_times[0] < now - WINDOW_SECONDS:
            self._refusal_times.popleft()
        if len(self._refusal_times) >= self._limit:
            raise SlowDown(self._refusal_times[0] + WINDOW_SECONDS - now + 1)
