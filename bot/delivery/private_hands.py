"""Hands sent to a person's private chat on request."""

from collections.abc import Awaitable, Callable

from bot.delivery.message_state import State, decode_state
from bot.delivery.surface import Change
from bot.delivery.surface_names import Hand, SurfaceName, encode_name
from bot.panels.drafts import NO_DRAFT
from bot.people import Profile
from bot.platform import is_private
from bot.store import Store
from bot.tables.errors import AlreadyPlaying, NotAtThisTable, NotBegun, TableError
from bot.tables.table import Table
from bot.tables.table_lists import TableLists
from bot.texts import texts


class PrivateHands:
    """Sends people their hands again. ``change`` notifies the delivery of a table."""

    def __init__(
        self, store: Store, lists: TableLists, change: Callable[[str, SurfaceName, Change], Awaitable[None]]
    ) -> None:
        self._store, self._lists, self._change = store, lists, change

    async def recall(self, person: str, place: str) -> list[tuple[Table, int]]:
        """Send a person's hands to their private chat ``place``, except those shown there.

        Return all their tables, each with the person's seat.
        """
        seats = await self._seats_of(person, "")
        for table, seat in seats:
            state = decode_state((await self._store.load_shown(table.code)).get(encode_name(Hand(seat)), ""))
            if state.state is not State.SHOWN or state.ephemeral:
                await self._change(table.code, Hand(seat), Change(draft=NO_DRAFT, repost=True, place=place))
        return seats

    async def resend(self, person: str, code: str, place: str) -> int:
        """Send a person's hands again and return their number: at one table, or at all tables if ``code`` is empty.

        The hands move to ``place`` if that is private or ephemeral.
        """
        seats = await self._seats_of(person, code)
        for table, seat in seats:
            # Drop unanswered questions and half-made choices.
            change = Change(draft=NO_DRAFT, repost=True, place=place if is_private(place) else "")
            await self._change(table.code, Hand(seat), change)
        return len(seats)

    async def toast(self, profile: Profile, code: str = "") -> str:
        """Return the answer to a request for hands. Call this before `resend`, which changes the hands' state."""
        _ = texts(profile.language).gettext
        for table, seat in await self._seats_of(profile.id, code):
            state = (await self._store.load_shown(table.code)).get(encode_name(Hand(seat)))
            if state and decode_state(state).state is State.UNREACHABLE:
                return _("I can’t write to you: open our private chat and write /hand there.")
        return _("Your cards are on their way to our private chat: if they don’t come, write /hand there.")

    async def explain_missing(self, person: str, code: str) -> TableError:
        """Return the error that says why a person has no cards at the table with this code."""
        for table in await self._lists.tables_of(person):
            if table.code == code:
                return NotBegun(code=code) if table.phase == "open" else AlreadyPlaying()
        return NotAtThisTable(code=code[:8])

    async def _seats_of(self, person: str, code: str) -> list[tuple[Table, int]]:
        """Return the tables where a person plays, each with their seat; with a ``code``, only that table."""
        return [
            (table, seat)
            for table in await self._lists.tables_of(person)
            if table.phase == "playing" and code in ("", table.code) and (seat := table.seat_of(person)) is not None
        ]
