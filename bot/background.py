"""Loops that run beside everything else, as long as the worker does."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import structlog

RESTART_SECONDS = 1.0
"""After how many seconds a loop that broke is started again."""

STEADY_SECONDS = 10.0
"""A loop that has run for so long again counts as mended; longer than any of them sleeps between two rounds."""

Loop = Callable[[], Coroutine[Any, Any, None]]

log = structlog.get_logger()


class Loops:
    """Loops that are started again when a fault ends them."""

    def __init__(self) -> None:
        self.failing: set[str] = set()
        """The names of those that broke a short while ago."""

    def start(self, name: str, loop: Loop) -> "asyncio.Task[None]":
        """Run a loop until cancelled, or until it returns."""
        return asyncio.create_task(self._supervise(name, loop), name=name)

    async def _supervise(self, name: str, loop: Loop) -> None:
        while True:
            steady = asyncio.get_running_loop().call_later(STEADY_SECONDS, self.failing.discard, name)
            try:
                return await loop()
            except Exception:
                self.failing.add(name)
                log.exception("background_loop_failed", loop=name, again_in=RESTART_SECONDS)
            finally:
                steady.cancel()
            await asyncio.sleep(RESTART_SECONDS)
