"""A robot that plays at random."""

from collections.abc import Sequence
from random import Random

from engine.game import MoveEntry
from engine.robots.spades import likely_tricks
from engine.views import SpadesView, View


class RandomRobot:
    """Plays any legal move with equal probability, with three exceptions. It never resigns, seldom claims, and at
    Spades bids near its likely tricks and seldom nil. With random bids no side would ever reach the target.
    """

    def __init__(self, random: Random) -> None:
        self.random = random

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        moves = [move for move in view.moves if move not in ("resign", "claim")]
        if "claim" in view.moves and self.random.random() < 0.02:
            return "claim"
        if view.turn != view.seat:
            return self.random.choice(moves) if moves and self.random.random() < 0.5 else None
        if isinstance(view.deal, SpadesView):
            moves = self._drop_rare_moves(view.deal, moves)
        return self.random.choice(moves)

    def _drop_rare_moves(self, deal: SpadesView, moves: list[str]) -> list[str]:
        if "blind" in moves and self.random.random() < 0.98:
            moves.remove("blind")
        if "bid 0" in moves and self.random.random() < 0.98:
            guess = round(likely_tricks(deal.hand or ()))
            return [f"bid {number}" for number in (guess - 1, guess, guess + 1) if number > 0]
        return moves
