"""Rate limits by key, in memory: GCRA, which keeps one time for each key.

Each event falls due one interval after the one before it; a burst may run so many intervals ahead of that.
"""

import time
from collections.abc import Callable, Hashable

from bot.platform import RateLimit

KEYS_REMEMBERED = 50_000
"""Keys of one limiter, at some 150 bytes each; those that have nothing to wait for, or least, are forgotten first."""

EVICTED_PART = 8
"""One part in so many of them is forgotten at once, for to find those takes a look at all."""


class RateLimiter:
    """Counts events by key; ``clock`` is in seconds and never goes back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most_keys: int = KEYS_REMEMBERED) -> None:
        self._clock, self._most = clock, most_keys
        self._due: dict[Hashable, float] = {}

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, key: Hashable, rate_limit: RateLimit) -> float:
        """Seconds until the next event may be; 0 or less if it may be now."""
        if not rate_limit.interval:
            return 0.0
        now = self._clock()
        return max(self._due.get(key, 0.0), now) - (rate_limit.burst - 1) * rate_limit.interval - now

    def take(self, key: Hashable, rate_limit: RateLimit) -> float:
        """Count an event if it may be now. Otherwise the seconds to wait: who waits keeps nobody back."""
        wait = self.wait_seconds(key, rate_limit)
        if wait > 0:
            return wait
        self.count(key, rate_limit)
        return 0.0

    def count(self, key: Hashable, rate_limit: RateLimit) -> None:
        """Count an event that may be now."""
        if rate_limit.interval:
            self._due[key] = max(self._due.get(key, 0.0), self._clock()) + rate_limit.interval
            if len(self._due) > self._most:
                self._evict()

    def refund(self, key: Hashable, rate_limit: RateLimit) -> None:
        """What was taken last does not count."""
        if key in self._due:
            self._due[key] -= rate_limit.interval

    def _evict(self) -> None:
        """Forget those whose events fall due first: whoever comes with ever more keys pays off nobody's debt."""
        for key in sorted(self._due, key=self._due.__getitem__)[: -(-self._most // EVICTED_PART)]:
            del self._due[key]
