"""Robots think in processes of their own, so that the event loop never waits for them."""

import asyncio
import os
import secrets
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

import structlog

from bot.metrics import ROBOT_MOVES
from bot.processes import ProcessDied, Processes
from engine import Record, View, read
from engine.game import MoveEntry
from engine.robots import Budget, robot
from engine.robots.findings import Hint, Verdict

log = structlog.get_logger()

T = TypeVar("T")

FALLBACK = {"strong": "medium"}
"""Who plays where a robot cannot think in time; the others hardly think at all."""

THINKING_SECONDS = 0.5
"""After so long a thought is cut short, however much of it is left."""

PATIENCE_SECONDS = 1.2
"""How long a move is waited for before somebody simpler makes it: a worker may be starting, or have died."""

HINT_SECONDS = 5.0
"""How long somebody who asks for a hint waits for their turn, and again for the thought."""

MOST_WAITING = 8
"""Thoughts that may wait for each worker: those behind them would come too late."""


def choose(level: str, view: View, history: Sequence[MoveEntry], seed: int) -> str | None:
    """A robot's choice, by a seat's view and what it saw; the same seed gives the same choice, if there is time."""
    return robot(level, Random(seed), _budget()).choose(view, history)


def choose_unhurried(level: str, view: View, history: Sequence[MoveEntry], seed: int) -> str | None:
    """Return a robot's choice. Work limits its thoughts, not time: it is the same on a busy machine."""
    return robot(level, Random(seed)).choose(view, history)


def advise(view: View, history: Sequence[MoveEntry], seed: int) -> Hint | None:
    """What the strong robot would play in this seat, and why."""
    from engine.robots.hints import hint  # noqa: PLC0415 - heavy, as below: for the workers alone

    return hint(view, history, Random(seed), _budget())


def analyse(record: str, deal: int) -> list[Verdict]:
    """Verdicts on a deal of a record, which comes as JSON."""
    from engine.robots.analysis import analyse_deal  # noqa: PLC0415

    return analyse_deal(read(record), deal)


def get_ready() -> None:
    """Have everything compiled that a strong robot needs."""
    from engine.robots.strong import get_ready  # noqa: PLC0415

    get_ready()


def _budget() -> Budget:
    until = time.monotonic() + THINKING_SECONDS
    return Budget(more=lambda: time.monotonic() < until)


class RobotPool:
    """The worker processes: some for moves, and a patient one for looking back at games."""

    def __init__(self, workers: int | None = None) -> None:
        """``workers`` is how many processes think about moves; by default one fewer than cores, four at most."""
        self._movers = Processes("robots", workers or min(4, max(1, (os.cpu_count() or 2) - 1)))
        self._analysers = Processes("analyses", 1, niceness=10)
        self._think = choose
        self._late: set[asyncio.Task[Any]] = set()
        self._ready: asyncio.Task[None] | None = None
        self._hints = asyncio.Semaphore(self._movers.count)

    async def move(self, level: str, view: View, history: Sequence[MoveEntry]) -> str | None:
        """What a robot of this level plays; None to let an out-of-turn moment pass.

        When all workers are busy, or one has to start first, a simpler robot plays rather than that anybody waits.
        """
        seed = secrets.randbits(64)
        if self._movers.pending < MOST_WAITING * self._movers.count:
            thought = asyncio.create_task(self._movers.run(self._think, level, view, history, seed))
            done = await self._wait_for(thought, PATIENCE_SECONDS)
            if done and not isinstance(thought.exception(), ProcessDied):
                ROBOT_MOVES.labels(level).inc()
                return thought.result()
        lower = FALLBACK.get(level, level)
        ROBOT_MOVES.labels(f"{lower} for {level}").inc()
        return choose(lower, view, history, seed)

    async def seeded_move(self, level: str, view: View, history: Sequence[MoveEntry], seed: int) -> str | None:
        """Return a robot's move that is the same for the same seed, however long that takes (`choose_unhurried`).

        ProcessDied if its process ends meanwhile: then the caller asks again.
        """
        move = await self._movers.run(choose_unhurried, level, view, history, seed)
        ROBOT_MOVES.labels("day").inc()
        return move

    async def run_in_background(self, work: Callable[..., T], *args: object) -> T:
        """Do slow work in the patient process, after what waits there already. ProcessDied as for `seeded_move`."""
        return await self._analysers.run(work, *args)

    async def hint(self, view: View, history: Sequence[MoveEntry]) -> Hint | None:
        """What the strong robot would play, and why; None when it has nothing to say, or no time.

        There are as many at a time as there are workers, however many people ask: a move waits for one at the most.
        """
        self.get_ready()
        try:
            async with asyncio.timeout(HINT_SECONDS):
                await self._hints.acquire()
        except TimeoutError:
            return None
        if self._movers.pending >= MOST_WAITING * self._movers.count:
            self._hints.release()
            return None
        thought = asyncio.create_task(self._movers.run(advise, view, history, secrets.randbits(64)))
        thought.add_done_callback(lambda _: self._hints.release())
        return thought.result() if await self._wait_for(thought, HINT_SECONDS) else None

    async def _wait_for(self, thought: asyncio.Task[Any], seconds: float) -> bool:
        """Whether a thought came to its end; a late one is let go on, for a worker cannot be interrupted."""
        done, _ = await asyncio.wait([thought], timeout=seconds)
        if not done:
            self._late.add(thought)
            thought.add_done_callback(self._forget)
        return bool(done)

    @property
    def is_busy(self) -> bool:
        """Whether anybody waits for a move or a hint."""
        return self._movers.pending > 0

    async def verdicts(self, record: Record, deal: int) -> list[Verdict]:
        """What each decision of a deal was worth."""
        return await self._analysers.run(analyse, record.to_json(), deal)

    def get_ready(self) -> None:
        """Somebody will want a strong robot: what it needs is compiled in the background, once."""
        if self._ready is None:
            self._ready = asyncio.create_task(self._analysers.run(get_ready))
            self._ready.add_done_callback(self._forget)

    def stop(self) -> None:
        """End all processes, whatever they do."""
        self._movers.stop()
        self._analysers.stop()
        for task in (*self._late, *([self._ready] if self._ready else [])):
            task.cancel()

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._late.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("robot_move_failed", why=type(error).__name__)
