"""An event loop with a clock that runs ahead while the loop is idle, so hours pass in seconds.

While there is work, its clock runs in real time. The store and other clocks always run in real time.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from functools import partial
from typing import Any

import pytest

from bot.delivery.shared_pace import SharedPace
from bot.rate_limiter import RateLimit
from bot.store import store

IDLE_SECONDS = 0.004  # time without input after which the loop is idle; the store answers sooner
LEAP_SECONDS = 1.0  # length of one leap of the loop's clock


class _LeapingSelector(selectors.DefaultSelector):
    skipped_seconds = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= IDLE_SECONDS:
            return super().select(timeout)
        events = super().select(IDLE_SECONDS)
        if not events:
            self.skipped_seconds += min(timeout - IDLE_SECONDS, LEAP_SECONDS)
        return events


class FastLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _LeapingSelector()
        super().__init__(self._clock)

    def time(self) -> float:
        return super().time() + self._clock.skipped_seconds


async def _take_without_delay(_pace: SharedPace, _chat: str, _rate_limit: RateLimit) -> float:
    return 0.0


def run_fast(test: Coroutine[Any, Any, None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test on a fast loop. The store has no deadlines, because it runs in real time."""
    monkeypatch.setattr(store, "connect", partial(store.connect, answer_seconds=36_000.0))
    monkeypatch.setattr(store, "COMMIT_SECONDS", 36_000.0)
    # The shared pace uses the store's real clock, so it would block a chat for hours of this loop's clock.
    monkeypatch.setattr(SharedPace, "take", _take_without_delay)
    with asyncio.Runner(loop_factory=FastLoop) as runner:
        runner.run(test)
