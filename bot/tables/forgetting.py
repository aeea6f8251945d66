"""Forgetting a person at tables: their chair becomes free and their name leaves the log."""

from bot.identity.pseudonyms import NAME
from bot.platform import platform_of
from bot.store.entries import Close, Entry, Move, Redacted, Withdraw, encode
from bot.store.log import Log
from bot.store.people_in_logs import platform_of_entries, redact
from bot.tables.room import Room
from bot.tables.table import Table


async def remove_person(room: Room, code: str, person: str, handle: str, somebody: str) -> bool:
    """Remove a person from a table and put the pseudonym ``somebody`` in their place throughout its log, in one commit.

    Close a challenge by or to the person, give back their chair at a waiting table, or resign their running game.
    Return whether anything changed. Raise NoSuchTable if the table does not exist.
    """
    while True:
        table = await room.load(code)
        own_handle = handle if platform_of_entries(table.log.entries) in ("", platform_of(person)) else ""
        leaving = [encode(entry).encode() for entry in leaving_entries(table, person, own_handle)]
        entries = [*table.log.entries, *leaving]
        redacted_entries = [redact(entry, person, own_handle, somebody, NAME) for entry in entries]
        if redacted_entries == table.log.entries:
            return False
        # A rewritten log must have at least two entries more than before (`Store.rewrite`).
        if await room.rewrite(table, Log([*redacted_entries, *[encode(Redacted()).encode()] * 2])):
            return True


def leaving_entries(table: Table, person: str, handle: str) -> list[Entry]:
    """Return the entries by which a person leaves; none if the table is over or unreadable."""
    seat = table.seat_of(person)
    if table.phase == "playing" and seat is not None:
        return [Move(seat, "resign")]
    if table.phase != "open":
        return []
    if person == table.opener.person:
        return [Close("cancelled")]
    if len(table.chairs) == 2 and table.invites(person, handle):
        return [Close("declined")]
    withdrawals = [Withdraw(seat) for seat, chair in table.asking.items() if chair.person == person]
    return [*withdrawals, *(table.stand_entries(seat) if seat is not None else [])]
