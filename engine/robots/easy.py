"""The easy robot, which makes mistakes on purpose, and a robot that plays at random."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from ..game import MoveEntry
from ..views import SpadesView, View
from .medium import MediumRobot, useful_picks
from .spades import likely_tricks

SENSE = 0.5  # probability that the easy robot makes a sensible move


class RandomRobot:
    """A robot that plays legal moves at random.

    It never resigns and seldom claims. At Spades its bid is near its likely tricks, and seldom nil or double nil,
    because with random bids no side would reach the target.
    """

    def __init__(self, random: Random) -> None:
        self.random = random

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        moves = [move for move in view.moves if move not in ("resign", "claim")]
        if "claim" in view.moves and self.random.random() < 0.02:
            return "claim"
        if view.turn != view.seat:
            return self.random.choice(moves) if moves and self.random.random() < 0.5 else None
        if "blind" in moves and self.random.random() < 0.98:
            moves.remove("blind")
        if isinstance(view.deal, SpadesView) and "bid 0" in moves and self.random.random() < 0.98:
            guess = round(likely_tricks(view.deal.hand or ()))
            moves = [f"bid {number}" for number in (guess - 1, guess, guess + 1) if number > 0]
        return self.random.choice(moves)


class EasyRobot:
    """A robot that plays the medium robot's move half the time, otherwise a random one.

    It claims only a win that it has counted. It never signals, picks up only useful honours, and bids like the medium
    robot.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self._sensible, self._wild = MediumRobot(random), RandomRobot(random)

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        # Random bids would look like bugs.
        is_bidding = isinstance(view.deal, SpadesView) and (view.deal.phase == "bid" or "blind" in view.moves)
        robot = self._sensible if is_bidding or self.random.random() < SENSE else self._wild
        useful = useful_picks(view, history)
        # Useless picks would not make the robot weaker, only its play boring.
        moves = tuple(move for move in view.moves if not move.startswith("pick ") or move in useful)
        move = robot.choose(replace(view, moves=moves), history)
        if move == "claim":
            # Random claims would not make the robot weaker either, because a wrong claim costs nothing.
            return self._sensible.choose(view, history)
        # Random signals would mislead the robot's partner.
        return " ".join(move.split(" ")[:2]) if move and move.startswith("play ") else move
