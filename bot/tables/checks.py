"""What people may do at a table as it stands; each raises a `TableError` that says why not."""

from bot.store.entries import Entry, Host
from bot.tables.errors import (
    AlreadyAsking,
    AlreadyPlaying,
    AlreadySeated,
    NoSuchTable,
    NotAtThisTable,
    NotInvited,
    NotYoursToDecide,
    OnlyTheChallenger,
    TableIsFull,
    TimeIsNotUp,
    TooManyChanges,
    TooManyChats,
)
from bot.tables.table import Table

MOST_HOSTS = 8
"""Chats in which one table may be shown."""

MOST_ENTRIES = 600
"""Entries of a challenge after which no person takes a chair there any more: whoever has one may still give it back.
With that nothing is left that can be done for ever.
"""


def check_open(table: Table) -> None:
    """The game has not begun."""
    if table.phase == "closed":
        raise NoSuchTable(code=table.code)
    if table.phase != "open":
        raise AlreadyPlaying()


def check_opener(table: Table, person: str) -> None:
    """This person opened the table, and the game has not begun."""
    check_open(table)
    if table.matched:
        raise NotYoursToDecide()
    if person != table.opener.person:
        raise OnlyTheChallenger(name=table.opener.name)


def check_free_to_sit(table: Table, person: str, handle: str) -> None:
    """This person may take a chair of the table, if one is free."""
    check_open(table)
    if person.startswith("robot:"):
        return
    if table.seat_of(person) is not None:
        raise AlreadySeated()
    if any(asking.person == person for asking in table.asking.values()):
        raise AlreadyAsking()
    if table.matched and not table.invites(person, handle):
        raise NotInvited(name=", ".join(one.name for one in table.matched))
    if len(table.chairs) == 2 and table.invited and not table.invites(person, handle):
        raise NotInvited(name=table.invited.name)
    if table.version >= MOST_ENTRIES:
        raise TooManyChanges()


def check_flagged(table: Table, person: str) -> int:
    """The seat whose time is up; only the other side may decide about it."""
    seat = require_seat(table, person)
    late = table.game.turn if table.game else None
    if late is None or table.alarm != "flagged":
        raise TimeIsNotUp()
    if seat & 1 == late & 1:
        raise NotYoursToDecide()
    return late


def host_entries(table: Table, place: str) -> list[Entry]:
    """The entry by which a place begins to show the table; none where it does, or there is no place."""
    if not place or place in table.hosts:
        return []
    if table.matched or table.fixture:
        # Who are strangers to each other are to be seen by nobody else; a tournament has a place of its own.
        raise NotYoursToDecide()
    if len(table.hosts) >= MOST_HOSTS:
        raise TooManyChats()
    return [Host(place)]


def require_seat(table: Table, person: str) -> int:
    """Where a person sits, who must."""
    seat = table.seat_of(person)
    if seat is None:
        raise NotAtThisTable(code=table.code)
    return seat


def find_free_chair(table: Table) -> int:
    """The first chair that nobody has or asks for."""
    for seat, chair in enumerate(table.chairs):
        if chair is None and seat not in table.asking:
            return seat
    raise TableIsFull()
