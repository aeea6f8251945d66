"""Who is meant by a person on the command line: ``platform:id``, or the @name by which they were last known."""

import re
from importlib.metadata import entry_points
from typing import Any

from bot.platform import ADAPTER_GROUP
from bot.store import keys

PERSON_HELP = "As platform:id, such as telegram:42, or by their @name: telegram:@anna."
ID_HINT = (
    "An id is `person` in the file that /mydata sends, and stands behind a name in `buongioco tables show CODE`; "
    "or write the @name, such as telegram:@anna."
)

_ID = re.compile(r"[a-z][a-z0-9_-]*:[^\s:@~!/]+")
_NAME = re.compile(r"(?:([a-z][a-z0-9_-]*):)?@([^\s:@~!/]+)")


class UnknownPerson(Exception):
    """There is no such person; the text says what was wrong."""


def check_person(text: str) -> str:
    """The text, if a person may be written so; NoPerson otherwise."""
    if not _ID.fullmatch(text) and not _NAME.fullmatch(text):
        raise UnknownPerson(f"{text!r} is no person: write platform:id, such as telegram:42. {ID_HINT}")
    return text


async def find_person_id(client: Any, text: str) -> str:
    """The id of whom a text means that was `checked`; NoPerson where nobody or more than one was known by a name."""
    named = _NAME.fullmatch(text)
    if named is None:
        return text
    platforms = [named[1]] if named[1] else sorted(entry.name for entry in entry_points(group=ADAPTER_GROUP))
    known = [await client.get(keys.handle(platform, named[2])) for platform in platforms]
    found: list[str] = [person.decode() for person in known if person]
    if not found:
        raise UnknownPerson(f"Nobody is known as @{named[2]} on {' or '.join(platforms)}. {ID_HINT}")
    if len(found) > 1:
        raise UnknownPerson(f"Several people are known as @{named[2]}: {', '.join(found)}. Write which of them.")
    return found[0]
