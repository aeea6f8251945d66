"""Robots and results of a day's deal.

The robots' moves follow from the game, the day's secret and the moves before. Players who make the same moves at the
same times get the same replies.
"""

from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any

from bot.words.duplicate_results import deal_result
from engine import GAMES, Game, Record
from engine.robots import make_robot

SEAT = 0  # seat of the person who plays the deal
LEVEL = "strong"


def seed_for_move(secret: bytes, moves: int) -> int:
    return int.from_bytes(sha256(secret + b"robot" + moves.to_bytes(4, "big")).digest()[:8], "big")


@dataclass(frozen=True)
class DayResult:
    """A person's result in a day's deal."""

    points: tuple[int, int] | None  # own and other side's, in the table's units; None if the deal was given up
    tricks: str  # a digit for each trick: 1 taken by this side, 0 by the other

    @property
    def margin(self) -> int | None:
        """The lead over the other side in points, or None if the deal was given up."""
        return self.points[0] - self.points[1] if self.points else None

    @classmethod
    def parse(cls, fields: dict[str, Any]) -> "DayResult":
        points = fields["points"]
        return cls((points[0], points[1]) if points else None, fields["tricks"])


def result_of(record: Record) -> DayResult:
    """Return the result of a game of one deal. An unfinished deal counts as given up."""
    deal = deal_result(record)
    ours = "".join("1" if side == str(SEAT) else "0" for side in deal.tricks)
    return DayResult(deal.points if deal.ending == "played" else None, ours)


def play_with_robots(game_id: str, secret: bytes, level: str = LEVEL, random: Random | None = None) -> DayResult:
    """Return par. With ``random``, a robot of ``level`` plays `SEAT` with that randomness instead."""
    seats = GAMES[game_id].seats
    game = Game(game_id, {}, [LEVEL] * seats)
    game.deal(secret)
    while game.deal_number == 1 and game.turn is not None:
        seat = game.turn
        is_other = seat == SEAT and random is not None
        chance = random if is_other and random else Random(seed_for_move(secret, len(game.moves)))
        view = game.view(seat).without_claims()
        move = make_robot(level if is_other else LEVEL, chance).choose(view, game.history(seat))
        assert move
        game.play(seat, move)
    if not game.is_over:
        game.stop("cancelled")
    return result_of(game.record())
