"""Checks of actions at a table. Each raises a `TableError` that gives the reason."""

from datetime import UTC, datetime

from bot.platform import is_private
from bot.store.entries import Entry, Host
from bot.store.levers import Levers
from bot.tables import errors
from bot.tables.limits import MAX_ENTRIES, MAX_HOSTS
from bot.tables.table import Table
from bot.texts import gettext_noop as _
from engine.errors import GameIsOver

NO_CONTACT = _("the person who runs it")  # follows "ask"


def check_not_banned(levers: Levers, person: str) -> None:
    """Check that the host has not banned this person."""
    if ban := levers.ban_of(person):
        contact = levers.contact or NO_CONTACT
        if ban.until:
            raise errors.BannedUntil(day=datetime.fromtimestamp(ban.until, UTC).date(), contact=contact)
        raise errors.Banned(contact=contact)


def check_before_deal(table: Table) -> None:
    """Check that no card is dealt yet. Until then players can leave, even while the first pack waits for a cut."""
    if table.phase == "closed":
        raise errors.NoSuchTable(code=table.code)
    if table.phase == "over":
        raise GameIsOver()
    if table.phase != "open":
        raise errors.AlreadyPlaying()


def check_open(table: Table) -> None:
    """Check that the game has not begun, and no pack waits for a cut."""
    check_before_deal(table)
    if table.awaits_cut:
        raise errors.AlreadyPlaying()


def check_begun(table: Table) -> None:
    """Check that cards have been dealt here. The game can be over."""
    if table.phase == "closed":
        raise errors.NoSuchTable(code=table.code)
    if table.game is None:
        raise errors.NotPlaying()


def check_opener(table: Table, person: str) -> None:
    if table.matched:
        raise errors.NotYoursToDecide()
    if person != table.opener.person:
        raise errors.OnlyTheChallenger(name=table.opener.name)


def check_free_to_sit(table: Table, person: str, handle: str) -> None:
    check_open(table)
    if person.startswith("robot:"):
        return
    if table.seat_of(person) is not None:
        is_opener = person == table.opener.person and not table.matched
        raise errors.OpenerIsSeated() if is_opener else errors.AlreadySeated()
    if any(asker.person == person for asker in table.asking.values()):
        raise errors.AlreadyAsking()
    if table.matched and not table.invites(person, handle):
        raise errors.NotInvited(name=", ".join(chair.name for chair in table.matched))
    if len(table.chairs) == 2 and table.invited and not table.invites(person, handle):
        raise errors.NotInvited(name=table.invited.name)
    if table.version >= MAX_ENTRIES:
        raise errors.TooManyChanges()


def check_flagged(table: Table, person: str) -> int:
    """Return the late seat. Only its opponents can decide about it."""
    seat = require_seat(table, person)
    check_begun(table)
    if table.phase == "over":
        raise GameIsOver()
    late_seat = table.game.turn if table.game else None
    if late_seat is None or table.alarm != "flagged":
        raise errors.TimeIsNotUp()
    if seat & 1 == late_seat & 1:
        raise errors.NotYoursToDecide()
    return late_seat


def host_entries(table: Table, place: str) -> list[Entry]:
    """Return the entry that shows the table in a place; empty if it is shown there already, or without a place."""
    if not place or place in table.hosts:
        return []
    if table.matched or table.fixture:
        # Only matched strangers see their table. A tournament has its own place.
        raise errors.NotYoursToDecide()
    if table.was_listed and not is_private(place):
        # In a group, the strangers would seem to share a chat.
        raise errors.NotYoursToDecide()
    if len(table.hosts) >= MAX_HOSTS:
        raise errors.TooManyChats()
    return [Host(place)]


def require_seat(table: Table, person: str) -> int:
    """Return a person's seat. Raises NotAtThisTable if they do not sit here."""
    seat = table.seat_of(person)
    if seat is None:
        raise errors.NotAtThisTable(code=table.code)
    return seat


def find_free_chair(table: Table) -> int:
    for seat, chair in enumerate(table.chairs):
        if chair is None and seat not in table.asking:
            return seat
    raise errors.TableIsFull()
