"""Processes that work for the bot, so that its event loop never waits for what takes long."""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import TypeVar

import structlog

TRIES = 3
"""How often work is given to a process, where each dies of it."""

T = TypeVar("T")

log = structlog.get_logger()


def _live_and_die_with_the_bot(niceness: int) -> None:
    """A worker outlives neither its bot nor, before it, a Ctrl-C in the terminal they share."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(niceness)
    parent = multiprocessing.parent_process()
    if parent is not None:
        sentinel = parent.sentinel

        def watch() -> None:
            wait([sentinel])
            os._exit(1)

        threading.Thread(target=watch, daemon=True).start()


class Processes:
    """Some processes, started when they are first needed; one that dies is replaced and its work done again."""

    def __init__(self, name: str, count: int, niceness: int = 0) -> None:
        """``name`` is what the log calls them, ``niceness`` how much they give way to others."""
        self.name, self.count, self._niceness = name, count, niceness
        self._pool: ProcessPoolExecutor | None = None
        self._is_killed = False
        self.waiting = 0
        """How much work is under way, or waits."""

    async def do(self, work: Callable[..., T], *about: object) -> T:
        """Have one of them do some work; BrokenProcessPool when processes cannot be had."""
        self.waiting += 1
        try:
            for attempt in range(1, TRIES + 1):
                pool = self._running()
                try:
                    # Shielded: one that is cancelled keeps Python 3.11 from failing the others when the process dies
                    # (gh-107219), and they would wait for ever.
                    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(pool, work, *about))
                except BrokenProcessPool:
                    if self._is_killed:
                        raise
                    log.warning("process_died", of=self.name)
                    if self._pool is pool:
                        self._pool = None
                    if attempt == TRIES:
                        raise
            raise AssertionError
        finally:
            self.waiting -= 1

    def kill(self) -> None:
        """End them for good, whatever they do: after `stop` Python waits for that, and for one that only starts."""
        self._is_killed = True
        processes = list(self._pool._processes.values()) if self._pool else []
        self.stop()
        for process in processes:
            process.kill()

    def stop(self) -> None:
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _running(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self.count,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_live_and_die_with_the_bot,
                initargs=(self._niceness,),
            )
        return self._pool
