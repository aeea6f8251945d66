"""Open tables for web pages."""

from typing import NamedTuple

from bot.features.open_tables.open_tables import OpenTables, is_by_link
from bot.identity.programs import is_web_guest
from bot.store.outage import begin_request
from bot.tables.room import Room
from bot.tables.snapshot import isolate_name, take_snapshot
from bot.texts import error_text, texts
from bot.words.wording import target_text
from engine.errors import EngineError

MAX_LISTED = 12  # tables on the first page


class OpenTableLine(NamedTuple):
    """An open table in the list. ``about`` says how long the game is and how many seats are free."""

    code: str
    game: str
    name: str
    about: str


class OpenTablesSite:
    """The list of open tables and the choice to open one, for pages. Methods can raise store errors."""

    def __init__(self, tables: OpenTables, room: Room) -> None:
        self._tables, self._room = tables, room

    async def choice(self, code: str, person: str) -> bool | None:
        """Return whether anyone may sit down at a person's table; None if they cannot choose that."""
        table = await self._room.load_cached(code)
        if table.phase != "open" or table.opener.person != person or not is_by_link(table):
            return None
        return await self._tables.is_open(code)

    async def choose(self, code: str, person: str, language: str, *, is_open: bool) -> str:
        """Open a person's table to anyone, or only to people with its link. Return an error to show, or ""."""
        begin_request()
        try:
            await self._tables.choose(code, person, is_open=is_open)
        except EngineError as error:
            return error_text(error, language)
        return ""

    async def table_lines(self, person: str, language: str) -> list[OpenTableLine]:
        """Return the tables at which a guest can sit down. ``person`` is empty for a new visitor.

        People of chats see no tables, because their names are not for strangers.
        """
        if person and not is_web_guest(person):
            return []
        _, ngettext = texts(language)
        lines = []
        for table in (await self._tables.tables_for(person))[:MAX_LISTED]:
            localized_table = table.localize(language)
            snapshot, free_seats = take_snapshot(localized_table, None), sum(chair is None for chair in table.chairs)
            seats = ngettext("{count} seat free", "{count} seats free", free_seats).format(count=free_seats)
            length_text = _("to {points}").format(points=target_text(snapshot.rules))
            name, about = isolate_name(localized_table.opener.name), f"{length_text} · {seats}"
            lines.append(OpenTableLine(table.code, _(snapshot.kind.name), name, about))
        return lines
