"""Few log lines of a kind, however often strangers cause them."""

from collections import Counter

from bot.platform import RateLimit
from bot.ratelimit import RateLimiter

LINES = RateLimit(burst=5, interval=60.0)
"""How many lines of one kind are logged at once, and then one a minute."""


class Throttle:
    """Lets some lines of each kind through and counts the others."""

    def __init__(self, limit: RateLimit = LINES) -> None:
        self._limit, self._limiter = limit, RateLimiter()
        self._left_out: Counter[str] = Counter()

    def take(self, kind: str) -> int | None:
        """Return how many lines of this kind were left out before this one; None to leave this one out, too."""
        if self._limiter.take(kind, self._limit) > 0:
            self._left_out[kind] += 1
            return None
        return self._left_out.pop(kind, 0)
