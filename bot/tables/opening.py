"""Opening tables: the limits are checked, and each update opens one table. No other code opens tables."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress

from bot.http.addresses import Visitor
from bot.store import keys
from bot.store.entries import Entry
from bot.store.index import CodeTaken
from bot.tables import errors
from bot.tables.codes import table_code
from bot.tables.limits import MAX_OF_UPDATE
from bot.tables.room import Room
from bot.tables.table import Table

Reserve = Callable[[str], Iterable[AbstractAsyncContextManager[None]]]


class Opener:
    """Opens tables; the base of `bot.tables.challenges.Challenges`."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def _open(
        self,
        entries: Sequence[Entry],
        update: str,
        reserve: Reserve,
        *,
        mark: str,
        secret: bytes = b"",
        visitor: Visitor | None = None,
    ) -> Table:
        """Open a table with these entries, and deal if it is full. Return the same table each time for one update.

        ``reserve`` lists the reservations that a table with this code needs. ``mark`` identifies the opener. Once the
        update's table is gone, raises NoSuchTable. With an empty ``mark``, opens another table instead, and raises
        OpenedTooOften after `MAX_OF_UPDATE` tables. ``secret`` belongs to the first deal; it is random if empty.
        ``visitor`` is the address of a web guest. Raises NoNewTables if the store has no room, or during maintenance.
        """
        for code in _codes(update, await self._room.store.secret()):
            new_table = self._room.with_next_deal(Table(code).with_entries(entries, update), update, secret)
            try:
                self.check_can_open()
                async with AsyncExitStack() as reserved:
                    await reserved.enter_async_context(self._room.lists.reserve_for_visitor(visitor, code))
                    for reservation in reserve(code):
                        await reserved.enter_async_context(reservation)
                    return await self._room.open(new_table, update, mark)
            except CodeTaken:
                continue
            except (errors.TooManyTables, errors.TooManyChallenges, errors.TooManyFromAddress, errors.NoNewTables):
                # The update might have opened its table already. Then return that table.
                with suppress(errors.NoSuchTable):
                    existing = await self._room.load(code)
                    if existing.log.was_opened_by(update):
                        return existing
                raise
        raise errors.OpenedTooOften()

    def check_can_open(self) -> None:
        """Raise NoNewTables during maintenance, or if the store has no room for new tables."""
        if self._room.store.memory.is_full:
            raise errors.StoreFull()
        self.check_no_maintenance()

    def check_no_maintenance(self) -> None:
        """Raise NoNewTables during maintenance, with the host's text if there is one."""
        if notice := self._room.store.levers.maintenance:
            raise errors.NoNewTablesBecause(text=notice.text) if notice.text else errors.NoNewTables()

    async def find_opened_table(self, update: str) -> Table | None:
        """Return the table that this update has opened, if it still exists."""
        for code in _codes(update, await self._room.store.secret()):
            try:
                table = await self._room.load(code)
            except errors.NoSuchTable:
                # An update that several people can send opens another table once this one is gone.
                if not await self._room.store.client.exists(keys.tombstone(code)):
                    return None
            else:
                if table.log.was_opened_by(update):
                    return table
        return None


def _codes(update: str, secret: bytes) -> Iterator[str]:
    """Yield the codes of the tables that an update can open.

    Each code is used only if the tables with all earlier ones are gone.
    """
    return (table_code(f"{update} {attempt}", secret) for attempt in range(MAX_OF_UPDATE))
