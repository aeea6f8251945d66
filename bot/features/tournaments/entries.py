"""What a tournament's log tells, entry by entry: a value for each kind of entry, and its text as the log keeps it.

| entry | text | meaning |
|---|---|---|
| `Open` | ``open <person> <name>`` | somebody opened a tournament |
| `Place` | ``place <place>`` | its card stands in this chat |
| `Play` | ``play <game> <choice>`` | what is played, as `bot.tables.choice` writes it |
| `Option` | ``option <name> <value>`` | another option was chosen (`bot.features.tournaments.tournament.OPTIONS`) |
| `Enter` | ``enter <person> <name>`` | somebody entered; players are numbered from 0 in that order |
| `Leave` | ``leave <player>`` | and left: before the start as if they had not entered, afterwards they withdraw |
| `Partner` | ``partner <player> <player>`` | two of them are a pair |
| `Start` | ``start <root> <team> …`` | it began: the root of its secrets, and the teams by seed (``3+0``) |
| `Round` | ``round <ends at> <match> …`` | a round began: pairs of teams, ``3-0``, and who has a bye, ``4-`` |
| `Seat` | ``seat <round> <match> <deal> <code>`` | a match's deal, or whole game, is played at this table |
| `Result` | ``result <round> <match> <deal> <winner> <points> <points> <how> <game>`` | what came of it |
| `Finish` | ``finish`` | all rounds have been played |
| `Cancel` | ``cancel`` | it was called off |
| `Redacted` | ``redacted`` | entries before this one name somebody in place of a person who was forgotten |

Rounds count from 1, matches from 0 in their round, teams from 0 by seed. A deal is 0 where a whole game is played. A
winner is 0 for the match's first team, 1 for its second, ``-`` for none. A game is its id in the archive, ``-`` where
none was played to an end. ``ends at`` is in seconds of playing time (`bot.store.attendance`) of the shard that
tournaments are minded with. Texts that a release has written are read for ever.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from bot.store.forms import IF_KNOWN, NUMBER, SECRET, SIDE, TEXT, Field, Forms, one_of

How = Literal["played", "resign", "timeout", "forfeit", "void"]
"""How a result came about. "forfeit" is without a card: a team had withdrawn; "void" is of no game at all, nobody's
fault or both teams'.
"""


@dataclass(frozen=True, slots=True)
class Open:
    person: str
    name: str


@dataclass(frozen=True, slots=True)
class Place:
    place: str


@dataclass(frozen=True, slots=True)
class Play:
    game: str
    choice: str


@dataclass(frozen=True, slots=True)
class Option:
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Enter:
    person: str
    name: str


@dataclass(frozen=True, slots=True)
class Leave:
    player: int


@dataclass(frozen=True, slots=True)
class Partner:
    one: int
    other: int


@dataclass(frozen=True, slots=True)
class Start:
    """``teams`` are by seed, the best first: each the numbers of its players."""

    root: bytes
    teams: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Round:
    """``pairs`` are the matches; a team against None has a bye."""

    ends_at: int
    pairs: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, slots=True)
class Seat:
    round: int
    match: int
    deal: int
    code: str


@dataclass(frozen=True, slots=True)
class Result:
    """``ours`` and ``theirs`` are the points of the match's first and second team, as tables count them.
    ``game`` is the finished game's id; empty where none was played to an end.
    """

    round: int
    match: int
    deal: int
    winner: int | None
    ours: int
    theirs: int
    how: How
    game: str = ""


@dataclass(frozen=True, slots=True)
class Finish:
    pass


@dataclass(frozen=True, slots=True)
class Cancel:
    pass


@dataclass(frozen=True, slots=True)
class Redacted:
    pass


Entry = (
    Open | Place | Play | Option | Enter | Leave | Partner | Start | Round | Seat | Result | Finish | Cancel | Redacted
)


def encode(entry: Entry) -> str:
    """An entry as the log keeps it; ValueError for one that would be read as another, such as an id of two words."""
    text = _FORMS.write(entry)
    if decode(text) != entry:
        raise ValueError(f"a field of {type(entry).__name__} would be read as something else")
    return text


def decode(text: str) -> Entry:
    """The entry that a text stands for; `bot.store.forms.UnreadableEntry` if it is none."""
    return _FORMS.read(text)


def _pair(text: str) -> tuple[int, int | None]:
    one, dash, other = text.partition("-")
    if not dash:
        raise ValueError
    return int(one), int(other) if other else None


_SIGNED = Field(str, int)
_TEAMS = Field(
    lambda teams: " ".join("+".join(map(str, team)) for team in teams),
    lambda text: tuple(tuple(map(int, team.split("+"))) for team in text.split(" ")),
)
_PAIRS = Field(
    lambda pairs: " ".join(f"{one}-{'' if other is None else other}" for one, other in pairs),
    lambda text: tuple(map(_pair, text.split(" "))),
)

_FORMS: Forms[Entry] = Forms(
    {
        Open: ("open", (TEXT, TEXT)),
        Place: ("place", (TEXT,)),
        Play: ("play", (TEXT, TEXT)),
        Option: ("option", (TEXT, TEXT)),
        Enter: ("enter", (TEXT, TEXT)),
        Leave: ("leave", (NUMBER,)),
        Partner: ("partner", (NUMBER, NUMBER)),
        Start: ("start", (SECRET, _TEAMS)),
        Round: ("round", (NUMBER, _PAIRS)),
        Seat: ("seat", (NUMBER, NUMBER, NUMBER, TEXT)),
        Result: (
            "result",
            (NUMBER, NUMBER, NUMBER, SIDE, _SIGNED, _SIGNED, one_of(*get_args(How)), IF_KNOWN),
        ),
        Finish: ("finish", ()),
        Cancel: ("cancel", ()),
        Redacted: ("redacted", ()),
    }
)
"""The word by which an entry begins, and its fields in order."""
