"""Growing pauses between retries."""

import random

JITTER = 0.2  # random part of a pause, as a share of its length: clients that failed together do not retry together


class Backoff:
    """Pauses in seconds: the first is about ``first``, each later one about twice as long, up to about ``longest``."""

    def __init__(self, first: float, longest: float) -> None:
        self.first, self.longest = first, longest
        self.reset()

    def reset(self) -> None:
        self._next = self.first

    def next_pause(self) -> float:
        pause, self._next = self._next, min(2 * self._next, self.longest)
        return pause * random.uniform(1 - JITTER, 1 + JITTER)
