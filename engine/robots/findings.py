"""What robots find out about play: verdicts on decisions, and hints. Light to import, unlike those who find out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Verdict:
    """What a decision was worth; a move that gave several things away has a verdict on each.

    ``place`` is the move's place among the deal's, from 0; ``better`` the move that would have been best, the same as
    ``move`` if nothing was given away. ``lost`` is in points; ``exact`` whether perfect play said so. ``why`` is what
    speaks for the better move, one of REASONS; empty where nothing was given away, and in verdicts of older releases.
    """

    deal: int
    place: int
    seat: int
    move: str
    better: str
    lost: float
    exact: bool
    why: str = ""


@dataclass(frozen=True)
class Summary:
    """One player's decisions: how many there were, how many gave nothing away, points given away by either measure, and
    what the costliest moves gave away (`costliest`). All that is said of one move is about one decision.
    """

    decisions: int
    good: int
    lost_exactly: float
    lost_by_judgement: float
    costliest: tuple[Verdict, ...]

    @property
    def accuracy(self) -> int | None:
        """How many decisions of a hundred gave nothing away; None where there were none."""
        return round(100 * self.good / self.decisions) if self.decisions else None


def summary(verdicts: Sequence[Verdict], seat: int, most: int = 3) -> Summary:
    """One seat's part of the verdicts."""
    own = [one for one in verdicts if one.seat == seat]
    lost = [one for one in own if one.lost > 0]
    decisions, bad = ({(one.deal, one.place) for one in some} for some in (own, lost))
    return Summary(
        decisions=len(decisions),
        good=len(decisions) - len(bad),
        lost_exactly=sum(one.lost for one in lost if one.exact),
        lost_by_judgement=sum(one.lost for one in lost if not one.exact),
        costliest=tuple(costliest(own, most)),
    )


def costliest(verdicts: Sequence[Verdict], most: int) -> list[Verdict]:
    """What up to so many moves gave away that cost most: all verdicts on the costliest one first, and so on."""
    moves: dict[tuple[int, int, int], list[Verdict]] = {}
    for one in verdicts:
        if one.lost > 0:
            moves.setdefault((one.deal, one.place, one.seat), []).append(one)
    worst = sorted(moves.values(), key=lambda about: -sum(one.lost for one in about))[:most]
    return [one for about in worst for one in sorted(about, key=lambda one: -one.lost)]


REASONS = (
    "only",
    "declares",
    "picks",
    "picks_last",
    "frees",
    "claims",
    "drafts",
    "drafts_low",
    "draws",
    "passes",
    "passes_high",
    "exchanges",
    "exchanges_nothing",
    "bids",
    "nil",
    "packets",
    "unseen",
    "counted",
    "takes_points",
    "takes",
    "highest_so_far",
    "gives_partner",
    "partners_so_far",
    "spares",
    "gives_little",
    "lost_so_far",
    "cannot_be_beaten",
    "leads_low",
    "wants_none",
    "likely",
    "cards_open",
)
"""Why a move is good: what `bot.features.analysis.pages` has words for."""


class Hint(NamedTuple):
    """A move in the record's notation, and one of REASONS."""

    move: str
    reason: str
