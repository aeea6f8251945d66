"""Growing pauses between retries."""

import random

JITTER = 0.2  # random part of a pause, as a share of its length: clients that failed together do not retry together


class Backoff:
    """Pauses that double from about ``first_seconds`` to about ``max_seconds``."""

    def __init__(self, first_seconds: float, max_seconds: float) -> None:
        self._first, self._max = first_seconds, max_seconds
        self.reset()

    def reset(self) -> None:
        self._next = self._first

    def next_pause(self) -> float:
        pause, self._next = self._next, min(2 * self._next, self._max)
        return pause * random.uniform(1 - JITTER, 1 + JITTER)
