"""People on the command line: ``platform:id``, or the last known @name."""

import re
from importlib.metadata import entry_points
from typing import Any

import typer

from bot.platform import ADAPTER_GROUP
from bot.store import keys

PERSON_HELP = "Write platform:id, such as telegram:42, or an @name, such as telegram:@anna."
ID_HINT = (
    "The id is `person` in the file that /mydata sends, and `buongioco tables show CODE` lists ids. "
    "An @name works too, such as telegram:@anna."
)

_ID = re.compile(r"[a-z][a-z0-9_-]*:[^\s:@~!/]+")
_NAME = re.compile(r"(?:([a-z][a-z0-9_-]*):)?@([^\s:@~!/]+)")


def check_person(text: str) -> str:
    """Return the text if it is written like an id or an @name. Raises BadParameter otherwise."""
    if not _ID.fullmatch(text) and not _NAME.fullmatch(text):
        raise typer.BadParameter(f"{text!r} is not a person. Write platform:id, such as telegram:42. {ID_HINT}")
    return text


async def find_person_id(client: Any, text: str, param: str) -> str:
    """Return the id for a text from `check_person`. Raise BadParameter unless exactly one person has the @name."""
    match_ = _NAME.fullmatch(text)
    if match_ is None:
        return text
    platforms = [match_[1]] if match_[1] else sorted(entry.name for entry in entry_points(group=ADAPTER_GROUP))
    known_ids = [await client.get(keys.handle(platform, match_[2])) for platform in platforms]
    match [person.decode() for person in known_ids if person]:
        case [person]:
            return str(person)
        case []:
            problem = f"No one is known as @{match_[2]} on {' or '.join(platforms)}. {ID_HINT}"
        case people:
            problem = f"Several people are known as @{match_[2]}: {', '.join(people)}. Write one of these ids."
    raise typer.BadParameter(problem, param_hint=param)
