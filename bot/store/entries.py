"""What a table's log tells, entry by entry: a value for each kind of entry, and its text as the log keeps it.

| entry | text | meaning |
|---|---|---|
| `Open` | ``open <game> <person> <name>`` | a table was opened by this person |
| `OtherGame` | ``game <id>`` | another game was chosen, at its default options |
| `Rule` | ``rule <name> <value>`` | an option was set |
| `Sit` | ``sit <seat> <person> <name>`` | somebody took a chair |
| `Stand` | ``stand <seat>`` | and gave it back |
| `Host` | ``host <place>`` | a board stands in this chat |
| `Rehost` | ``rehost <number> <place>`` | the chat of that number, from 0, is called so from now on |
| `Clock` | ``clock <seconds> <manner>`` | a move may take so long, 0 is no clock; ``lax`` or ``strict`` |
| `Invite` | ``invite <person> <handle> <name>`` | somebody was challenged by name; ``-`` is what is not known |
| `Match` | ``match <person> <name>`` | one of two who looked for an opponent; each is asked whether they are ready |
| `Decline` | ``decline <number>`` | one of them, by their order from 0, does not want to; a ``close`` follows |
| `Ask` | ``ask <seat> <person> <name>`` | somebody asks for the chair opposite the first at a side |
| `Withdraw` | ``withdraw <seat>`` | and does so no more |
| `Refuse` | ``refuse <seat>`` | and is refused; accepted, there is a ``sit`` |
| `Day` | ``day <yyyy-mm-dd>`` | it is the deal of that day: one deal, whose secret is that day's (`bot.daily.chain`) |
| `Close` | ``close <why>`` | no game came of it: ``cancelled``, ``declined`` or ``expired`` |
| `FirstDeal` | ``deal <secret> <release> <name=value> …`` | the game began: by which rules, with every option |
| `Deal` | ``deal <secret>`` | another deal began, by its secret in hex |
| `Move` | ``<seat> <move>`` | a move, in the notation of docs/records.md |
| `Late` | ``late <seat>`` | the move that follows was made for the player, whose time was up |
| `Nudge`, `Flag`, `Wait` | ``nudge``, ``flag``, ``wait`` | half of a move's time is gone; all; the others give more |
| `Say` | ``say <seat> <phrase>`` | a player says one of the phrases that strangers have (`bot.tables.table.PHRASES`) |
| `Redacted` | ``redacted`` | entries before this one name somebody in place of a person who was forgotten |
| `Stop` | ``stop <ending> <side>`` | the game was ended from outside; ``-`` is no side |

A person is ``platform:id``, a robot ``robot:level``; a handle is one of the opener's platform; a name is the last field
and may hold spaces. Nobody else writes these texts or takes them apart: `encode` and `decode` do, and each undoes what
the other did. What an entry means for the table stands in `bot.tables.table`; the stamp behind it is the log's
(`bot.store.log`). Texts that a release has written are read for ever.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from engine.rules import Value, spell

UNKNOWN = "-"
"""Stands in a text for what an entry leaves open."""


class UnreadableEntry(ValueError):
    """A text that is no entry that this release knows. The text is not quoted, for it may name a card."""

    def __init__(self) -> None:
        super().__init__("a text is no entry that this release knows")


@dataclass(frozen=True, slots=True)
class Open:
    game: str
    person: str
    name: str


@dataclass(frozen=True, slots=True)
class OtherGame:
    game: str


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Sit:
    seat: int
    person: str
    name: str


@dataclass(frozen=True, slots=True)
class Stand:
    seat: int


@dataclass(frozen=True, slots=True)
class Host:
    """``place`` is the text of a place (`bot.places`)."""

    place: str


@dataclass(frozen=True, slots=True)
class Rehost:
    number: int
    place: str


@dataclass(frozen=True, slots=True)
class Clock:
    seconds: int
    strict: bool


@dataclass(frozen=True, slots=True)
class Invite:
    """``person`` or ``handle`` is empty where it is not known."""

    person: str
    handle: str
    name: str


@dataclass(frozen=True, slots=True)
class Match:
    """``name`` is what strangers call them."""

    person: str
    name: str


@dataclass(frozen=True, slots=True)
class Decline:
    number: int


@dataclass(frozen=True, slots=True)
class Ask:
    seat: int
    person: str
    name: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    seat: int


@dataclass(frozen=True, slots=True)
class Refuse:
    seat: int


@dataclass(frozen=True, slots=True)
class Day:
    day: date


@dataclass(frozen=True, slots=True)
class Close:
    why: Literal["cancelled", "declined", "expired"]


@dataclass(frozen=True, slots=True)
class FirstDeal:
    """``release`` is that of the rules (`engine.rules.RELEASE`), ``rules`` every option with its value."""

    secret: bytes
    release: int
    rules: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Deal:
    secret: bytes


@dataclass(frozen=True, slots=True)
class Move:
    seat: int
    move: str


@dataclass(frozen=True, slots=True)
class Late:
    seat: int


@dataclass(frozen=True, slots=True)
class Nudge:
    pass


@dataclass(frozen=True, slots=True)
class Flag:
    pass


@dataclass(frozen=True, slots=True)
class Wait:
    pass


@dataclass(frozen=True, slots=True)
class Say:
    seat: int
    phrase: str


@dataclass(frozen=True, slots=True)
class Redacted:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    """``side`` is the side that wins, None where nobody does."""

    ending: Literal["timeout", "cancelled"]
    side: int | None = None


Setup = (
    Open
    | OtherGame
    | Rule
    | Sit
    | Stand
    | Host
    | Rehost
    | Clock
    | Invite
    | Match
    | Decline
    | Ask
    | Withdraw
    | Refuse
    | Day
    | Close
)
"""Who sits where, what they mean to play, and where it is shown."""

Course = FirstDeal | Deal | Late | Nudge | Flag | Wait | Say | Redacted | Stop
"""What becomes of the game beside its moves."""

Entry = Setup | Course | Move


def encode(entry: Entry) -> str:
    """An entry as the log keeps it; ValueError for one that would be read as another, such as an id of two words."""
    text = _write(entry)
    if decode(text) != entry:
        raise ValueError(f"a field of {type(entry).__name__} would be read as something else")
    return text


def decode(text: str) -> Entry:
    """The entry that a text stands for; UnreadableEntry if it is none, or not as `encode` writes it."""
    # A table's moves are much like any other's, and most of what is read. What names people is not kept here.
    return _move(text) if text[:1].isdigit() else _read(text)


@lru_cache(maxsize=4096)
def _move(text: str) -> Entry:
    return _read(text)


def _read(text: str) -> Entry:
    word, space, rest = text.partition(" ")
    try:
        if word.isdigit():
            entry: Entry = Move(int(word), rest)
        else:
            kind = FirstDeal if word == "deal" and " " in rest else _KINDS[word]
            _, fields = _FORMS[kind]
            parts = rest.split(" ", max(0, len(fields) - 1)) if space else []
            entry = kind(*[field.read(part) for field, part in zip(fields, parts, strict=True)])
    except (KeyError, ValueError):
        raise UnreadableEntry from None
    if _write(entry) != text:
        raise UnreadableEntry
    return entry


def _write(entry: Entry) -> str:
    if isinstance(entry, Move):
        return f"{entry.seat} {entry.move}"
    word, fields = _FORMS[type(entry)]
    for name, field in zip(type(entry).__match_args__, fields, strict=True):
        word += f" {field.write(getattr(entry, name))}"
    return word


class _Field(NamedTuple):
    """How a field is written, and read."""

    write: Callable[[Any], str]
    read: Callable[[str], Any]


# To Python, True is 1.
_spelled = lru_cache(maxsize=256, typed=True)(spell)


def _value(text: str) -> Value:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if text.isdecimal() else text


def _rules(text: str) -> dict[str, Value]:
    options = [option.split("=", 1) for option in text.split(" ")]
    return {name: _value(value) for name, value in options}


_TEXT = _Field(str, str)
"""One word, or the rest of the line if it is the last field."""
_NUMBER = _Field(str, int)
_IF_KNOWN = _Field(lambda text: text or UNKNOWN, lambda text: "" if text == UNKNOWN else text)
_SIDE = _Field(lambda side: UNKNOWN if side is None else str(side), lambda text: None if text == UNKNOWN else int(text))
_VALUE = _Field(_spelled, _value)
_RULES = _Field(lambda rules: " ".join(f"{name}={_spelled(value)}" for name, value in rules.items()), _rules)
_SECRET = _Field(bytes.hex, bytes.fromhex)
_DAY = _Field(date.isoformat, date.fromisoformat)
_MANNER = _Field({False: "lax", True: "strict"}.__getitem__, {"lax": False, "strict": True}.__getitem__)
_WHY = _Field(str, {why: why for why in ("cancelled", "declined", "expired")}.__getitem__)
_ENDING = _Field(str, {ending: ending for ending in ("timeout", "cancelled")}.__getitem__)

_FORMS: Mapping[type[Any], tuple[str, tuple[_Field, ...]]] = {
    Open: ("open", (_TEXT, _TEXT, _TEXT)),
    OtherGame: ("game", (_TEXT,)),
    Rule: ("rule", (_TEXT, _VALUE)),
    Sit: ("sit", (_NUMBER, _TEXT, _TEXT)),
    Stand: ("stand", (_NUMBER,)),
    Host: ("host", (_TEXT,)),
    Rehost: ("rehost", (_NUMBER, _TEXT)),
    Clock: ("clock", (_NUMBER, _MANNER)),
    Invite: ("invite", (_IF_KNOWN, _IF_KNOWN, _TEXT)),
    Match: ("match", (_TEXT, _TEXT)),
    Decline: ("decline", (_NUMBER,)),
    Ask: ("ask", (_NUMBER, _TEXT, _TEXT)),
    Withdraw: ("withdraw", (_NUMBER,)),
    Refuse: ("refuse", (_NUMBER,)),
    Day: ("day", (_DAY,)),
    Close: ("close", (_WHY,)),
    FirstDeal: ("deal", (_SECRET, _NUMBER, _RULES)),
    Deal: ("deal", (_SECRET,)),
    Late: ("late", (_NUMBER,)),
    Nudge: ("nudge", ()),
    Flag: ("flag", ()),
    Wait: ("wait", ()),
    Say: ("say", (_NUMBER, _TEXT)),
    Redacted: ("redacted", ()),
    Stop: ("stop", (_ENDING, _SIDE)),
}
"""The word by which an entry begins, and its fields in order. A move begins with its seat."""

_KINDS = {word: kind for kind, (word, _) in _FORMS.items() if kind is not FirstDeal}
