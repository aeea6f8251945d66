"""The delivery state of one table in a worker's memory."""

import asyncio
import time
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from bot.delivery.lag import Lag
from bot.delivery.message_state import MessageState, State
from bot.delivery.surface import Change, Surface
from bot.delivery.surface_names import Board, Hand, OnlyMessage, Result, SurfaceName
from bot.delivery.surfaces import content_of, is_player_hand, required_surfaces, tag_of
from bot.platform import SentMessage
from bot.table_policy import Outcome
from bot.tables.table import Table

MAX_DOUBLINGS = 20  # times a pause can double, far beyond its maximum


class BoardExtras(NamedTuple):
    """Contents of a board besides the deal.

    ``unreachable`` are people and their names. ``has_ephemeral`` is True if a hand is ephemeral in a group.
    ``player_to_call`` is the person and name of the player to notify.
    """

    unreachable: Sequence[tuple[str, str]] = ()
    has_ephemeral: bool = False
    player_to_call: tuple[str, str] | None = None
    watch_id: str = ""


NO_EXTRAS = BoardExtras()


class TableSync:
    """The state machine of one table.

    A table is *behind* after a possible change, until the next check. A check finds the surfaces to update and starts a
    task for each. The table is at rest when no task runs, none has failed and it is not behind. ``outcome`` is the
    game's outcome. ``checks`` counts the checks, so that a running task notices a new one. ``first_games`` says for
    each person whether it was their first game when their hand was first drawn.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.is_loaded = False
        self.is_behind = False
        self.has_failed = False
        self.checks = 0
        self.outcome: Outcome | None = None
        self.first_games: dict[str, bool] = {}
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

    # State

    @property
    def is_running(self) -> bool:
        return self._run_task is not None and not self._run_task.done()

    @property
    def has_syncing_surface(self) -> bool:
        return bool(self._surface_tasks)

    @property
    def is_busy(self) -> bool:
        return self.is_behind or self.has_syncing_surface or self.is_running

    @property
    def tasks(self) -> list[asyncio.Task[None]]:
        return [*self._surface_tasks, *([self._run_task] if self._run_task else [])]

    def is_current(self, check: int) -> bool:
        """Return whether this is the last check and the table was not touched since."""
        return self.checks == check and not self.is_behind

    # Events

    def touch(self, *, reload: bool = False) -> None:
        """Note that the table might have changed. Set ``reload`` if another worker changed it."""
        self.lag.record_touch()
        self.is_behind, self._reload = True, self._reload or reload
        self.wake()

    def add_change(self, name: SurfaceName, change: Change) -> None:
        self._changes.append((name, change))

    @property
    def next_changed(self) -> SurfaceName | None:
        return self._changes[0][0] if self._changes else None

    def apply_next_change(self, home: str | None) -> None:
        """Apply the next change to its surface, whose place is ``home``. Drop the change if ``home`` is None."""
        name, change = self._changes.popleft()
        if home is not None:
            self.surface(name, home).apply(change, home, int(time.time()))

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        self._event = asyncio.Event()
        self._run_task = asyncio.create_task(work)
        self._run_task.add_done_callback(self._end_run)

    def _end_run(self, run: asyncio.Task[None]) -> None:
        if self._run_task is run:
            self._run_task = self._event = None

    def load(self, stored_states: Mapping[SurfaceName, MessageState], *, inherited: bool) -> None:
        """Take over the stored states of the table's surfaces.

        ``inherited`` is as for `Surface`, and also applies to new surfaces.
        """
        if not self.is_loaded:
            self._surfaces = {name: Surface(name, state, inherited=inherited) for name, state in stored_states.items()}
            self.is_loaded, self._inherited = True, inherited

    def begin_check(self) -> bool:
        """Begin a check. Return whether the log must be loaded for it."""
        reload, self._reload = self._reload, False
        self.is_behind = self.has_failed = False
        self.lag.begin_check()
        return reload

    def start_surface(self, surface: Surface, work: Coroutine[Any, Any, None]) -> None:
        surface.task = asyncio.create_task(work)
        self._surface_tasks.add(surface.task)
        surface.task.add_done_callback(partial(self._surface_done, surface))

    def _surface_done(self, surface: Surface, task: asyncio.Task[None]) -> None:
        self._surface_tasks.discard(task)
        if surface.task is task:
            surface.task = None
        self.wake()

    def is_new_error(self, error: Exception, surface: str) -> bool:
        """Return whether this error has not occurred at this place before."""
        frame = traceback.extract_tb(error.__traceback__)[-1]
        kind = (surface, type(error), frame.filename, frame.lineno)
        is_new = kind not in self._errors
        self._errors.add(kind)
        return is_new

    def retry_in(self, seconds: float, max_seconds: float, touch: Callable[[], None]) -> None:
        """Touch the table once after a pause, which doubles up to ``max_seconds`` until the table is at rest."""
        if not self._retry_timer:
            pause = min(seconds * 2.0**self._pauses, max_seconds)
            self._retry_timer = asyncio.get_running_loop().call_later(pause, self._touch_for_retry, touch)
            self._pauses = min(self._pauses + 1, MAX_DOUBLINGS)

    def _touch_for_retry(self, touch: Callable[[], None]) -> None:
        self._retry_timer = None
        touch()

    def reset_retries(self) -> None:
        """Reset the pauses after the table came to rest."""
        self._pauses = 0

    def wake(self) -> None:
        """Make `wait_for_event` return."""
        if self._event:
            self._event.set()

    def stop_waiting(self) -> None:
        """Wake everything that waits for a retry or an event."""
        for surface in self._surfaces.values():
            surface.wake()
        self.wake()

    async def wait_for_event(self) -> None:
        assert self._event
        await self._event.wait()
        self._event.clear()

    def cancel(self) -> None:
        for task in self.tasks:
            task.cancel()
        if self._retry_timer:
            self._retry_timer.cancel()

    # Surfaces

    def get(self, name: SurfaceName) -> Surface | None:
        return self._surfaces.get(name)

    def surface(self, name: SurfaceName, home: str) -> Surface:
        surface = self._surfaces.get(name)
        if surface is None:
            surface = self._surfaces[name] = Surface(name, inherited=self._inherited)
        surface.set_place_tag(tag_of(home))
        return surface

    def surfaces_to_check(self, table: Table) -> Iterable[SurfaceName]:
        """Return the table's required surfaces and the existing hands of its players."""
        hands = (name for name in self._surfaces if is_player_hand(table, name))
        return dict.fromkeys([*required_surfaces(table), *hands])

    def board_extras(self, table: Table, player_to_call: tuple[str, str] | None, watch_id: str = "") -> BoardExtras:
        unreachable, has_ephemeral = [], False
        for seat, chair in enumerate(table.chairs):
            surface = self._surfaces.get(Hand(seat)) if chair else None
            if chair and surface:
                if surface.state is State.UNREACHABLE:
                    unreachable.append((chair.person, chair.name))
                has_ephemeral = has_ephemeral or bool(surface.message_state.ephemeral)
        return BoardExtras(tuple(unreachable), has_ephemeral, player_to_call, watch_id)

    def results(self, table: Table) -> dict[Result, SentMessage]:
        """Return the final result messages that this worker sent or edited."""
        return {
            content: surface.final_message
            for name, surface in self._surfaces.items()
            if not isinstance(name, OnlyMessage)
            and isinstance(content := content_of(table, name), Result)
            and surface.final_message
        }

    def clear_cached_panels(self) -> None:
        """Drop cached panels except boards, which do not change with every press."""
        for name, surface in self._surfaces.items():
            if not isinstance(name, Board):
                surface.cache_panel(None, None)

    # Saved facts

    def is_listed(self, table: Table) -> bool:
        """Return whether the lists of tables have this table's people and chats."""
        return self._listed == _listed_facts(table)

    def set_listed(self, table: Table | None) -> None:
        """Note that the lists match this table; None means unknown."""
        self._listed = _listed_facts(table) if table else None

    def take_unsaved(self) -> dict[SurfaceName, MessageState]:
        """Return the states to save. They count as saved from now on."""
        unsaved_states = ((name, surface.take_unsaved()) for name, surface in self._surfaces.items())
        return {name: state for name, state in unsaved_states if state is not None}

    def forget_saved(self) -> None:
        """Note that the last save might be lost."""
        for surface in self._surfaces.values():
            surface.forget_saved()


def _listed_facts(table: Table) -> object:
    return table.chairs, tuple(table.asking.values()), table.hosts
