"""Who sits in a table's chairs, or is asked to, and by what names."""

from typing import NamedTuple

from bot.pseudonyms import localize_name

ROBOT_NAMES = {
    "easy": ("Gino", "Pina", "Nino"),
    "medium": ("Teresa", "Amedeo", "Ida"),
    "strong": ("Nonna Rosa", "Zio Beppe", "Maestro Elio"),
}
"""Robots have names, for a table of four may seat three of them."""

STAND_IN_LEVEL = "medium"
"""How well a robot plays that stands in for a person: one whose time is up, who was forgotten, or who never came."""


class Chair(NamedTuple):
    """Who sits in a chair: ``person`` is ``platform:id`` or ``robot:level``, ``name`` what others read."""

    person: str
    name: str

    @property
    def is_robot(self) -> bool:
        return self.person.startswith("robot:")

    def localize(self, language: str) -> "Chair":
        return self._replace(name=localize_name(self.name, language))


class Invited(NamedTuple):
    """Who was challenged by name; ``person`` or ``handle`` may be empty, not both. ``is_called`` is whether their phone
    may ring for it.
    """

    person: str
    handle: str
    name: str
    is_notified: bool = True
