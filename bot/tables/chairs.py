"""A table's chairs, and invitations to them."""

from typing import NamedTuple

from bot.identity.pseudonyms import localize_name


class Chair(NamedTuple):
    """A person or robot in a chair. ``person`` is ``platform:id`` or ``robot:level``; others read ``name``."""

    person: str
    name: str

    @property
    def is_robot(self) -> bool:
        return self.person.startswith("robot:")

    def localize(self, language: str) -> "Chair":
        return self._replace(name=localize_name(self.name, language))


class Invited(NamedTuple):
    """A person challenged by name. ``person`` or ``handle`` can be empty, if unknown, but not both.

    If ``is_notified`` is False, the person's phone does not ring.
    """

    person: str
    handle: str
    name: str
    is_notified: bool = True
