"""Robots think in processes of their own, so that the event loop never waits for them."""

import asyncio
import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from random import Random

import structlog

from engine import View
from engine.game import MoveEntry
from engine.robots import LEVELS

log = structlog.get_logger()

TRIES = 3


def _live_and_die_with_the_bot() -> None:
    """A worker outlives neither its bot nor, before it, a Ctrl-C in the terminal they share."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def watch() -> None:
            wait([sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


def choose(level: str, view: View, history: Sequence[MoveEntry], seed: int) -> str | None:
    """A robot's choice, by a seat's view and what it saw; the same seed gives the same choice."""
    return LEVELS[level](Random(seed)).choose(view, history)


class Thinkers:
    """The worker processes. One that dies is replaced, and the move still comes."""

    def __init__(self, workers: int | None = None) -> None:
        """``workers`` is how many processes; by default all cores but the event loop's, four at most."""
        self._workers = workers or min(4, max(1, (os.cpu_count() or 2) - 1))
        self._pool: ProcessPoolExecutor | None = None

    async def move(self, level: str, view: View, history: Sequence[MoveEntry]) -> str | None:
        """What a robot of this level plays; None to let an out-of-turn moment pass."""
        seed = secrets.randbits(64)
        for _ in range(TRIES):
            try:
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._running(), choose, level, view, history, seed)
            except BrokenProcessPool:
                log.warning("thinker_died")
                self._pool = None
        # Processes cannot be had; a simple robot's thought is short enough to be had here.
        return choose(level, view, history, seed)

    def stop(self) -> None:
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _running(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_live_and_die_with_the_bot,
            )
        return self._pool
