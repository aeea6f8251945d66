"""A robot for beginners."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from engine.game import MoveEntry
from engine.robots.greedy import GreedyRobot, useful_picks
from engine.robots.simple import RandomRobot
from engine.views import SpadesView, View

SENSE = 0.5  # how often it plays what it should  # probability of a sensible move


class EasyRobot:
    """Plays any legal move, but half the time the greedy robot's. It claims a win only when it has counted one. It does
    not signal or pick up honours in vain, and it bids like the greedy robot.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self._sensible, self._wild = GreedyRobot(random), RandomRobot(random)

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        is_sensible = _is_bidding(view) or self.random.random() < SENSE
        useful = useful_picks(view, history)
        # Useless picks would not make it weaker, only boring.
        moves = tuple(move for move in view.moves if not move.startswith("pick ") or move in useful)
        robot = self._sensible if is_sensible else self._wild
        move = robot.choose(replace(view, moves=moves), history)
        if move == "claim":
            # Nor would random claims: a wrong one costs nothing.
            return self._sensible.choose(view, history)
        # Random signals would mislead its partner.
        return " ".join(move.split(" ")[:2]) if move and move.startswith("play ") else move


def _is_bidding(view: View) -> bool:
    """Return whether a bid is due or double nil is possible: a random bid would look like a fault."""
    return isinstance(view.deal, SpadesView) and (view.deal.phase == "bid" or "blind" in view.moves)
