"""The reconciler: for a table that changed, draw each surface, compare with what stands there, send or edit until chat
and table agree.

Each surface is brought up to date by one task of its own, which always sends the latest state: what changes while a
place is held back is sent once. A crash, a platform's wait or a lost connection cost time and nothing else.

What is known of messages is written down at once after a send, so that a crash can double a message only in between,
and for edits when the table has come to rest: an edit made twice changes nothing.
"""

from collections.abc import Awaitable, Callable

import structlog

from bot.delivery.drawing import Outcome
from bot.delivery.message_state import State, decode_state
from bot.delivery.names import Hand, SurfaceName, decode_name, encode_name
from bot.delivery.surface import Surface
from bot.delivery.surface_sync import SurfaceSync, Tools
from bot.delivery.surfaces import home_of, is_final
from bot.delivery.table_sync import TableSync
from bot.panel import Panel
from bot.people import People
from bot.platform import person_of, platform_of
from bot.tables.table import Table

log = structlog.get_logger()

Finish = Callable[[Table], Awaitable[Outcome]]
BrokeOff = Callable[[TableSync, Exception, str], None]


class Reconciler:
    """Brings tables to rest. ``finish`` keeps a finished game; ``broke_off`` is told of an error that a surface met.

    It is to have the table looked at once more.
    """

    def __init__(self, tools: Tools, people: People, finish: Finish, broke_off: BrokeOff) -> None:
        self._tools, self._people, self._finish, self._broke_off = tools, people, finish, broke_off
        self._room = tools.room
        self._store = tools.room.store

    async def load(self, sync: TableSync) -> None:
        """Read what is known of a table's messages, once. NoSuchTable if there is no such table."""
        if sync.is_loaded:
            return
        stored, found = await self._store.shown(sync.code), {}
        for text, state in stored.items():
            try:
                name = decode_name(text)
            except ValueError:
                # A release to come may know it.
                log.info("surface_unknown", table=sync.code, surface=text)
                continue
            found[name] = decode_state(state)
        sync.loaded(found, inherited=(await self._room.cached(sync.code)).game is not None)

    async def bring_to_rest(self, sync: TableSync) -> bool:
        """Until all of a table is shown, a surface has failed or the bot stops; whether that was the last of the table.

        NoSuchTable if there is no such table any more.
        """
        await self.load(sync)
        table: Table | None = None
        has_waited = False
        while not self._tools.stopping:
            if sync.is_behind or table is None:
                table, has_waited = await self._look_over(sync), False
            elif sync.is_under_way:
                await sync.event()
                has_waited = True
            elif sync.has_failed:
                return False
            elif has_waited and not self._room.is_playing_at(sync.code, table.version):
                # The surfaces that had nothing to do then may have something now.
                sync.touch()
            else:
                is_removed = await self._settle(sync, table)
                if not sync.is_behind:
                    return is_removed
        return False

    async def _look_over(self, sync: TableSync) -> Table:
        """See to it that each surface comes to show the table, and that the lists say who sits there."""
        reload = sync.begin_look()
        # What another worker has written is not shown before replicas have confirmed it.
        table = await (self._room.load(sync.code, confirmed=True) if reload else self._room.cached(sync.code))
        sync.fetched()
        if table.phase == "over" and sync.outcome is None:
            sync.finished(await self._finish(table))
        if table.error:
            sync.listed(None)
        elif table.phase in ("open", "playing") and not sync.is_listed(table):
            await self._room.lists.confirm(table)
            sync.listed(table)
        for name in sync.names(table):
            await self._look_at(sync, table, name)
        return table

    async def _look_at(self, sync: TableSync, table: Table, name: SurfaceName) -> None:
        """Begin to bring a surface up to date, if there is anything to do."""
        known = sync.get(name)
        if known and known.state is State.DONE:
            return
        home = home_of(table, name)
        if platform_of(home) not in self._tools.adapters:
            # The host has taken this platform off; the game goes on elsewhere.
            return
        surface = sync.surface(name, home)
        if await self._waits_for_press(table, surface, home):
            surface.wait_for_press()
            # Boards say so.
            sync.touch()
        surface.look_again()
        if surface.is_under_way or surface.state in (State.DROPPED, State.UNREACHABLE):
            return
        panel = await self._tools.drawer.draw_if_free(sync, table, surface)
        if panel is None or not surface.needs_nothing(panel):
            sync.sync(surface, self._sync(sync, surface, panel, sync.looks))
        elif is_final(table, name):
            surface.finish()

    async def _waits_for_press(self, table: Table, surface: Surface, home: str) -> bool:
        """Whether a hand is for the group, ephemeral, and its player has not yet pressed anything that allows it."""
        known = surface.known
        if not isinstance(surface.name, Hand) or known.state is not State.ABSENT:
            return False
        if known.ephemeral or surface.wants_repost or not table.game:
            return False
        if not self._tools.adapters[platform_of(home)].has_ephemeral:
            return False
        return (await self._people.person(person_of(home))).hands == "aside"

    async def _sync(self, sync: TableSync, surface: Surface, panel: Panel | None, look: int) -> None:
        try:
            await SurfaceSync(self._tools, sync, surface).run(panel, look)
        except Exception as error:  # noqa: BLE001 - it is logged, and tried again
            sync.fail()
            self._broke_off(sync, error, encode_name(surface.name))

    async def _settle(self, sync: TableSync, table: Table) -> bool:
        """Everything shows this table; whether it is removed, for no more is to come of it."""
        if table.phase in ("over", "closed"):
            await self._room.remove(table)
            return True
        self._tools.writer.soon(sync, table.version)
        sync.forget_drawn()
        sync.rested()
        return False
