"""What a day's deal is, apart from its cards and its game: how the robots play it, and what came of it.

All of it follows from the game and the day's secret. So players who make the same moves at the same places meet the
same answers.
"""

from dataclasses import asdict, dataclass
from hashlib import sha256
from random import Random
from typing import Any

from bot.words.one_deal import deal_result
from engine import GAMES, Game, Record
from engine.robots import make_robot

SEAT = 0
"""Where whoever asks for the deal sits."""

LEVEL = "strong"


def seed_for_move(secret: bytes, moves: int) -> int:
    """What a robot's chance comes from, when so many moves have been made in the deal."""
    return int.from_bytes(sha256(secret + b"robot" + moves.to_bytes(4, "big")).digest()[:8], "big")


@dataclass(frozen=True)
class DayResult:
    """What came of a day's deal for somebody.

    ``points`` are each side's, the own one first, as large as the table counts them; None where the deal was given up.
    ``tricks`` says who took each trick, in order: ``1`` this side, ``0`` the other.
    """

    points: tuple[int, int] | None
    tricks: str

    @property
    def margin(self) -> int | None:
        """How many points more than the other side; None where the deal was given up."""
        return self.points[0] - self.points[1] if self.points else None

    @property
    def squares(self) -> str:
        """The tricks as squares, which tell no card."""
        return "".join("🟩" if one == "1" else "⬜" for one in self.tricks)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def parse(cls, fields: dict[str, Any]) -> "DayResult":
        points = fields["points"]
        return cls((points[0], points[1]) if points else None, fields["tricks"])


def result_of(record: Record) -> DayResult:
    """What came of a game of one deal; what was not played to its end is given up."""
    deal = deal_result(record)
    ours = "".join("1" if side == str(SEAT) else "0" for side in deal.tricks)
    return DayResult(deal.points if deal.how == "played" else None, ours)


def play_with_robots(game_id: str, secret: bytes, level: str = LEVEL, random: Random | None = None) -> DayResult:
    """What the robot of the day makes of the seat, against itself: par. Or what one of another level does in its place,
    by chance of its own.
    """
    seats = GAMES[game_id].seats
    game = Game(game_id, {}, [LEVEL] * seats)
    game.deal(secret)
    while game.deal_number == 1 and game.turn is not None:
        seat = game.turn
        is_other = seat == SEAT and random is not None
        seeded = random if is_other and random else Random(seed_for_move(secret, len(game.moves)))
        view = game.view(seat).without_claims()
        move = make_robot(level if is_other else LEVEL, seeded).choose(view, game.history(seat))
        assert move
        game.play(seat, move)
    if not game.over:
        game.stop("cancelled")
    return result_of(game.record())
