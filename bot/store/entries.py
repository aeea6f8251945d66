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
| `Uncalled` | ``uncalled`` | whoever was challenged by name is not called, for they have blocked the opener |
| `Match` | ``match <person> <name>`` | one of two who looked for an opponent; each is asked whether they are ready |
| `Again` | ``again <origin>`` | they play again what was opened on a ``page`` or in a private ``chat`` |
| `Decline` | ``decline <number>`` | one of them, by their order from 0, does not want to; a ``close`` follows |
| `Ask` | ``ask <seat> <person> <name>`` | somebody asks for the chair opposite the first at a side |
| `Withdraw` | ``withdraw <seat>`` | and does so no more |
| `Refuse` | ``refuse <seat>`` | and is refused; accepted, there is a ``sit`` |
| `Day` | ``day <yyyy-mm-dd>`` | the deal of that day: one deal with that day's secret (`bot.features.daily.chain`) |
| `Fixture` | ``fixture <tournament> <round> <match> <deal> <place>`` | a tournament's (`bot.features.tournaments`) |
| `Close` | ``close <why>`` | no game came of it: ``cancelled``, ``declined`` or ``expired`` |
| `FirstDeal` | ``deal <secret> <release> <name=value> …`` | the game began: by which rules, with every option |
| `Deal` | ``deal <secret>`` | another deal began, by its secret in hex |
| `Move` | ``<seat> <move>`` | a move, in the notation of docs/records.md |
| `Late` | ``late <seat>`` | what follows, up to a card, was made for the player, whose time was up |
| `Nudge`, `Flag`, `Wait` | ``nudge``, ``flag``, ``wait`` | half of a move's time is gone; all; the others give more |
| `Say` | ``say <seat> <phrase>`` | a player says one of the phrases that strangers have (`bot.tables.table.PHRASES`) |
| `Redacted` | ``redacted`` | entries before this one name somebody in place of a person who was forgotten |
| `Stop` | ``stop <ending> <side>`` | the game was ended from outside; ``-`` is no side |

A person is ``platform:id``, a robot ``robot:level``; a handle is one of the opener's platform; a name is the last field
and may hold spaces. Nobody else writes these texts or takes them apart: `encode` and `decode` do, and each undoes what
the other did. What an entry means for the table stands in `bot.tables.table`; the stamp behind it is the log's
(`bot.store.log`). Texts that a release has written are read for ever.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from bot.store.forms import (
    DAY,
    NUMBER,
    OPTIONAL,
    RULES,
    SECRET,
    SIDE,
    TEXT,
    VALUE,
    Field,
    Forms,
    UnreadableEntry,
    choice,
)
from engine.rules import Value


@dataclass(frozen=True, slots=True)
class Open:
    game: str
    person: str
    name: str


@dataclass(frozen=True, slots=True)
class ChangeGame:
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
class InviteMuted:
    pass


@dataclass(frozen=True, slots=True)
class Match:
    """``name`` is what strangers call them."""

    person: str
    name: str


@dataclass(frozen=True, slots=True)
class PlayAgain:
    """``origin`` is where the game was opened that those who are asked play again: on a page, or in a private chat."""

    origin: Literal["page", "chat"]


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
class Fixture:
    """``round`` counts from 1, ``match`` from 0 in its round; ``deal`` is 0 for a whole game, and otherwise the number,
    from 1, of the one deal that is played here with the cards that the round's other tables have, too. ``place`` is
    where the tournament's card stands.
    """

    tournament: str
    round: int
    match: int
    deal: int
    place: str

    @property
    def is_duplicate(self) -> bool:
        """Whether other tables have the same cards: nothing of them is told before all of them have played."""
        return self.deal > 0


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
    | ChangeGame
    | Rule
    | Sit
    | Stand
    | Host
    | Rehost
    | Clock
    | Invite
    | InviteMuted
    | Match
    | PlayAgain
    | Decline
    | Ask
    | Withdraw
    | Refuse
    | Day
    | Fixture
    | Close
)
"""Who sits where, what they mean to play, and where it is shown."""

Progress = FirstDeal | Deal | Late | Nudge | Flag | Wait | Say | Redacted | Stop
"""What becomes of the game beside its moves."""

Entry = Setup | Progress | Move


def encode(entry: Entry) -> str:
    """An entry as the log keeps it; ValueError for one that would be read as another, such as an id of two words."""
    text = _write(entry)
    if decode(text) != entry:
        raise ValueError(f"a field of {type(entry).__name__} would be read as something else")
    return text


def decode(text: str) -> Entry:
    """The entry that a text stands for; UnreadableEntry if it is none, or not as `encode` writes it."""
    # A table's moves are much like any other's, and most of what is read. What names people is not kept here.
    return _decode_move(text) if text[:1].isdecimal() else _FORMS.read(text)


@lru_cache(maxsize=4096)
def _decode_move(text: str) -> Entry:
    seat, _, move = text.partition(" ")
    entry = Move(int(seat), move) if seat.isdecimal() else None
    if entry is None or _write(entry) != text:
        raise UnreadableEntry
    return entry


def _write(entry: Entry) -> str:
    return f"{entry.seat} {entry.move}" if isinstance(entry, Move) else _FORMS.write(entry)


_MANNER = Field({False: "lax", True: "strict"}.__getitem__, {"lax": False, "strict": True}.__getitem__)

_FORMS: Forms[Setup | Progress] = Forms(
    {
        Open: ("open", (TEXT, TEXT, TEXT)),
        ChangeGame: ("game", (TEXT,)),
        Rule: ("rule", (TEXT, VALUE)),
        Sit: ("sit", (NUMBER, TEXT, TEXT)),
        Stand: ("stand", (NUMBER,)),
        Host: ("host", (TEXT,)),
        Rehost: ("rehost", (NUMBER, TEXT)),
        Clock: ("clock", (NUMBER, _MANNER)),
        Invite: ("invite", (OPTIONAL, OPTIONAL, TEXT)),
        InviteMuted: ("uncalled", ()),
        Match: ("match", (TEXT, TEXT)),
        PlayAgain: ("again", (choice("page", "chat"),)),
        Decline: ("decline", (NUMBER,)),
        Ask: ("ask", (NUMBER, TEXT, TEXT)),
        Withdraw: ("withdraw", (NUMBER,)),
        Refuse: ("refuse", (NUMBER,)),
        Day: ("day", (DAY,)),
        Fixture: ("fixture", (TEXT, NUMBER, NUMBER, NUMBER, TEXT)),
        Close: ("close", (choice("cancelled", "declined", "expired"),)),
        FirstDeal: ("deal", (SECRET, NUMBER, RULES)),
        Deal: ("deal", (SECRET,)),
        Late: ("late", (NUMBER,)),
        Nudge: ("nudge", ()),
        Flag: ("flag", ()),
        Wait: ("wait", ()),
        Say: ("say", (NUMBER, TEXT)),
        Redacted: ("redacted", ()),
        Stop: ("stop", (choice("timeout", "cancelled"), SIDE)),
    }
)
"""The word by which an entry begins, and its fields in order. A move begins with its seat."""
