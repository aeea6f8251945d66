"""Simulated people in a platform server's process. They press random buttons of their panels.

A press is timed from its arrival at the platform until the presser's own panel changes.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from benchmarks.limits import STALLED, BenchFailed

PressHandler = Callable[[int, str, str], None]  # called with person, message, payload
PanelId = tuple[int, str]  # a person and the message that is their panel of one table


class Crowd:
    """``press`` passes a press to the platform. The platform reports panels with `update_panel`."""

    def __init__(self, press: PressHandler, seed: int = 1) -> None:
        self._press, self._random = press, Random(seed)
        self._ready: dict[PanelId, Sequence[str]] = {}
        self._order: list[PanelId] = []
        self._pressed: dict[PanelId, float] = {}
        self._times: list[float] = []
        self._wake = asyncio.Event()

    @property
    def ready_panels(self) -> int:
        """Number of panels with buttons to press."""
        return len(self._ready)

    def update_panel(self, person: int, message: str, payloads: Sequence[str]) -> None:
        """Record a change of a person's panel. ``payloads`` belong to the buttons that can be pressed."""
        panel = (person, message)
        pressed_at = self._pressed.pop(panel, None)
        if pressed_at is not None:
            self._times.append(time.perf_counter() - pressed_at)
        if payloads:
            if panel not in self._ready:
                self._order.append(panel)
            self._ready[panel] = payloads
        else:
            self._ready.pop(panel, None)
        self._wake.set()

    async def play(self, presses: int, rate: float, at_once: int) -> dict[str, Any]:
        """Make ``presses`` presses, ``rate`` of them per second, or without a pause if ``rate`` is 0.

        At most ``at_once`` are in flight. Return the number of presses, the total time and the time of each press, in
        seconds. Raises BenchFailed if no panel changes for `STALLED` seconds.
        """
        self._times, made_count = [], 0
        start = time.perf_counter()
        progress, last = (0, 0), start
        while made_count < presses:
            if (now := time.perf_counter()) - last > STALLED:
                raise BenchFailed(
                    f"{made_count} of {presses} presses were made, but no panel has changed for {STALLED:g} s: "
                    f"{len(self._pressed)} presses wait, and {self.ready_panels} panels have buttons to press"
                )
            if progress != (made_count, len(self._times)):
                progress, last = (made_count, len(self._times)), now
            due_count = min(presses, int((time.perf_counter() - start) * rate) + 1) if rate else presses
            while made_count < due_count and len(self._pressed) < at_once and self._press_one():
                made_count += 1
            self._wake.clear()
            pause = start + made_count / rate - time.perf_counter() if rate else 0.05
            try:
                async with asyncio.timeout(max(0.001, pause)):
                    await self._wake.wait()
            except TimeoutError:
                continue
        lasted = time.perf_counter() - start
        await asyncio.sleep(2.0 if rate else 0.5)
        return {"presses": made_count, "seconds": lasted, "times": self._times}

    def _press_one(self) -> bool:
        while self._order:
            # Remove a random entry: swap it with the last one.
            index = self._random.randrange(len(self._order))
            self._order[index], self._order[-1] = self._order[-1], self._order[index]
            panel = self._order.pop()
            if payloads := self._ready.pop(panel, ()):
                self._pressed[panel] = time.perf_counter()
                self._press(*panel, self._random.choice(payloads))
                return True
        return False
