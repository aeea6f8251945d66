"""Who sits in a table's chairs, or is asked to, and by what names."""

import re
from typing import NamedTuple

from bot.somebody import spoken

LONGEST_NAME = 64
"""Characters of a person's name that a table keeps."""

ROBOT_NAMES = {
    "easy": ("Gino", "Pina", "Nino"),
    "medium": ("Teresa", "Amedeo", "Ida"),
    "strong": ("Nonna Rosa", "Zio Beppe", "Maestro Elio"),
}
"""Robots have names, for a table of four may seat three of them."""

STAND_IN = "medium"
"""How well a robot plays that stands in for a person: one whose time is up, who was forgotten, or who never came."""


class Chair(NamedTuple):
    """Who sits in a chair: ``person`` is ``platform:id`` or ``robot:level``, ``name`` what others read."""

    person: str
    name: str

    @property
    def is_robot(self) -> bool:
        return self.person.startswith("robot:")

    def spoken(self, language: str) -> "Chair":
        return self._replace(name=spoken(self.name, language))


class Invited(NamedTuple):
    """Who was challenged by name; ``person`` or ``handle`` may be empty, not both."""

    person: str
    handle: str
    name: str


BLANKS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that count as printable, and show nothing."""

JOINERS = "\u200c\u200d"
LOOSE_JOINER = re.compile(rf"(?<![^\x00-\x7f{JOINERS}])[{JOINERS}]|[{JOINERS}](?![^\x00-\x7f{JOINERS}])")
"""One that joins nothing: emoji, Persian and the scripts of India need it between two of their characters; elsewhere it
could only make a name look like another.
"""


def plain_name(name: str) -> str:
    """A name that fits in a log entry and on a panel: printable, one line, not too long, never empty."""
    printable = "".join(
        char if (char.isprintable() and char not in BLANKS) or char in JOINERS else " " for char in name
    )
    shown = " ".join(LOOSE_JOINER.sub(" ", printable).split())[:LONGEST_NAME]
    return LOOSE_JOINER.sub("", shown).strip() or "…"
