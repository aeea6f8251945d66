"""The rating formula: openskill's Plackett-Luce model, with partners rated as a team.

The shown rating is a whole number, 1000 for a beginner: openskill's conservative estimate (mu - 3 sigma) times 40, plus
1000.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from openskill.models import PlackettLuce

BEGINNER, SCALE = 1000, 40
MODEL = PlackettLuce()


@dataclass(frozen=True)
class Standing:
    mu: float = MODEL.mu
    sigma: float = MODEL.sigma
    games: int = 0
    wins: int = 0

    @property
    def rating(self) -> int:
        return round(BEGINNER + SCALE * (self.mu - 3 * self.sigma))

    def to_text(self) -> str:
        return f"{self.mu!r} {self.sigma!r} {self.games} {self.wins}"

    @classmethod
    def parse(cls, text: bytes | None) -> "Standing":
        if text is None:
            return cls()
        mu, sigma, games, wins = text.decode().split()
        return cls(float(mu), float(sigma), int(games), int(wins))


def rate_game(people: Sequence[str], winners: Sequence[int], earlier: Mapping[str, Standing]) -> dict[str, Standing]:
    """Return the standings after a game; ``winners`` are seats."""
    sides = [people[side::2] for side in (0, 1)]
    won = winners[0] & 1
    teams = [[MODEL.rating(mu=earlier[person].mu, sigma=earlier[person].sigma) for person in side] for side in sides]
    new_ratings = MODEL.rate(teams, ranks=[0 if side == won else 1 for side in (0, 1)])
    return {
        person: Standing(rating.mu, rating.sigma, earlier[person].games + 1, earlier[person].wins + (side == won))
        for side in (0, 1)
        for person, rating in zip(sides[side], new_ratings[side], strict=True)
    }
