"""Discord bans an address for a while that made 10,000 invalid requests in ten minutes; the bot stays far from it."""

import time
from collections import deque

import structlog

from bot.platform import SlowDown

MAX_REFUSALS, WINDOW_SECONDS = 1000, 600.0
"""Refused requests, and the seconds in which they count."""

COUNTED_STATUSES = (401, 403)
"""Statuses that count, beside 429: those the library waits for by itself, and tells of in its log alone."""

log = structlog.get_logger()


class Budget:
    """Counts what Discord refused."""

    def __init__(self, most: int = MAX_REFUSALS) -> None:
        self._most = most
        self._refused: deque[float] = deque()

    def count_rate_limit(self) -> None:
        """A request was answered with 429, and the library waits."""
        self._count()

    def count_refusal(self, status: int) -> None:
        """A request was answered with an error."""
        if status in COUNTED_STATUSES:
            self._count()

    def _count(self) -> None:
        self._refused.append(time.monotonic())
        if len(self._refused) == self._most:
            log.error("discord_refuses", requests=self._most, why="too many: sending rests for a while")

    def check(self) -> None:
        """SlowDown if too many requests were refused of late."""
        if not self._refused:
            return
        now = time.monotonic()
        while self._refused and self._refused[0] < now - WINDOW_SECONDS:
            self._refused.popleft()
        if len(self._refused) >= self._most:
            raise SlowDown(self._refused[0] + WINDOW_SECONDS - now + 1)
