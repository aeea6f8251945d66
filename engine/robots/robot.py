"""The robot interface, and how a robot makes its move at a table."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from ..errors import ClaimRefused
from ..game import Game, MoveEntry
from ..views import View


class Robot(Protocol):
    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None:
        """Return one of ``view.moves``; None for no move out of turn. ``history`` comes from `Game.history`."""


class Budget(NamedTuple):
    """The limit of a search: a ``share`` of its usual rounds.

    The search ends early once ``more`` returns False. Otherwise the same share and seed give the same choice.
    """

    share: float = 1.0
    more: Callable[[], bool] = lambda: True


def act(game: Game, seat: int, robot: Robot) -> bool:
    """Let the robot in this seat make a move; return False if it makes none out of turn."""
    move = robot.choose(game.view(seat), game.history(seat))
    if move is None:
        return False
    try:
        game.play(seat, move)
    except ClaimRefused:
        # A refused claim is not a move, so the robot must still move if it has the turn.
        return game.turn == seat and act(game, seat, robot)
    return True
