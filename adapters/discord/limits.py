"""A limit on refused requests. Discord bans an address for 10,000 invalid requests in ten minutes."""

import time
from collections import deque

import structlog

from bot.platform import SlowDown

MAX_REFUSALS, WINDOW_SECONDS = 1000, 600.0  # refused requests, and the seconds in which they count
COUNTED_STATUSES = (401, 403)  # Statuses that count, together with 429. The library retries a 429 and only logs it.

log = structlog.get_logger()


class Budget:
    def __init__(self, most: int = MAX_REFUSALS) -> None:
        self._most = most
        self._refused: deque[float] = deque()

    def count_rate_limit(self) -> None:
        """Count a request answered with 429. The library waits and retries it."""
        self._count()

    def count_refusal(self, status: int) -> None:
        """Count a request answered with an error status, if that status counts."""
        if status in COUNTED_STATUSES:
            self._count()

    def _count(self) -> None:
        self._refused.append(time.monotonic())
        if len(self._refused) == self._most:
            log.error("discord_requests_paused", requests=self._most, why="Discord refused too many requests")

    def check(self) -> None:
        """Raise SlowDown if too many recent requests were refused."""
        if not self._refused:
            return
        now = time.monotonic()
        while self._refused and self._refused[0] < now - WINDOW_SECONDS:
            self._refused.popleft()
        if len(self._refused) >= self._most:
            raise SlowDown(self._refused[0] + WINDOW_SECONDS - now + 1)
