"""Draws surfaces, each once for as long as nothing of it changes."""

from bot.delivery.drawing import NO_EXTRAS, Viewer, draw
from bot.delivery.names import Board
from bot.delivery.send_limiter import SendLimiter
from bot.delivery.surface import Surface
from bot.delivery.surfaces import home_of
from bot.delivery.table_sync import TableSync
from bot.panel import Panel
from bot.people import People
from bot.platform import is_private, person_of
from bot.tables.table import Table


class Drawer:
    """What surfaces should show, to those who see them."""

    def __init__(self, people: People, limiter: SendLimiter) -> None:
        self._people, self._limiter = people, limiter

    async def draw(self, sync: TableSync, table: Table, surface: Surface) -> Panel:
        """What a surface should show."""
        panel = await self._drawn(sync, table, surface)
        assert panel
        return panel

    async def draw_if_free(self, sync: TableSync, table: Table, surface: Surface) -> Panel | None:
        """What a surface should show; None if that is not drawn yet and its place is held back for now: until it is
        free there will be something else to be drawn.
        """
        return await self._drawn(sync, table, surface, only_if_free=True)

    async def called(self, table: Table) -> tuple[str, str] | None:
        """Who is to move, if they want to be called for it in the group."""
        chair = table.chairs[table.game.turn] if table.game and table.game.turn is not None else None
        if chair is None or chair.is_robot or table.phase != "playing":
            return None
        return (chair.person, chair.name) if (await self._people.person(chair.person)).wants_calls else None

    async def _drawn(
        self, sync: TableSync, table: Table, surface: Surface, *, only_if_free: bool = False
    ) -> Panel | None:
        name, known = surface.name, surface.known
        place = known.ephemeral or home_of(table, name)
        viewer = await self._viewer(place)
        version, extras = table.version, NO_EXTRAS
        if isinstance(name, Board):
            version, extras = table.told_at, sync.board_extras(table, await self.called(table))
        key = (version, known.draft, viewer, extras, sync.outcome)
        if (panel := surface.drawn_for(key)) is not None:
            return panel
        if only_if_free and not self._limiter.is_free(place):
            return None
        panel = draw(table, name, known, viewer, extras, sync.outcome)
        surface.keep_drawn(key, panel)
        return panel

    async def _viewer(self, place: str) -> Viewer:
        if is_private(place):
            profile = await self._people.person(person_of(place))
            return Viewer(profile.language, profile.suits)
        return Viewer((await self._people.chat(place)).language)
