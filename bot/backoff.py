"""Pauses between tries of what fails."""

import random

JITTER = 0.2
"""So much shorter or longer a pause is at random, as a share of it: those who failed together do not come together."""


class Backoff:
    """Pauses in seconds: from ``first``, each twice the one before, up to ``longest``."""

    def __init__(self, first: float, longest: float) -> None:
        self.first, self.longest = first, longest
        self.reset()

    def reset(self) -> None:
        """It went well: the next pause is the first again."""
        self._next = self.first

    def next_pause(self) -> float:
        """The next pause."""
        pause, self._next = self._next, min(2 * self._next, self.longest)
        return pause * random.uniform(1 - JITTER, 1 + JITTER)
