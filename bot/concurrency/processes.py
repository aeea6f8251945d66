"""Processes for slow work, so that the event loop never waits."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import socket
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from typing import Any, TypeVar, cast

import structlog

from bot.concurrency.process_main import SIZE_BYTES, frame, run_worker

# Processes are spawned, because a forked copy of the bot would share its memory and connections.
NewProcess = multiprocessing.get_context("spawn").Process

MAX_ATTEMPTS = 3  # attempts for a piece of work that kills its process
REAPING_SECONDS = 1.0  # longest wait in `Processes.stop` for killed processes

# Pieces of work that a single process has at a time: it can begin the second without waiting for the bot. With several
# processes, work waits for the first free one.
MAX_PIPELINED = 2

T = TypeVar("T")

log = structlog.get_logger()


class ProcessDied(Exception):
    """A process ended before it had done its work."""


class _Process:
    """A process. It answers in the order of submission."""

    def __init__(self, process: SpawnProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.process, self._reader, self._writer = process, reader, writer
        self.pending: deque[asyncio.Future[Any]] = deque()

    @classmethod
    async def start(cls, niceness: int) -> _Process:
        own_end, child_end = socket.socketpair()
        try:
            with child_end:
                # Python kills daemons at exit, but waits for other processes.
                process = NewProcess(target=run_worker, args=(child_end, niceness), daemon=True)
                process.start()
        except OSError:
            own_end.close()
            raise
        try:
            return cls(process, *await asyncio.open_connection(sock=own_end))
        except BaseException:
            process.kill()
            own_end.close()
            raise

    def submit(self, message: bytes) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.pending.append(future)
        self._writer.write(message)
        return future

    async def receive_answer(self) -> None:
        """Wait for the next answer. Raise EOFError or OSError after the process ended."""
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
        """Close the link. An idle process ends at once, a busy one after its work."""
        self._writer.close()


class Processes:
    """Processes started on demand. One that dies is replaced, and its work is done again."""

    def __init__(self, name: str, count: int, niceness: int = 0) -> None:
        self.name, self.count, self._niceness = name, count, niceness
        self._running: dict[_Process, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(count if count > 1 else MAX_PIPELINED)
        self._starting = asyncio.Lock()
        self._is_stopped = False
        self.pending = 0  # pieces of work running or waiting

    async def run(self, function: Callable[..., T], *args: object) -> T:
        """Call a function in a process. Raise the function's error, or ProcessDied if no process can do the work."""
        self.pending += 1
        try:
            message = frame(pickle.dumps((function, args), pickle.HIGHEST_PROTOCOL))
            for _ in range(MAX_ATTEMPTS - 1):
                with suppress(ProcessDied):
                    return cast("T", await self._try(message))
            return cast("T", await self._try(message))
        finally:
            self.pending -= 1

    def restart(self) -> None:
        """Kill the running processes. New processes do the work again."""
        for process in self._running:
            process.process.kill()

    @property
    def is_running(self) -> bool:
        return bool(self._running)

    def stop(self) -> None:
        """Kill the processes and drop their work.

        Do not let them finish, because compiling searches takes up to half a minute. A kill damages no file: numba
        writes to a temporary name first.
        """
        self._is_stopped = True
        for process, task in self._running.items():
            process.process.kill()
            task.cancel()
        deadline = time.monotonic() + REAPING_SECONDS
        for process in self._running:
            process.process.join(max(0.0, deadline - time.monotonic()))

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
        process = min(self._running, key=lambda process: len(process.pending), default=None)
        if process is None or (process.pending and len(self._running) < self.count):
            try:
                process = await _Process.start(self._niceness)
            except OSError as error:
                log.warning("process_not_started", pool=self.name, why=str(error))
                raise ProcessDied from error
            if self._is_stopped:
                process.hang_up()
                process.process.kill()
                raise ProcessDied
            task = self._running[process] = asyncio.create_task(self._answer(process))
            task.add_done_callback(lambda _done: self._forget(process))
        return process

    async def _answer(self, process: _Process) -> None:
        try:
            while True:
                await process.receive_answer()
                self._slots.release()
        except (EOFError, OSError):
            log.warning("process_died", pool=self.name)

    def _forget(self, process: _Process) -> None:
        del self._running[process]
        process.hang_up()
        for future in process.pending:
            self._slots.release()
            if not future.done():
                future.set_exception(ProcessDied())
