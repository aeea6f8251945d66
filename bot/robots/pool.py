"""Robots, which think in their own processes so that the event loop never waits."""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

import structlog

from bot.concurrency.processes import ProcessDied, Processes
from bot.metrics import ROBOT_MOVES
from engine import Record, View, read
from engine.game import MoveEntry
from engine.replay import continue_record
from engine.robots import Budget, make_robot
from engine.robots.verdicts import Hint, Verdict

log = structlog.get_logger()

T = TypeVar("T")
FALLBACK = {"strong": "medium"}  # level that plays if a robot is too slow; the other levels are always fast
THINKING_SECONDS = 0.5  # a robot's search is cut short after this time
PATIENCE_SECONDS = 1.2  # time to wait for a move before a simpler robot makes it: the process could be starting or dead
HINT_SECONDS = 5.0  # longest wait until a hint can be computed, and longest wait for the hint itself
HINT_THINKING_SECONDS = 4.0  # the same for a hint's search, so long that analyses almost always repeat all of it
MAX_WAITING = 8  # waiting requests for each process: later ones would come too late


def choose(level: str, view: View, history: Sequence[MoveEntry], seed: int) -> str | None:
    """Return a robot's choice for a seat's view and history. The same seed gives the same choice if time allows."""
    return make_robot(level, Random(seed), _budget()).choose(view, history)


def choose_unhurried(level: str, view: View, history: Sequence[MoveEntry], seed: int) -> str | None:
    """Return a robot's choice, limited by work instead of time, so that a busy machine gives the same one."""
    return make_robot(level, Random(seed)).choose(view, history)


def advise(view: View, history: Sequence[MoveEntry]) -> Hint | None:
    from engine.robots.hints import usual_hint  # noqa: PLC0415 - it is heavy, so only worker processes import it

    return usual_hint(view, history, _budget(HINT_THINKING_SECONDS))


def analyse(record: str, deal: int) -> list[Verdict]:
    from engine.robots.analysis import analyse_deal  # noqa: PLC0415

    return analyse_deal(read(record), deal)


def solve_line(record: str, deal: int, place: int, moves: Sequence[str]) -> dict[str, int] | None:
    """Return the points that each move after a line gives away, or None if the position is too large.

    The points are those of `engine.robots.perfect_play`.
    """
    from engine.robots.perfect_play import solve_moves  # noqa: PLC0415
    from engine.search.solver import Solver  # noqa: PLC0415

    *_, game = continue_record(read(record), deal, place, moves)
    solution = solve_moves(game, Solver())
    return solution.lost_points if solution else None


def get_ready() -> None:
    from engine.robots.strong import compile_searches  # noqa: PLC0415

    compile_searches()


def _budget(seconds: float = THINKING_SECONDS) -> Budget:
    deadline = time.monotonic() + seconds
    return Budget(more=lambda: time.monotonic() < deadline)


class PoolBusy(Exception):
    """Too many requests wait for a process. The caller can try again later."""


class RobotPool:
    """The robot processes: some for moves, and a low-priority one for analyses."""

    def __init__(self, workers: int | None = None) -> None:
        """``workers`` is the number of processes for moves; by default one fewer than cores, at most four."""
        self._movers = Processes("robots", workers or min(4, max(1, (os.cpu_count() or 2) - 1)))
        self._analysers = Processes("analyses", 1, niceness=10)
        self._think = choose
        self._late: set[asyncio.Task[Any]] = set()
        self._ready: asyncio.Task[None] | None = None
        self._hints = asyncio.Semaphore(self._movers.count)
        self._aside, self._waiting_aside = asyncio.Semaphore(1), 0

    async def move(self, level: str, view: View, history: Sequence[MoveEntry]) -> str | None:
        """Return the move of a robot of this level, or None if it declines an out-of-turn move.

        If no process answers soon, a robot that needs no search chooses the move here, so that the game goes on.
        """
        seed = secrets.randbits(64)
        if not self._is_full:
            task = asyncio.create_task(self._movers.run(self._think, level, view, history, seed))
            is_done = await self._wait_for(task, PATIENCE_SECONDS)
            if is_done and not isinstance(task.exception(), ProcessDied):
                ROBOT_MOVES.labels(level).inc()
                return task.result()
        lower = FALLBACK.get(level, level)
        ROBOT_MOVES.labels(f"{lower} for {level}").inc()
        return choose(lower, view, history, seed)

    async def seeded_move(self, level: str, view: View, history: Sequence[MoveEntry], seed: int) -> str | None:
        """Return the robot's move for this seed, however long it takes. After ProcessDied, the caller can try again."""
        move = await self._movers.run(choose_unhurried, level, view, history, seed)
        ROBOT_MOVES.labels("day").inc()
        return move

    async def run_in_background(self, work: Callable[..., T], *args: object) -> T:
        """Run slow work in the low-priority process, in order. Raises ProcessDied like `seeded_move`."""
        return await self._analysers.run(work, *args)

    async def hint(self, view: View, history: Sequence[MoveEntry]) -> Hint | None:
        """Return the strong robot's advice. Return None without advice, or if no process is free in time.

        At most one hint per process is computed at a time.
        """
        self.get_ready()
        try:
            async with asyncio.timeout(HINT_SECONDS):
                await self._hints.acquire()
        except TimeoutError:
            return None
        if self._is_full:
            self._hints.release()
            return None
        task = asyncio.create_task(self._movers.run(advise, view, history))
        task.add_done_callback(lambda _: self._hints.release())
        return task.result() if await self._wait_for(task, HINT_SECONDS) else None

    async def think_aside(self, work: Callable[..., T], *args: object) -> T:
        """Run work that no table waits for. One such piece of work runs at a time, so that tables hardly wait.

        Raises PoolBusy, or ProcessDied like `seeded_move`.
        """
        if self._waiting_aside >= MAX_WAITING or self._is_full:
            raise PoolBusy()
        self._waiting_aside += 1
        try:
            async with self._aside:
                return await self._movers.run(work, *args)
        finally:
            self._waiting_aside -= 1

    async def _wait_for(self, task: asyncio.Task[Any], seconds: float) -> bool:
        """Return whether a task finished in time. A late one continues, because a process cannot be interrupted."""
        try:
            done_tasks, _ = await asyncio.wait([task], timeout=seconds)
        finally:
            if not task.done():
                self._late.add(task)
                task.add_done_callback(self._forget)
            elif not task.cancelled():
                task.exception()  # so that asyncio logs no error if the caller was cancelled at the same moment
        return bool(done_tasks)

    @property
    def is_busy(self) -> bool:
        return self._movers.pending > 0

    @property
    def _is_full(self) -> bool:
        """True if a new request would wait too long for a process."""
        return self._movers.pending >= MAX_WAITING * self._movers.count

    async def verdicts(self, record: Record, deal: int) -> list[Verdict]:
        return await self._analysers.run(analyse, record.to_json(), deal)

    def get_ready(self) -> None:
        """Compile what strong robots need, in the background and once."""
        if self._ready is None:
            self._ready = asyncio.create_task(self._analysers.run(get_ready))
            self._ready.add_done_callback(self._forget)

    def stop(self) -> None:
        self._movers.stop()
        self._analysers.stop()
        for task in (*self._late, *([self._ready] if self._ready else [])):
            task.cancel()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._late.discard(task)
        error = None if task.cancelled() else task.exception()
        # The pool has logged the death of a process.
        if error and not isinstance(error, ProcessDied):
            log.warning("robot_move_failed", why=type(error).__name__)
