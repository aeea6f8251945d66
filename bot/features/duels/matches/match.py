"""A match of two groups and its score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from bot.features.duels.duel import DAY, DAYS, SIDES, Duel, Player, Score
from bot.platform import chat_of

MIN_PAIRS = 2
MAX_ENTRANTS = 12  # of each group; more names might not fit in a message
ENTRY_SECONDS = DAY  # time to enter after the other group has accepted

Closing = Literal["", "over", "time", "off", "few"]
"""Why a match is closed: its duels are over, no group accepted it, it was called off, or too few people entered."""


class Side(NamedTuple):
    """A group in a match. ``place`` is where its board is, ``organiser`` the person who opened or accepted it."""

    place: str
    organiser: str


class Entrant(NamedTuple):
    """A person who entered. ``entered`` is the time, in Unix seconds."""

    person: str
    name: str
    entered_at: int


Entrants = tuple[tuple[Entrant, ...], tuple[Entrant, ...]]  # by side
Pair = tuple[Player, Player]


@dataclass(frozen=True)
class Match:
    """A match. Times are in Unix seconds. ``version`` counts its changes."""

    code: str
    game: str
    opened_at: int
    sides: tuple[Side, ...]  # the group that opened it, and the other one once it has accepted
    version: int = 0
    accepted_at: int = 0
    entrants: Entrants = ((), ())  # after the draw, those without a duel
    begun_at: int = 0
    pairs: tuple[Pair, ...] = ()
    duels: Mapping[int, str] = field(default_factory=dict)  # codes by the pair's number
    closing: Closing = ""
    redacted_at: int = 0  # when a person was last replaced by a pseudonym

    @property
    def is_accepted(self) -> bool:
        return len(self.sides) == len(SIDES)

    @property
    def ends(self) -> int:
        """When the current phase ends: the time to accept, to enter, or to play."""
        if self.begun_at:
            return self.begun_at + DAYS * DAY
        return self.accepted_at + ENTRY_SECONDS if self.accepted_at else self.opened_at + DAYS * DAY

    @property
    def is_ready(self) -> bool:
        """True if enough people of both groups have entered."""
        return self.is_accepted and min(map(len, self.entrants)) >= MIN_PAIRS

    @property
    def has_all_duels(self) -> bool:
        return len(self.duels) == len(self.pairs)

    def side_at(self, place: str) -> int | None:
        """Return the side whose group a place belongs to; None if it is in neither group."""
        return next((number for number, side in enumerate(self.sides) if chat_of(side.place) == chat_of(place)), None)

    def side_of(self, person: str) -> int | None:
        """Return the side for which a person has entered, or None."""
        for side in SIDES:
            entered = [entrant.person for entrant in self.entrants[side]]
            if person in (*entered, *(pair[side].person for pair in self.pairs)):
                return side
        return None

    def duel_of(self, person: str) -> str:
        """Return the code of a person's duel, or an empty string."""
        numbers = [number for number, pair in enumerate(self.pairs) if person in [player.person for player in pair]]
        return self.duels.get(numbers[0], "") if numbers else ""

    def is_organiser(self, person: str) -> bool:
        return person in [side.organiser for side in self.sides]

    def names(self, person: str) -> bool:
        return self.side_of(person) is not None or self.is_organiser(person)

    def export(self, person: str) -> dict[str, Any]:
        """Return the match for a person's /mydata."""
        return {
            "code": self.code,
            "game": self.game,
            "opened": self.opened_at,
            "side": self.side_of(person),
            "organiser": self.is_organiser(person),
            "duel": self.duel_of(person),
            "over": self.closing,
        }


def total_score(duels: Sequence[Duel]) -> Score:
    """Return the sums of the duels' scores. The group that opened the match comes first."""
    scores = [duel.score for duel in duels]
    return Score(
        (sum(score.wins[0] for score in scores), sum(score.wins[1] for score in scores)),
        (sum(score.margins[0] for score in scores), sum(score.margins[1] for score in scores)),
    )
