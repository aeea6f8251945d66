"""Lines of a deal: each person's moves, and where two lines first differ.

All players get the same cards, and the same play gets the same replies. So two lines are equal until the players make
different moves, or the same move at different times. Afterwards the deals differ: for example, robots can reply
differently to a declaration before their move and after it.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from bot.finished.game import FinishedGame
from bot.solo_deals.results import SEAT, SoloResult, result_of
from engine.game import ENDING_MOVES


class Decision(NamedTuple):
    move_index: int  # among all moves of the deal, from 0
    trick: int  # number of its trick, or of the next trick for a move between tricks
    move: str

    @property
    def card(self) -> str:
        return self.move.split(" ")[1] if self.move.startswith("play ") else ""


class Fork(NamedTuple):
    """The first decision in which two lines differ. If they differ only in time, both have the same move."""

    decision: Decision
    other: Decision


class Branch(NamedTuple):
    move: str
    is_later: bool  # whether others made the same move sooner
    times: int  # number of lines that continue with it


class FirstFork(NamedTuple):
    decision: Decision  # move of one of the lines; a card if any line plays a card there
    branches: tuple[Branch, ...]  # most frequent first


@dataclass(frozen=True)
class SoloLine:
    game: str  # id in the archive
    result: SoloResult
    decisions: tuple[Decision, ...]

    @classmethod
    def from_game(cls, game: FinishedGame) -> "SoloLine":
        record = game.record
        decisions, cards = [], 0
        for move_index, (seat, move, *_legal) in enumerate(record.deals[0].moves):
            if seat == SEAT and move not in ENDING_MOVES:
                decisions.append(Decision(move_index, cards // len(record.seats) + 1, move))
            cards += move.startswith("play ")
        return cls(game.id, result_of(record), tuple(decisions))

    def to_text(self) -> str:
        return json.dumps([self.game, asdict(self.result), self.decisions], separators=(",", ":"))

    @classmethod
    def parse(cls, text: str | bytes) -> "SoloLine":
        game, result, decisions = json.loads(text)
        return cls(game, SoloResult.parse(result), tuple(Decision(*decision) for decision in decisions))

    def fork_from(self, other: "SoloLine") -> Fork | None:
        """Return the first difference from another line, or None if one line is the beginning of the other."""
        for own_decision, other_decision in zip(self.decisions, other.decisions, strict=False):
            if own_decision != other_decision:
                return Fork(own_decision, other_decision)
        return None


def best_line(lines: Sequence[SoloLine]) -> SoloLine | None:
    """Return the line with the highest margin, or None if no line was played to its end.

    Ties go to the lower id, so that all players see the same line.
    """
    finished_lines = [line for line in lines if line.result.margin is not None]
    return min(finished_lines, key=lambda line: (-(line.result.margin or 0), line.game), default=None)


def first_fork(lines: Sequence[SoloLine]) -> FirstFork | None:
    """Return the first decision where any two lines differ, or None if none do."""
    for number in range(max((len(line.decisions) for line in lines), default=0)):
        decisions = [line.decisions[number] for line in lines if number < len(line.decisions)]
        soonest: dict[str, int] = {}
        for decision in decisions:
            soonest[decision.move] = min(decision.move_index, soonest.get(decision.move, decision.move_index))
        counts = Counter((decision.move, decision.move_index > soonest[decision.move]) for decision in decisions)
        if len(counts) > 1:
            branches = [Branch(move, is_later, times) for (move, is_later), times in counts.items()]
            branches.sort(key=lambda branch: (-branch.times, branch.move, branch.is_later))
            return FirstFork(max(decisions, key=lambda decision: bool(decision.card)), tuple(branches))
    return None
