"""Lookup of the person whom a command mentions or replies to."""

import re

from bot.identity.names import person_name, plain_name
from bot.people import People, Profile
from bot.platform import Command, Person, platform_of
from bot.tables.chairs import Invited
from bot.tables.errors import TableError

HANDLE = re.compile(r"[\w.]{1,64}")  # the text after an @, on any platform
LONGEST_SHOWN = 32


class NoSuchPerson(TableError):
    sentence = "I don’t know {name} yet: ask them to write to me."


class NotYourself(TableError):
    sentence = "You can’t challenge yourself: leave the name out, and anyone can accept."


class OnePersonAtATime(TableError):
    sentence = "Name one person at a time: you named {names}."


async def find_invited(people: People, command: Command) -> Invited | None:
    """Return the challenged person, or None for an open challenge.

    Raises `OnePersonAtATime`, `NotYourself`, or `NoSuchPerson` for an impossible handle.
    """
    person = await _single_person(people, command)
    if person is None:
        return None
    if person.id == command.person.id or (person.handle and person.handle == command.person.handle):
        raise NotYourself()
    # Invitations are looked up by handle, so it must be valid.
    return Invited(person.id, person.handle if HANDLE.fullmatch(person.handle) else "", person.name)


async def find_mentioned(people: People, command: Command, *, must_be_known: bool = False) -> Profile | None:
    """Return the profile of the mentioned person, or None.

    A platform can name people whom the bot has not met. Their profile has only an id and a name. With ``must_be_known``
    they raise `NoSuchPerson`, as does an unknown handle. Raises `OnePersonAtATime` for several people.
    """
    person = await _single_person(people, command)
    if person is None:
        return None
    profile = await people.person(person.id) if person.id else Profile("")
    if profile.is_known:
        return profile
    if must_be_known or not person.id:
        raise NoSuchPerson(name=_display_name(person))
    return Profile(person.id, person_name(person.name))


async def _single_person(people: People, command: Command) -> Person | None:
    """Return the only person whom a command mentions, or None.

    The person has an id if the platform gave one or the bot knows the handle.
    """
    people_found: dict[str, Person] = {}
    known_handles = {person.handle.lower() for person in command.about}
    words = [word[1:].rstrip(",;:!?.") or word[1:] for word in command.words if word.startswith("@")]
    # A bare @ counts as a mention: otherwise the challenge would be open.
    mentioned_people = (Person("", word, word) for word in words if not word or word.lower() not in known_handles)
    for mentioned in (*command.about, *mentioned_people):
        person = mentioned
        if not mentioned.id:
            if not HANDLE.fullmatch(mentioned.handle):
                raise NoSuchPerson(name=_display_name(mentioned))
            if profile := await people.find_by_handle(platform_of(command.place), mentioned.handle):
                person = Person(profile.id, profile.name, mentioned.handle)
        people_found.setdefault(person.id or person.handle.lower(), person)
    if len(people_found) > 1:
        raise OnePersonAtATime(names=", ".join(map(_display_name, people_found.values())))
    return next(iter(people_found.values()), None)


def _display_name(person: Person) -> str:
    is_handle_only = person.name in ("", person.handle)
    return plain_name(f"@{person.handle}" if is_handle_only else person.name)[:LONGEST_SHOWN]
