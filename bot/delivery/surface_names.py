"""Names of a table's surfaces, which are its messages. A host here is a chat that shows the table.

In the store, in messages between workers and in the keys of sent messages, a name is a short text.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hand:
    """The hand of the person in a seat, in their private chat or in an ephemeral message."""

    seat: int


@dataclass(frozen=True, slots=True)
class ChallengeCard:
    """The challenge card in a chat; ``host`` is the chat's number in the table's list of hosts."""

    host: int


@dataclass(frozen=True, slots=True)
class Board:
    """The board of a deal in a chat. ``deal`` counts from 1."""

    deal: int
    host: int


@dataclass(frozen=True, slots=True)
class Result:
    """The end of the game in a chat."""

    host: int


@dataclass(frozen=True, slots=True)
class OnlyMessage:
    """The only message in a chat without the bot: challenge card, then board, then result."""

    host: int


SurfaceName = Hand | ChallengeCard | Board | Result | OnlyMessage

_KINDS: dict[str, type[SurfaceName]] = {"h": Hand, "c": ChallengeCard, "d": Board, "r": Result, "i": OnlyMessage}
_LETTERS = {kind: letter for letter, kind in _KINDS.items()}
_NAME = re.compile(r"[hcri]\d{1,4}|d\d{1,6}\.\d{1,4}", re.ASCII)


def encode_name(name: SurfaceName) -> str:
    """Return a name's text: ``h<seat>``, ``c<host>``, ``d<deal>.<host>``, ``r<host>`` or ``i<host>``."""
    return _LETTERS[type(name)] + ".".join(str(getattr(name, field)) for field in name.__slots__)


def decode_name(text: str) -> SurfaceName:
    """Parse a name's text. Raise ValueError if it is invalid."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"not the name of a surface: {text!r}")
    return _KINDS[text[0]](*map(int, text[1:].split(".")))
