"""In-memory rate limits by key with GCRA, which stores one time for each key.

Each event is due one interval after the one before it. With a burst of n, it can come n - 1 intervals early.
"""

import time
from collections import Counter
from collections.abc import Callable, Hashable
from typing import NamedTuple

KEYS_REMEMBERED = 50_000  # keys of one limiter, about 150 bytes each. Keys with the shortest waits are evicted first.
EVICTED_PART = 8  # evict one key in this many at once, because finding them scans all keys


class RateLimit(NamedTuple):
    """``burst`` events at once, then one every ``interval`` seconds. ``per_chat``: a chat's parts share the limit."""

    burst: int = 1
    interval: float = 0.0
    per_chat: bool = False


LOG_LINES = RateLimit(burst=5, interval=60.0)


class RateLimiter:
    """Counts events by key; ``clock`` is in seconds and monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, max_keys: int = KEYS_REMEMBERED) -> None:
        self._clock, self._max_keys = clock, max_keys
        self._due: dict[Hashable, float] = {}

    def __len__(self) -> int:
        return len(self._due)

    def wait_seconds(self, key: Hashable, rate_limit: RateLimit) -> float:
        """Return the seconds until the next event is allowed; 0 or less if it is allowed now."""
        if not rate_limit.interval:
            return 0.0
        now = self._clock()
        return max(self._due.get(key, 0.0), now) - (rate_limit.burst - 1) * rate_limit.interval - now

    def take(self, key: Hashable, rate_limit: RateLimit) -> float:
        """Count an event if it is allowed and return 0. Otherwise return the wait, and count nothing."""
        wait = self.wait_seconds(key, rate_limit)
        if wait > 0:
            return wait
        self.count(key, rate_limit)
        return 0.0

    def count(self, key: Hashable, rate_limit: RateLimit) -> None:
        if rate_limit.interval:
            self._due[key] = max(self._due.get(key, 0.0), self._clock()) + rate_limit.interval
            if len(self._due) > self._max_keys:
                self._evict()

    def refund(self, key: Hashable, rate_limit: RateLimit) -> None:
        if key in self._due:
            self._due[key] -= rate_limit.interval

    def _evict(self) -> None:
        """Evict the keys with the earliest due events, so that a flood of new keys cannot reset a limit."""
        for key in sorted(self._due, key=self._due.__getitem__)[: -(-self._max_keys // EVICTED_PART)]:
            del self._due[key]


class LogLimiter:
    """Limits log lines that strangers can cause: some lines of each kind are logged, the others are counted."""

    def __init__(self) -> None:
        self._limiter = RateLimiter()
        self._dropped: Counter[str] = Counter()

    def take(self, kind: str) -> int | None:
        """Return how many lines of this kind were dropped before this one; None to drop this one."""
        if self._limiter.take(kind, LOG_LINES) > 0:
            self._dropped[kind] += 1
            return None
        return self._dropped.pop(kind, 0)
