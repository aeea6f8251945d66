"""Processes that work for the bot, so that its event loop never waits for what takes long."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import socket
import time
from collections import deque
from collections.abc import Callable
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar

import structlog

from bot.process_main import SIZE_BYTES, frame, run_worker

NewProcess = multiprocessing.get_context("spawn").Process
"""How one is made: afresh, for a copy of the bot would have its memory and its connections."""

TRIES = 3
"""How often work is given to a process, where each dies of it."""

REAPING_SECONDS = 1.0
"""How long `Processes.stop` waits at most until the killed processes are gone."""

PIPELINED = 2
"""How much work a process is given at a time that is the only one, so that it need not wait for the bot in between.

Where there are several, work waits for the first that is free.
"""

T = TypeVar("T")

log = structlog.get_logger()


class ProcessDied(Exception):
    """A process ended before it had done what it was given."""


class _Process:
    """One of them. It answers in the order in which it was given work."""

    def __init__(self, process: SpawnProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process, self._reader, self._writer = process, reader, writer
        self.pending: deque[asyncio.Future[Any]] = deque()

    @classmethod
    async def start(cls, niceness: int) -> _Process:
        """A new one; OSError where the machine has none to give."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                # Python ends a daemon when it exits itself, and would wait for any other process.
                process = NewProcess(target=run_worker, args=(theirs, niceness), daemon=True)
                process.start()
        except OSError:
            ours.close()
            raise
        try:
            return cls(process, *await asyncio.open_connection(sock=ours))
        except BaseException:
            process.kill()
            ours.close()
            raise

    def submit(self, message: bytes) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.pending.append(future)
        self._writer.write(message)
        return future

    async def receive_answer(self) -> None:
        """Wait for the next answer; EOFError or OSError when there will be none."""
        size = int.from_bytes(await self._reader.readexactly(SIZE_BYTES), "big")
        is_done, result = pickle.loads(await self._reader.readexactly(size))  # noqa: S301 - from our own process
        future = self.pending.popleft()
        if future.done():
            return
        if is_done:
            future.set_result(result)
        else:
            future.set_exception(result)

    def hang_up(self) -> None:
        """Close the link: an idle process ends then, and a busy one after its work."""
        self._writer.close()


class Processes:
    """Some processes, started when they are first needed; one that dies is replaced and its work done again."""

    def __init__(self, name: str, count: int, niceness: int = 0) -> None:
        """``name`` is what the log calls them, ``niceness`` how much they give way to others."""
        self.name, self.count, self._niceness = name, count, niceness
        self._running: dict[_Process, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(count if count > 1 else PIPELINED)
        self._starting = asyncio.Lock()
        self._is_stopped = False
        self.pending = 0
        """How much work is under way, or waits."""

    async def run(self, function: Callable[..., T], *about: object) -> T:
        """Have one of them do some work; ProcessDied when processes cannot be had."""
        self.pending += 1
        try:
            message = frame(pickle.dumps((function, about), pickle.HIGHEST_PROTOCOL))
            for attempt in range(1, TRIES + 1):
                try:
                    result: T = await self._try(message)
                except ProcessDied:
                    if self._is_stopped or attempt == TRIES:
                        raise
                else:
                    return result
            raise AssertionError
        finally:
            self.pending -= 1

    def restart(self) -> None:
        """End those that run, whatever they do; what they were given is done by others."""
        for one in self._running:
            one.process.kill()

    @property
    def is_running(self) -> bool:
        return bool(self._running)

    def stop(self) -> None:
        """Kill the processes. Work that is under way or waits is given up.

        A process that compiles searches is busy for up to half a minute, so none is asked to end. That breaks no file:
        numba writes under another name first.
        """
        self._is_stopped = True
        for one, task in self._running.items():
            one.process.kill()
            task.cancel()
        until = time.monotonic() + REAPING_SECONDS
        for one in self._running:
            one.process.join(max(0.0, until - time.monotonic()))

    async def _try(self, message: bytes) -> Any:
        await self._slots.acquire()
        try:
            async with self._starting:
                process = await self._least_busy()
            answer = process.submit(message)
        except BaseException:
            self._slots.release()
            raise
        return await answer

    async def _least_busy(self) -> _Process:
        if self._is_stopped:
            raise ProcessDied
        process = min(self._running, key=lambda one: len(one.pending), default=None)
        if process is None or (process.pending and len(self._running) < self.count):
            try:
                process = await _Process.start(self._niceness)
            except OSError as error:
                log.warning("process_not_started", of=self.name, why=str(error))
                raise ProcessDied from error
            if self._is_stopped:
                process.hang_up()
                process.process.kill()
                raise ProcessDied
            task = self._running[process] = asyncio.create_task(self._answer(process))
            task.add_done_callback(lambda _done: self._forget(process))
        return process

    async def _answer(self, process: _Process) -> None:
        """Hand on what a process answers, until it ends."""
        try:
            while True:
                await process.receive_answer()
                self._slots.release()
        except (EOFError, OSError):
            log.warning("process_died", of=self.name)

    def _forget(self, process: _Process) -> None:
        """A process has ended, or is to end: what it was given will not be answered."""
        del self._running[process]
        process.hang_up()
        for future in process.pending:
            self._slots.release()
            if not future.done():
                future.set_exception(ProcessDied())
