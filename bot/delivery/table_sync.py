"""The delivery of one table, as a worker has it in memory: what it knows, and what is to be done."""

import asyncio
import time
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from bot.delivery.lag import Lag
from bot.delivery.message_state import MessageState, State
from bot.delivery.names import Board, Hand, Result, SurfaceName
from bot.delivery.surface import Change, Surface
from bot.delivery.surfaces import is_player_hand, required_surfaces, tag_of
from bot.platform import SentMessage
from bot.table_policy import Outcome
from bot.tables.table import Table

MAX_DOUBLINGS = 20
"""As often as a pause may double, far beyond the longest."""


class BoardExtras(NamedTuple):
    """What a board tells beside the deal: people whom the bot cannot write to, with their names, whether somebody's
    hand is ephemeral in a group, who is to move, if they want to be ``called`` there, and by what the table may be
    watched.
    """

    unreachable: Sequence[tuple[str, str]] = ()
    has_ephemeral: bool = False
    called: tuple[str, str] | None = None
    watch_id: str = ""


NO_EXTRAS = BoardExtras()


class TableSync:
    """The state machine of one table; only its own methods change it.

    A table is *behind* when it may have changed since it was last looked over. A look finds the surfaces that are to be
    brought up to date, each by a task. When none is under way, none has failed and the table is not behind, it is at
    rest. ``outcome`` is what came of its game, ``looks`` counts how often it was looked over.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.is_loaded = False
        self.is_behind = False
        self.has_failed = False
        self.checks = 0
        self.outcome: Outcome | None = None
        self.lag = Lag()
        self._changes: deque[tuple[SurfaceName, Change]] = deque()
        self._reload = False
        self._inherited = False
        self._surfaces: dict[SurfaceName, Surface] = {}
        self._listed: object = None
        self._run_task: asyncio.Task[None] | None = None
        self._surface_tasks: set[asyncio.Task[None]] = set()
        self._event: asyncio.Event | None = None
        self._retry_timer: asyncio.TimerHandle | None = None
        self._errors: set[object] = set()
        self._pauses = 0

    # What it is about

    @property
    def is_running(self) -> bool:
        """Whether something brings it to rest."""
        return self._run_task is not None and not self._run_task.done()

    @property
    def has_syncing_surface(self) -> bool:
        """Whether any surface is being brought up to date."""
        return bool(self._surface_tasks)

    @property
    def is_busy(self) -> bool:
        return self.is_behind or self.has_syncing_surface or self.is_running

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return [*self._surface_tasks, *([self._run_task] if self._run_task else [])]

    def is_current(self, look: int) -> bool:
        """Whether nothing was touched since it was looked over for the so-manieth time."""
        return self.checks == look and not self.is_behind

    # What happens

    def touch(self, *, reload: bool = False) -> None:
        """It may have changed; ``reload`` if another worker did it."""
        self.lag.record_touch()
        self.is_behind, self._reload = True, self._reload or reload
        self.wake()

    def add_change(self, name: SurfaceName, change: Change) -> None:
        """Somebody did something with a surface, which heeds it at the next look."""
        self._changes.append((name, change))

    @property
    def next_changed(self) -> SurfaceName | None:
        """The surface that is to heed a change next."""
        return self._changes[0][0] if self._changes else None

    def apply_next_change(self, home: str | None) -> None:
        """Have that surface heed it, which belongs there; None if there is no such surface."""
        name, change = self._changes.popleft()
        if home is not None:
            self.surface(name, home).apply(change, home, int(time.time()))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Have it brought to rest."""
        self._event = asyncio.Event()
        self._run_task = asyncio.create_task(work)
        self._run_task.add_done_callback(self._run_done)

    def _run_done(self, run: asyncio.Task[None]) -> None:
        if self._run_task is run:
            self._run_task = self._event = None

    def load(self, stored: Mapping[SurfaceName, MessageState], *, inherited: bool) -> None:
        """What the store knows of its surfaces; ``inherited`` as for `Surface`, and for those to come as well."""
        if not self.is_loaded:
            self._surfaces = {name: Surface(name, state, inherited=inherited) for name, state in stored.items()}
            self.is_loaded, self._inherited = True, inherited

    def begin_check(self) -> bool:
        """It is looked over from now on; whether its log is to be fetched for that."""
        reload, self._reload = self._reload, False
        self.is_behind = self.has_failed = False
        self.lag.begin_check()
        return reload

    def count_check(self) -> None:
        """The table has been fetched: surfaces under way find out that it may be another than they know."""
        self.checks += 1

    def set_outcome(self, outcome: Outcome) -> None:
        self.outcome = outcome

    def start_surface(self, surface: Surface, work: Coroutine[Any, Any, None]) -> None:
        """Have a surface brought up to date."""
        surface.task = asyncio.create_task(work)
        self._surface_tasks.add(surface.task)
        surface.task.add_done_callback(partial(self._surface_done, surface))

    def _surface_done(self, surface: Surface, task: asyncio.Task[None]) -> None:
        self._surface_tasks.discard(task)
        if surface.task is task:
            surface.task = None
        self.wake()

    def mark_failed(self) -> None:
        """A surface broke off, and is not looked at again before the next look."""
        self.has_failed = True

    def is_new_error(self, error: Exception, surface: str) -> bool:
        """Whether an error of ours, bringing a surface up to date or the table to rest, was not met here before."""
        where = traceback.extract_tb(error.__traceback__)[-1]
        kind = (surface, type(error), where.filename, where.lineno)
        is_new = kind not in self._errors
        self._errors.add(kind)
        return is_new

    def retry_in(self, seconds: float, longest: float, touch: Callable[[], None]) -> None:
        """Have it touched once, in so many seconds; twice as many each time, up to the longest, until it is at rest."""
        if not self._retry_timer:
            pause = min(seconds * 2.0**self._pauses, longest)
            self._retry_timer = asyncio.get_running_loop().call_later(pause, self._touch_for_retry, touch)
            self._pauses = min(self._pauses + 1, MAX_DOUBLINGS)

    def _touch_for_retry(self, touch: Callable[[], None]) -> None:
        self._retry_timer = None
        touch()

    def reset_retries(self) -> None:
        """It has come to rest: an error after this one is the first again, though it may have been said."""
        self._pauses = 0

    def wake(self) -> None:
        """Have `event` return."""
        if self._event:
            self._event.set()

    def stop_waiting(self) -> None:
        """What waits before it tries again, and for something to happen, is to look again."""
        for surface in self._surfaces.values():
            surface.wake()
        self.wake()

    async def wait_for_event(self) -> None:
        """Return when something has happened since the last call."""
        assert self._event
        await self._event.wait()
        self._event.clear()

    def cancel(self) -> None:
        for task in self.tasks:
            task.cancel()
        if self._retry_timer:
            self._retry_timer.cancel()

    # Its surfaces

    def get(self, name: SurfaceName) -> Surface | None:
        return self._surfaces.get(name)

    def surface(self, name: SurfaceName, home: str) -> Surface:
        """A surface that belongs there, which may be a new one."""
        surface = self._surfaces.get(name)
        if surface is None:
            surface = self._surfaces[name] = Surface(name, inherited=self._inherited)
        surface.set_place_tag(tag_of(home))
        return surface

    def surfaces_to_check(self, table: Table) -> Iterable[SurfaceName]:
        """What is to be looked at: what the table should have, and the hands that people have already."""
        return dict.fromkeys(
            [*required_surfaces(table), *(name for name in self._surfaces if is_player_hand(table, name))]
        )

    def board_extras(self, table: Table, called: tuple[str, str] | None, watch_id: str = "") -> BoardExtras:
        """Whose hand does not stand in the private chat; who is ``called``, and by what the table may be watched."""
        unreachable, has_ephemeral = [], False
        for seat, chair in enumerate(table.chairs):
            surface = self._surfaces.get(Hand(seat)) if chair else None
            if chair and surface:
                if surface.state is State.UNREACHABLE:
                    unreachable.append((chair.person, chair.name))
                has_ephemeral = has_ephemeral or bool(surface.known.ephemeral)
        return BoardExtras(tuple(unreachable), has_ephemeral, called, watch_id)

    def results(self) -> dict[Result, SentMessage]:
        """The results that stand for good, as far as this worker brought them there."""
        return {
            name: surface.final_message
            for name, surface in self._surfaces.items()
            if isinstance(name, Result) and surface.final_message
        }

    def clear_cached_panels(self) -> None:
        """Hands change with the next press; boards do not always, and stay drawn."""
        for name, surface in self._surfaces.items():
            if not isinstance(name, Board):
                surface.cache_panel(None, None)

    # What the lists of tables and the store were told

    def is_listed(self, table: Table) -> bool:
        """Whether the lists of tables are known to say who sits here, and which chats show it."""
        return self._listed == _listed_facts(table)

    def set_listed(self, table: Table | None) -> None:
        """The lists say what they should of this table; None if that is not known."""
        self._listed = _listed_facts(table) if table else None

    def take_unsaved(self) -> dict[SurfaceName, MessageState]:
        """What the store is to be told; it counts as told from now on."""
        unsaved = ((name, surface.take_unsaved()) for name, surface in self._surfaces.items())
        return {name: state for name, state in unsaved if state is not None}

    def forget_saved(self) -> None:
        """What was to be told may be lost."""
        for surface in self._surfaces.values():
            surface.forget_saved()


def _listed_facts(table: Table) -> object:
    return table.chairs, tuple(table.asking.values()), table.hosts
