"""Lines of a day that is over: how each person played it, and where they part from one another.

Everybody has the same cards, and the same play meets the same answers. So two lines are the same up to the first of
their players' own moves that differs, or was made at another place: who declares before a robot's move may be answered
otherwise than who declares after it. From there on they are two different deals.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bot.features.daily.deal import SEAT, DayResult, result_of
from bot.finished.game import FinishedGame
from engine.game import ENDING_MOVES


class Decision(NamedTuple):
    """A move of whoever plays the day: ``place`` is its place among all the deal's moves, from 0, and ``trick`` the
    number of the trick in which, or before which, it was made.
    """

    place: int
    trick: int
    move: str

    @property
    def card(self) -> str:
        """The card that was played; empty for any other move."""
        return self.move.split(" ")[1] if self.move.startswith("play ") else ""


class Fork(NamedTuple):
    """Where a line parts from another: what was done there, and what in the other; the same at another place if one
    was sooner to do it.
    """

    decision: Decision
    other: Decision


class Branch(NamedTuple):
    """What several did at a fork, and how many: ``is_later`` if others made the same move sooner."""

    move: str
    is_later: bool
    times: int


class FirstFork(NamedTuple):
    """The first place at which any of several lines part: what one of them did there, with a card if any played one,
    and how many did what, most first.
    """

    decision: Decision
    branches: tuple[Branch, ...]


@dataclass(frozen=True)
class DayLine:
    """How somebody played a day's deal; ``game`` is its id in the archive."""

    game: str
    result: DayResult
    decisions: tuple[Decision, ...]

    @classmethod
    def from_game(cls, game: FinishedGame) -> "DayLine":
        record = game.record
        decisions, cards = [], 0
        for place, (seat, move, *_legal) in enumerate(record.deals[0].moves):
            if seat == SEAT and move not in ENDING_MOVES:
                decisions.append(Decision(place, cards // len(record.seats) + 1, move))
            cards += move.startswith("play ")
        return cls(game.id, result_of(record), tuple(decisions))

    def to_text(self) -> str:
        return json.dumps([self.game, self.result.to_dict(), self.decisions], separators=(",", ":"))

    @classmethod
    def parse(cls, text: str | bytes) -> "DayLine":
        """From what `to_text` wrote."""
        game, result, decisions = json.loads(text)
        return cls(game, DayResult.parse(result), tuple(Decision(*one) for one in decisions))

    def fork_from(self, other: "DayLine") -> Fork | None:
        """Where it parts from another line; None where they are the same as far as both go."""
        for one, there in zip(self.decisions, other.decisions, strict=False):
            if one != there:
                return Fork(one, there)
        return None

    def decision_at(self, place: int) -> Decision:
        """A move of this line's player, by its place."""
        return next(one for one in self.decisions if one.place == place)


def best_line(lines: Sequence[DayLine]) -> DayLine | None:
    """The line with the most points more than the other side; None if all gave up. Of two that are as good the one
    whose game has the lower id, so that it is the same one for everybody.
    """
    whole = [one for one in lines if one.result.margin is not None]
    return min(whole, key=lambda one: (-(one.result.margin or 0), one.game), default=None)


def first_fork(lines: Sequence[DayLine]) -> FirstFork | None:
    """Where lines first part; None where they are the same as far as they go."""
    for number in range(max((len(one.decisions) for one in lines), default=0)):
        there = [one.decisions[number] for one in lines if number < len(one.decisions)]
        soonest: dict[str, int] = {}
        for one in there:
            soonest[one.move] = min(one.place, soonest.get(one.move, one.place))
        ways = Counter((one.move, one.place > soonest[one.move]) for one in there)
        if len(ways) > 1:
            found = [Branch(move, is_later, times) for (move, is_later), times in ways.items()]
            most_first = sorted(found, key=lambda way: (-way.times, way.move, way.is_later))
            return FirstFork(max(there, key=lambda one: bool(one.card)), tuple(most_first))
    return None
