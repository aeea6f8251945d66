"""Limits on log lines that strangers can cause."""

from collections import Counter

from bot.platform import RateLimit
from bot.ratelimit import RateLimiter

LINES = RateLimit(burst=5, interval=60.0)  # lines of a kind: five at once, then one a minute


class Throttle:
    """Passes some lines of each kind and counts the others."""

    def __init__(self, limit: RateLimit = LINES) -> None:
        self._limit, self._limiter = limit, RateLimiter()
        self._left_out: Counter[str] = Counter()

    def take(self, kind: str) -> int | None:
        """Return how many lines of this kind were dropped before this one; None to drop this one."""
        if self._limiter.take(kind, self._limit) > 0:
            self._left_out[kind] += 1
            return None
        return self._left_out.pop(kind, 0)
