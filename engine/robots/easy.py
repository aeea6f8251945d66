"""A robot for beginners."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from engine.game import MoveEntry
from engine.robots.greedy import GreedyRobot, useful_picks
from engine.robots.simple import RandomRobot
from engine.views import SpadesView, View

SENSE = 0.5
"""How often it plays what it should."""


class EasyRobot:
    """Any legal move, with a bias to sense: half the time what the greedy robot would play. It claims a win only when
    it has counted one, signals nothing, picks up no honour for nothing, and at Spades it bids as the greedy robot does.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self._sensible, self._wild = GreedyRobot(random), RandomRobot(random)

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        is_sensible = _is_bid(view) or self.random.random() < SENSE
        useful = useful_picks(view, history)
        # To pick up what serves for nothing would be no weakness but a bore.
        moves = tuple(move for move in view.moves if not move.startswith("pick ") or move in useful)
        robot = self._sensible if is_sensible else self._wild
        move = robot.choose(replace(view, moves=moves), history)
        if move == "claim":
            # Nor would it be one to try a claim at random: a wrong one costs nothing.
            return self._sensible.choose(view, history)
        # Nor to tell a partner at random what is not so.
        return " ".join(move.split(" ")[:2]) if move and move.startswith("play ") else move


def _is_bid(view: View) -> bool:
    """Whether a bid is due, or may be made without looking: one out of a hat would look like a fault."""
    return isinstance(view.deal, SpadesView) and (view.deal.phase == "bid" or "blind" in view.moves)
