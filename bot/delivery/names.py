"""Names of a table's surfaces: values in memory, short texts in the store, between workers and in the keys of sends."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hand:
    """The hand of the person in a seat, in their private chat, or ephemeral in a group."""

    seat: int


@dataclass(frozen=True, slots=True)
class ChallengeCard:
    """The challenge card in a chat; ``host`` is the chat's number in the table's list of hosts."""

    host: int


@dataclass(frozen=True, slots=True)
class Board:
    """The board of a deal, from 1, in a chat."""

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

_NAME = re.compile(
    r"h(?P<hand>\d{1,4})|c(?P<card>\d{1,4})|d(?P<deal>\d{1,6})\.(?P<host>\d{1,4})|r(?P<result>\d{1,4})"
    r"|i(?P<only>\d{1,4})",
    re.A,
)


def encode_name(name: SurfaceName) -> str:
    """Return a name's text: ``h<seat>``, ``c<host>``, ``d<deal>.<host>``, ``r<host>`` or ``i<host>``."""
    match name:
        case Hand(seat):
            return f"h{seat}"
        case ChallengeCard(host):
            return f"c{host}"
        case Board(deal, host):
            return f"d{deal}.{host}"
        case Result(host):
            return f"r{host}"
        case OnlyMessage(host):
            return f"i{host}"


def decode_name(text: str) -> SurfaceName:
    """Parse a name's text. Raise ValueError if it is invalid."""
    found = _NAME.fullmatch(text)
    if found is None:
        raise ValueError(f"not the name of a surface: {text!r}")
    fields = {key: int(value) for key, value in found.groupdict().items() if value}
    match fields:
        case {"hand": seat}:
            return Hand(seat)
        case {"card": host}:
            return ChallengeCard(host)
        case {"deal": deal, "host": host}:
            return Board(deal, host)
        case {"only": host}:
            return OnlyMessage(host)
        case _:
            return Result(fields["result"])
