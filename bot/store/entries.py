"""The entries of a table's log: a value for each kind, and its text in the log.

| entry | text | meaning |
|---|---|---|
| `Open` | ``open <game> <person> <name>`` | this person opened the table |
| `ChangeGame` | ``game <id>`` | another game was chosen, with its default options |
| `Rule` | ``rule <name> <value>`` | an option was set |
| `Sit` | ``sit <seat> <person> <name>`` | a person took a chair |
| `Stand` | ``stand <seat>`` | a person left a chair |
| `Host` | ``host <place>`` | this chat shows a board |
| `Rehost` | ``rehost <number> <place>`` | the chat of that number, from 0, has a new id |
| `Clock` | ``clock <seconds> <manner>`` | the time for a move, 0 for no clock; ``lax`` or ``strict`` |
| `CutOption` | ``cutting <yes or no>`` | whether an opponent of the dealer is asked to cut each pack; no by default |
| `Invite` | ``invite <person> <handle> <name>`` | a person was challenged by name; ``-`` is unknown |
| `InviteMuted` | ``uncalled`` | the challenged person is not notified, because they blocked the opener |
| `Match` | ``match <person> <name>`` | one of the matched people, who are asked whether they are ready |
| `AnyoneCanSit` | ``anyone`` | the opener listed the table for strangers; taking it off the list adds no entry |
| `PlayAgain` | ``again <origin>`` | a rematch of a game opened on a ``page`` or in a private ``chat`` |
| `Decline` | ``decline <number>`` | a matched person, by order from 0, declined; a ``close`` follows |
| `Ask` | ``ask <seat> <person> <name>`` | a person asks for the chair opposite a side's first player |
| `Withdraw` | ``withdraw <seat>`` | the person withdraws this request |
| `Refuse` | ``refuse <seat>`` | the request is refused; if it is accepted, a ``sit`` follows |
| `Day` | ``day <yyyy-mm-dd>`` | one deal with that day's secret (`bot.features.daily.secret_chain`) |
| `Fixture` | ``fixture <tournament> <round> <match> <deal> <place>`` | the match of a tournament that is played here |
| `Duel` | ``duel <code> <side> <deal>`` | one deal with the secret of a duel's deal (`bot.features.duels`) |
| `Close` | ``close <why>`` | no game was played: ``cancelled``, ``declined`` or ``expired`` |
| `Seal` | ``seal <secret>`` | the next deal's secret is fixed, and its pack waits for a cut |
| `CutPack` | ``cut <seat> <text>`` | a player cut that pack; a deal with the same secret follows, even without a cut |
| `FirstDeal` | ``deal <secret> <release> <name=value> …`` | the game began, with these rules and every option |
| `Deal` | ``deal <secret>`` | another deal began, by its secret in hex |
| `Move` | ``<seat> <move>`` | a move, in the notation of docs/records.md |
| `Late` | ``late <seat>`` | the moves that follow, up to a card, were made for a player whose time was up |
| `Nudge` | ``nudge`` | half of a move's time has passed |
| `Flag` | ``flag`` | a move's time has passed |
| `Wait` | ``wait`` | the other players give more time |
| `Say` | ``say <seat> <phrase>`` | a player says one of the phrases (`bot.tables.table_state.PHRASES`) |
| `Redacted` | ``redacted`` | in earlier entries a pseudonym replaces a forgotten person |
| `Stop` | ``stop <ending> <side>`` | the game was ended from outside; ``-`` means no side |

A person is ``platform:id``, a robot ``robot:level``. A handle is from the opener's platform. A name is the last field
and can hold spaces. Only `encode` and `decode` write and parse these texts. `bot.tables.table` gives each entry its
effect; the stamp behind an entry belongs to the log (`bot.store.log`). Texts of every release stay readable.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Literal

from bot.store.entry_text import (
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
from engine.options import Value


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


DEFAULT_CLOCK_SECONDS = 300  # time for a move at a table without a `Clock`


@dataclass(frozen=True, slots=True)
class Clock:
    seconds: int
    strict: bool


@dataclass(frozen=True, slots=True)
class CutOption:
    is_on: bool


@dataclass(frozen=True, slots=True)
class Invite:
    """``person`` or ``handle`` is empty if unknown."""

    person: str
    handle: str
    name: str


@dataclass(frozen=True, slots=True)
class InviteMuted:
    pass


@dataclass(frozen=True, slots=True)
class Match:
    """``name`` is the name that strangers see."""

    person: str
    name: str


@dataclass(frozen=True, slots=True)
class AnyoneCanSit:
    pass


@dataclass(frozen=True, slots=True)
class PlayAgain:
    """``origin`` says how the first game was opened: on a page, or in a private chat."""

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
class Duel:
    """``side`` is 0 for the challenger and 1 for the opponent. ``deal`` counts from 1."""

    code: str
    side: int
    deal: int


@dataclass(frozen=True, slots=True)
class Fixture:
    """A table's place in a tournament.

    ``round`` counts from 1, ``match`` from 0 in its round. ``deal`` is 0 for a whole game. Otherwise it is the number,
    from 1, of the single deal played here with the same cards as at the round's other tables. ``place`` has the
    tournament's card.
    """

    tournament: str
    round: int
    match: int
    deal: int
    place: str

    @property
    def is_duplicate(self) -> bool:
        """True if other tables have the same cards. Then a deal is hidden until all tables have played it."""
        return self.deal > 0


@dataclass(frozen=True, slots=True)
class Close:
    why: Literal["cancelled", "declined", "expired"]


@dataclass(frozen=True, slots=True)
class Seal:
    secret: bytes


@dataclass(frozen=True, slots=True)
class CutPack:
    """``text`` is as in a record (`engine.shuffle.Cut`)."""

    seat: int
    text: str


@dataclass(frozen=True, slots=True)
class FirstDeal:
    """``release`` is the release of the rules (`engine.options.RELEASE`). ``rules`` has every option."""

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
class SayTo(Say):
    readers: str  # the only seats that read it, such as "02": others have blocked the speaker, or the speaker them


@dataclass(frozen=True, slots=True)
class Redacted:
    pass


@dataclass(frozen=True, slots=True)
class Stop:
    """``side`` wins; None if no side does."""

    ending: Literal["timeout", "cancelled"]
    side: int | None = None


# Entries about options, about seats and invitations, and about the occasion and the chats of the game.
Terms = ChangeGame | Rule | Clock | CutOption | AnyoneCanSit
Seating = Sit | Stand | Invite | InviteMuted | Match | Decline | Ask | Withdraw | Refuse
Setup = Open | Terms | Seating | Host | Rehost | PlayAgain | Day | Duel | Fixture | Close

# Entries about the game, except its moves.
Progress = Seal | CutPack | FirstDeal | Deal | Late | Nudge | Flag | Wait | Say | SayTo | Redacted | Stop

Entry = Setup | Progress | Move


def encode(entry: Entry) -> str:
    """Return the text of an entry. Raise ValueError if `decode` would read another entry, as for an id of two words."""
    text = _write(entry)
    if decode(text) != entry:
        raise ValueError(f"a field of {type(entry).__name__} would be read as something else")
    return text


def decode(text: str) -> Entry:
    """Parse an entry's text. Raise UnreadableEntry if `encode` does not write it like this."""
    # Moves are cached, because most entries are moves. Entries with names are not kept in memory.
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

