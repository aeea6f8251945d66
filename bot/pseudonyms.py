"""Somebody: what stands in place of a person who has been forgotten, wherever a game still needs one; and other names
that we give.

Each forgotten person becomes another somebody, so that ratings which are made anew come out the same for everybody
else. Which somebody was who is known only while the forgetting is under way (`bot.features.privacy.forgetting`).
"""

import json
import re
import secrets
from typing import Any, NamedTuple

from bot.platform import PSEUDONYM_PLATFORM
from bot.store import keys
from bot.texts import gettext_noop as _
from bot.texts import texts

NAME = _("somebody")
GUEST = _("Guest {number}")
"""The name of somebody who came by a page and gave none; the number has three digits."""

_GUEST = re.compile(GUEST.format(number=r"(\d{3})") + r"((?: \d+)?)")
"""With a number behind it if there are two of them at a table (`bot.names.unlike`)."""


class ForgettingMark(NamedTuple):
    """A forgetting that is under way: what stands in the person's place, since when (Unix seconds), and whether all
    that is theirs is gone already, so that only stragglers may be left.
    """

    pseudonym: str
    since: float
    is_erased: bool = False

    def to_text(self) -> str:
        return json.dumps(self)

    @classmethod
    def parse(cls, text: str | bytes) -> "ForgettingMark":
        return cls(*json.loads(text))


def new_pseudonym() -> str:
    """An id that nobody has and nobody can take, for nobody signs in with this platform."""
    return f"{PSEUDONYM_PLATFORM}:{secrets.token_hex(4)}"


def is_pseudonym(person: str) -> bool:
    """Whether a person has been forgotten."""
    return person.startswith(f"{PSEUDONYM_PLATFORM}:")


async def forgetting_marks(client: Any) -> dict[str, ForgettingMark]:
    """The people who are being forgotten just now."""
    found = await client.hgetall(keys.FORGETTING)
    return {person.decode(): ForgettingMark.parse(text) for person, text in found.items()}


def is_given_name(name: str) -> bool:
    """Whether a name is one that we have given: it reads otherwise in another language."""
    return name == NAME or is_guest_name(name)


def is_guest_name(name: str) -> bool:
    """Whether it is the name of somebody who gave none."""
    return name.startswith("Guest") and _GUEST.fullmatch(name) is not None


def localize_name(name: str, language: str) -> str:
    """A name as it reads in a language: one that we have given is translated, everybody else's is their own."""
    if name == NAME:
        return texts(language).gettext(name)
    found = _GUEST.fullmatch(name) if name.startswith("Guest") else None
    return texts(language).gettext(GUEST).format(number=found[1]) + found[2] if found else name
