"""Verdicts of robots on moves, and hints. This module is fast to import; the robots are not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

MIN_LOSS, MIN_LOSS_AT_SPADES = 0.1, 2.0  # points; a verdict does not report smaller estimated losses


@dataclass(frozen=True)
class Verdict:
    """The judgement of a decision. A move that lost points in several ways has several verdicts.

    ``move_index`` counts the deal's moves from 0. ``better`` is the best move, the same as ``move`` if nothing was
    lost. ``lost`` is in points. ``exact`` is True if perfect play was computed. ``why`` is the reason for the better
    move, as in `Hint`. It is empty if nothing was lost, and in verdicts of older releases.
    """

    deal: int
    move_index: int
    seat: int
    move: str
    better: str
    lost: float
    exact: bool
    why: str = ""


@dataclass(frozen=True)
class Summary:
    """A player's decisions. Several verdicts on a move count as one decision.

    The fields are the number of decisions, the number of those that lost nothing, the points lost in exact and in
    estimated verdicts, and the verdicts on the costliest moves.
    """

    decisions: int
    good: int
    lost_exactly: float
    lost_by_judgement: float
    costliest: tuple[Verdict, ...]

    @property
    def accuracy(self) -> int | None:
        """Percentage of decisions that lost nothing; None without decisions."""
        return round(100 * self.good / self.decisions) if self.decisions else None


def summarize(verdicts: Sequence[Verdict], seat: int, limit: int = 0) -> Summary:
    """Return the summary of a player's decisions, with the verdicts on at most ``limit`` of the costliest moves."""
    own_verdicts = [verdict for verdict in verdicts if verdict.seat == seat]
    costly_verdicts = [verdict for verdict in own_verdicts if verdict.lost > 0]
    decisions, bad_decisions = (
        {(verdict.deal, verdict.move_index) for verdict in group} for group in (own_verdicts, costly_verdicts)
    )
    return Summary(
        decisions=len(decisions),
        good=len(decisions) - len(bad_decisions),
        lost_exactly=sum(verdict.lost for verdict in costly_verdicts if verdict.exact),
        lost_by_judgement=sum(verdict.lost for verdict in costly_verdicts if not verdict.exact),
        costliest=tuple(costliest_moves(own_verdicts, limit)),
    )


def costliest_moves(verdicts: Sequence[Verdict], limit: int) -> list[Verdict]:
    """Return the verdicts on at most ``limit`` moves, the costliest move first."""
    moves: dict[tuple[int, int, int], list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.lost > 0:
            moves.setdefault((verdict.deal, verdict.move_index, verdict.seat), []).append(verdict)
    worst = sorted(moves.values(), key=lambda group: -sum(verdict.lost for verdict in group))[:limit]
    return [verdict for group in worst for verdict in sorted(group, key=lambda verdict: -verdict.lost)]


class Hint(NamedTuple):
    """A move in the record's notation, and why it is good. `bot.words.verdicts` has a sentence for each reason.

    ``thirds`` are the points that the reason is about, in thirds of a point and in the table's unit. They are those of
    the trick that the move takes or could take, or else those of the card. ``cards`` are codes: the card that the move
    saves for later, or the only cards that can beat the card led.
    """

    move: str
    reason: str
    thirds: int = 0
    cards: tuple[str, ...] = ()
