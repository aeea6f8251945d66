"""What a robot is, and how one makes its move at a table."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from engine.errors import ClaimRefused
from engine.game import Game, MoveEntry
from engine.views import View


class Robot(Protocol):
    """A player that chooses from a seat's view.

    ``history`` are the moves of the deal as the seat saw them (`Game.history`). The answer is one of ``view.moves``;
    None, only out of turn, is to let the moment pass.
    """

    def choose(self, view: View, history: Sequence[MoveEntry]) -> str | None: ...


class Budget(NamedTuple):
    """How much a robot may think: a ``share`` of its usual work, and as long as ``more`` says so.

    The same share and seed give the same choice unless the clock cut it short.
    """

    share: float = 1.0
    more: Callable[[], bool] = lambda: True


def act(game: Game, seat: int, robot: Robot) -> bool:
    """Let the robot in this seat make a move; False when it lets an out-of-turn moment pass."""
    move = robot.choose(game.view(seat), game.history(seat))
    if move is None:
        return False
    try:
        game.play(seat, move)
    except ClaimRefused:
        # Anyone may try; nothing was played, so a robot whose turn it is still owes a move.
        return game.turn == seat and act(game, seat, robot)
    return True
