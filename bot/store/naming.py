"""People in a table's log: who is named there, and the same with somebody in place of one of them.

Which entries there are stands in `bot.tables.table`.
"""

from collections.abc import Sequence

from bot.platform import is_private, person_of, platform_of, private_place
from bot.store.log import unstamped

BEFORE_PERSON = {"open": 1, "sit": 1, "ask": 1, "invite": 0}
"""Entries that name a person, and how many words stand before their id; the last words are the name."""

BEFORE_PLACE = {"host": 0, "rehost": 1}
"""The same for places; a private chat is called by its person."""

UNKNOWN = "-"


def people_in(entries: Sequence[bytes]) -> set[str]:
    """The people whom these entries name, robots left out; who is known by a handle alone is ``platform:@handle``."""
    people: set[str] = set()
    platform = ""
    for entry in entries:
        word, words = _words(entry)
        if word in BEFORE_PERSON:
            person = words[BEFORE_PERSON[word]]
            platform = platform or platform_of(person)
            people.add(by_handle(platform, words[1]) if person == UNKNOWN else person)
        elif word in BEFORE_PLACE and is_private(words[BEFORE_PLACE[word]]):
            people.add(person_of(words[BEFORE_PLACE[word]]))
    return {person for person in people if not person.startswith("robot:")}


def by_handle(platform: str, handle: str) -> str:
    """Somebody of whom nothing but the handle is known."""
    return f"{platform}:@{handle.lower()}"


def redacted(entry: bytes, person: str, handle: str, somebody: str, name: str) -> bytes:
    """An entry with somebody, of this name, in place of a person; ``handle`` is theirs, on the table's platform."""
    word, words = _words(entry)
    if word in BEFORE_PERSON:
        at = BEFORE_PERSON[word]
        is_invited = word == "invite" and words[0] == UNKNOWN and handle and words[1].lower() == handle.lower()
        if words[at] == person or is_invited:
            more = [UNKNOWN] if word == "invite" else []
            return _entry(word, *words[:at], somebody, *more, name)
    if word in BEFORE_PLACE:
        at = BEFORE_PLACE[word]
        if is_private(words[at]) and person_of(words[at]) == person:
            return _entry(word, *words[:at], private_place(somebody))
    return entry


def _words(entry: bytes) -> tuple[str, list[str]]:
    """An entry's first word and the others, as many as there must be: what another release wrote may have fewer."""
    word, *words = unstamped(entry).decode("utf-8", "surrogateescape").split(" ")
    return word, words + [""] * (2 - len(words))


def _entry(*words: str) -> bytes:
    return " ".join(words).encode("utf-8", "surrogateescape")
