"""Names that the bot gives: pseudonyms of forgotten people, nicknames of strangers, and names of guests.

Each forgotten person gets a different pseudonym, so that recalculated ratings of the others stay the same. The person
behind a pseudonym is known only during the forgetting (`bot.features.privacy.forgetting`).
"""

import json
import re
import secrets
from random import choice, randrange
from typing import Any, NamedTuple

from bot.identity.programs import PSEUDONYM_PREFIX, is_program
from bot.platform import PSEUDONYM_PLATFORM
from bot.store import keys
from bot.texts import gettext_noop as _
from bot.texts import texts

NAME = _("somebody")
NICKNAMES = ("Asso", "Due", "Tre", "Fante", "Cavallo", "Re")  # of strangers who have chosen none; a number follows
GUEST = _("Guest {number}")  # name of a guest of the pages who gave none; the number has three digits
# A second number can follow to distinguish two guests at a table.
_GUEST = re.compile(GUEST.format(number=r"(\d{3})") + r"((?: \d+)?)")


class ForgettingMark(NamedTuple):
    """A forgetting in progress: the person's pseudonym and the start in Unix seconds.

    ``is_erased``: all their data is deleted, except what a late write could add.
    """

    pseudonym: str
    since: float
    is_erased: bool = False

    def to_text(self) -> str:
        return json.dumps(self)

    @classmethod
    def parse(cls, text: str | bytes) -> "ForgettingMark":
        return cls(*json.loads(text))


def new_pseudonym(person: str) -> str:
    """Return a new id on a platform that nobody can use. A program's pseudonym is still a program (`is_program`)."""
    prefix = PSEUDONYM_PREFIX if is_program(person) else f"{PSEUDONYM_PLATFORM}:"
    return f"{prefix}{secrets.token_hex(4)}"


def new_nickname() -> str:
    return f"{choice(NICKNAMES)} {randrange(100, 1000)}"


def is_pseudonym(person: str) -> bool:
    return person.startswith(f"{PSEUDONYM_PLATFORM}:")


async def forgetting_marks(client: Any) -> dict[str, ForgettingMark]:
    texts = await client.hgetall(keys.FORGETTING)
    return {person.decode(): ForgettingMark.parse(text) for person, text in texts.items()}


def is_name_from_bot(name: str) -> bool:
    """Return whether the bot gave this name. Such names are translated."""
    return name == NAME or is_guest_name(name)


def is_guest_name(name: str) -> bool:
    return _GUEST.fullmatch(name) is not None


def localize_name(name: str, language: str) -> str:
    """Return a name in a language: names given by the bot are translated."""
    if name == NAME:
        return texts(language).gettext(name)
    if match := _GUEST.fullmatch(name):
        return texts(language).gettext(GUEST).format(number=match[1]) + match[2]
    return name
