"""The people that a table's log names, and their replacement by pseudonyms."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.platform import PSEUDONYM_PLATFORM, is_private, person_of, platform_of, private_place
from bot.store.entries import Ask, Entry, Host, Invite, Match, Open, Rehost, Sit, decode, encode
from bot.store.entry_text import UnreadableEntry
from bot.store.log import strip_stamp


def people_in(entries: Sequence[bytes]) -> set[str]:
    """Return the people that these entries name, without robots, by id or `person_by_handle`."""
    people: set[str] = set()
    for stored_entry in entries:
        match _decode(stored_entry):
            case Open(_, person) | Sit(_, person) | Ask(_, person) | Match(person) | Invite(person) if person:
                people.add(person)
            case Invite(_, handle):
                people.add(person_by_handle(platform_of_entries(entries), handle))
            case Host(place) | Rehost(_, place) if is_private(place):
                # A private chat is named after its person.
                people.add(person_of(place))
    return {person for person in people if not person.startswith("robot:")}


def platform_of_entries(entries: Sequence[bytes]) -> str:
    """Return the platform of the handles in these entries; empty if it is unknown.

    It is the platform of the first person or place that is not a pseudonym. The opener might already be forgotten.
    """
    for stored_entry in entries:
        match _decode(stored_entry):
            case Open(_, id) | Sit(_, id) | Ask(_, id) | Match(id) | Invite(id) | Host(id) | Rehost(_, id):
                if platform_of(id) not in ("", PSEUDONYM_PLATFORM, "robot"):
                    return platform_of(id)
    return ""


def person_by_handle(platform: str, handle: str) -> str:
    """Return what replaces the id of a person known only by a handle."""
    return f"{platform}:@{handle.lower()}"


def redact(stored_entry: bytes, person: str, handle: str, pseudonym: str, name: str) -> bytes:
    """Return an entry in which a pseudonym with this name replaces a person.

    ``handle`` is the person's handle on the table's platform. A stamp that can hold the person's id is removed.
    """
    entry = _decode(stored_entry)
    match entry:
        case Open(_, person_id) | Sit(_, person_id) | Ask(_, person_id) | Match(person_id) if person_id == person:
            return _encode(replace(entry, person=pseudonym, name=name))
        case Invite(person_id, invited) if person_id == person or (
            not person_id and handle and invited.lower() == handle.lower()
        ):
            return _encode(Invite(pseudonym, "", name))
        case Host(place) | Rehost(_, place) if is_private(place) and person_of(place) == person:
            return _encode(replace(entry, place=private_place(pseudonym)))
        case Open():
            # Keep the stamp, because a repeated update must find the table that it opened. It does not name this
            # person: the update came from the opener or the bot.
            return stored_entry
        case _:
            text, _, stamp = stored_entry.partition(b"\t")
            return text if contains_person_id(stamp.decode("utf-8", "surrogateescape"), person) else stored_entry


def contains_person_id(update: str, person: str) -> bool:
    """Return whether an update's key can hold a person's id on their platform."""
    _platform, _, native_id = person.partition(":")
    return re.search(rf"(?<![0-9]){re.escape(native_id)}(?![0-9])", update) is not None


def _decode(stored_entry: bytes) -> Entry | None:
    """Parse an entry; None if another release wrote it. A name can be invalid UTF-8."""
    try:
        return decode(strip_stamp(stored_entry).decode("utf-8", "surrogateescape"))
    except UnreadableEntry:
        return None


def _encode(entry: Entry) -> bytes:
    return encode(entry).encode("utf-8", "surrogateescape")
