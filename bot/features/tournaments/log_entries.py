"""Entries of a tournament's log, and their text.

| entry | text | meaning |
|---|---|---|
| `Open` | ``open <person> <name>`` | a person opened the tournament |
| `Place` | ``place <place>`` | its card is in this chat |
| `Play` | ``play <game> <choice>`` | the game and its options, as `bot.tables.game_choice` writes them |
| `Option` | ``option <name> <value>`` | another option was chosen (`bot.features.tournaments.tournament.OPTIONS`) |
| `Enter` | ``enter <person> <name>`` | a person entered; players are numbered from 0 in that order |
| `Leave` | ``leave <player>`` | a player left: before the start as if they had not entered, later they withdraw |
| `Partner` | ``partner <player> <player>`` | two players are partners |
| `Start` | ``start <root> <team> …`` | the tournament began: the root of its secrets, and the teams by seed (``3+0``) |
| `Round` | ``round <ends at> <match> …`` | a round began: pairs of teams (``3-0``), and a team with a bye (``4-``) |
| `Seat` | ``seat <round> <match> <deal> <code>`` | a match's deal, or whole game, is played at this table |
| `Result` | ``result <round> <match> <deal> <winner> <points> <points> <ending> <game>`` | its result |
| `Finish` | ``finish`` | all rounds have been played |
| `Cancel` | ``cancel`` | the tournament was called off |
| `Redacted` | ``redacted`` | a forgotten person was replaced in earlier entries |

Rounds count from 1, matches from 0 in their round, teams from 0 by seed. A deal is 0 if a whole game is played. A
winner is 0 for the match's first team, 1 for its second, ``-`` for none. A game is its id in the archive, ``-`` if no
game was finished. ``ends at`` is in seconds of playing time (`bot.store.leases`) of the director's shard. Later
releases still read these texts.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from bot.store.entry_text import NUMBER, OPTIONAL, SECRET, SIDE, TEXT, Field, Forms, choice

Ending = Literal["played", "resign", "timeout", "forfeit", "void"]
"""The ending of a deal or game. "forfeit": a team withdrew without play. "void": no team is at fault, or both are."""


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
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Start:
    """``teams`` are by seed, the best first; each has the numbers of its players."""

    root: bytes
    teams: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Round:
    """``pairs`` are the matches; a team paired with None has a bye."""

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
    """``first_points`` are the first team's points. ``game`` is the game's id or empty."""

    round: int
    match: int
    deal: int
    winner: int | None
    first_points: int
    second_points: int
    ending: Ending
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
    """Encode an entry for the log. Raises ValueError if the text would decode to another entry."""
    text = _FORMS.write(entry)
    if decode(text) != entry:
        raise ValueError(f"a field of {type(entry).__name__} would be read as something else")
    return text


def _pair(text: str) -> tuple[int, int | None]:
    first, dash, second = text.partition("-")
    if not dash:
        raise ValueError
    return int(first), int(second) if second else None


_SIGNED = Field(str, int)
_TEAMS = Field(
    lambda teams: " ".join("+".join(map(str, team)) for team in teams),
    lambda text: tuple(tuple(map(int, team.split("+"))) for team in text.split(" ")),
)
_PAIRS = Field(
    lambda pairs: " ".join(f"{first}-{'' if second is None else second}" for first, second in pairs),
    lambda text: tuple(map(_pair, text.split(" "))),
)

# each entry's first word and its fields in order
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
        Result: ("result", (NUMBER, NUMBER, NUMBER, SIDE, _SIGNED, _SIGNED, choice(*get_args(Ending)), OPTIONAL)),
        Finish: ("finish", ()),
        Cancel: ("cancel", ()),
        Redacted: ("redacted", ()),
    }
)

decode = _FORMS.read
