"""People in a table's log: who is named, and how one of them is replaced by a pseudonym."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.platform import PSEUDONYM_PLATFORM, is_private, person_of, platform_of, private_place
from bot.store.entries import Ask, Entry, Host, Invite, Match, Open, Rehost, Sit, decode, encode
from bot.store.forms import UnreadableEntry
from bot.store.log import strip_stamp


def people_in(entries: Sequence[bytes]) -> set[str]:
    """The people whom these entries name, robots left out; who is known by a handle alone is ``platform:@handle``."""
    people: set[str] = set()
    for stored in entries:
        match _decode(stored):
            case Open(_, person) | Sit(_, person) | Ask(_, person) | Match(person) | Invite(person) if person:
                people.add(person)
            case Invite(_, handle):
                people.add(person_by_handle(platform_of_entries(entries), handle))
            case Host(place) | Rehost(_, place) if is_private(place):
                # A private chat is called by its person.
                people.add(person_of(place))
    return {person for person in people if not person.startswith("robot:")}


def platform_of_entries(entries: Sequence[bytes]) -> str:
    """The platform that handles in these entries are of: that of the first person or place there that one still knows;
    empty if there is none. Who opened the table may be somebody by now.
    """
    for stored in entries:
        match _decode(stored):
            case Open(_, one) | Sit(_, one) | Ask(_, one) | Match(one) | Invite(one) | Host(one) | Rehost(_, one):
                if platform_of(one) not in ("", PSEUDONYM_PLATFORM, "robot"):
                    return platform_of(one)
    return ""


def person_by_handle(platform: str, handle: str) -> str:
    """Return the name of a person known only by a handle."""
    return f"{platform}:@{handle.lower()}"


def redact(stored: bytes, person: str, handle: str, somebody: str, name: str) -> bytes:
    """An entry with somebody, of this name, in place of a person, and without a stamp that may name them; ``handle`` is
    theirs, on the table's platform.
    """
    entry = _decode(stored)
    match entry:
        case Open(_, one) | Sit(_, one) | Ask(_, one) | Match(one) if one == person:
            return _encode(replace(entry, person=somebody, name=name))
        case Invite(one, theirs) if one == person or (not one and handle and theirs.lower() == handle.lower()):
            return _encode(Invite(somebody, "", name))
        case Host(place) | Rehost(_, place) if is_private(place) and person_of(place) == person:
            return _encode(replace(entry, place=private_place(somebody)))
        case Open():
            # Whoever asks again for what opened the table must find it, and such a stamp is the opener's or our own.
            return stored
        case _:
            text, _, stamp = stored.partition(b"\t")
            return text if contains_person_id(stamp.decode("utf-8", "surrogateescape"), person) else stored


def contains_person_id(update: str, person: str) -> bool:
    """Return whether an update's key may hold a person's id on their platform."""
    _platform, _, known = person.partition(":")
    return re.search(rf"(?<![0-9]){re.escape(known)}(?![0-9])", update) is not None


def _decode(stored: bytes) -> Entry | None:
    """Parse an entry; None if another release wrote it. A name may be invalid UTF-8."""
    try:
        return decode(strip_stamp(stored).decode("utf-8", "surrogateescape"))
    except UnreadableEntry:
        return None


def _encode(entry: Entry) -> bytes:
    return encode(entry).encode("utf-8", "surrogateescape")