_YES_OR_NO = Field({False: "no", True: "yes"}.__getitem__, {"no": False, "yes": True}.__getitem__)

# The first word of each entry and its fields in order. A move begins with its seat.
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
        CutOption: ("cutting", (_YES_OR_NO,)),
        Invite: ("invite", (OPTIONAL, OPTIONAL, TEXT)),
        InviteMuted: ("uncalled", ()),
        Match: ("match", (TEXT, TEXT)),
        AnyoneCanSit: ("anyone", ()),
        PlayAgain: ("again", (choice("page", "chat"),)),
        Decline: ("decline", (NUMBER,)),
        Ask: ("ask", (NUMBER, TEXT, TEXT)),
        Withdraw: ("withdraw", (NUMBER,)),
        Refuse: ("refuse", (NUMBER,)),
        Day: ("day", (DAY,)),
        Duel: ("duel", (TEXT, NUMBER, NUMBER)),
        Fixture: ("fixture", (TEXT, NUMBER, NUMBER, NUMBER, TEXT)),
        Close: ("close", (choice("cancelled", "declined", "expired"),)),
        Seal: ("seal", (SECRET,)),
        CutPack: ("cut", (NUMBER, TEXT)),
        FirstDeal: ("deal", (SECRET, NUMBER, RULES)),
        Deal: ("deal", (SECRET,)),
        Late: ("late", (NUMBER,)),
        Nudge: ("nudge", ()),
        Flag: ("flag", ()),
        Wait: ("wait", ()),
        Say: ("say", (NUMBER, TEXT)),
        SayTo: ("sayto", (NUMBER, TEXT, OPTIONAL)),
        Redacted: ("redacted", ()),
        Stop: ("stop", (choice("timeout", "cancelled"), SIDE)),
    }
)
