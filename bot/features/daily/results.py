"""Par: the robot's own result of a day's deal."""

from random import Random

from bot.solo_deals.results import LEVEL, SEAT, SoloResult, result_of, seed_for_move
from engine import GAMES, Game
from engine.robots import make_robot

__all__ = ["LEVEL", "play_with_robots"]  # tests set the level


def play_with_robots(game_id: str, secret: bytes, level: str = LEVEL, random: Random | None = None) -> SoloResult:
    """Return par, for which robots play all seats.

    With ``random``, a robot of ``level`` plays `SEAT` and uses this source of chance.
    """
    seats = GAMES[game_id].seats
    game = Game(game_id, {}, [LEVEL] * seats)
    game.deal(secret)
    while game.deal_number == 1 and game.turn is not None:
        seat = game.turn
        if random and seat == SEAT:
            robot = make_robot(level, random)
        else:
            robot = make_robot(LEVEL, Random(seed_for_move(secret, len(game.moves))))
        move = robot.choose(game.view(seat).without_claims(), game.history(seat))
        assert move
        game.play(seat, move)
    if not game.is_over:
        game.stop("cancelled")
    return result_of(game.record())
