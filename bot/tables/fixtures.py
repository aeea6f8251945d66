"""Tables of tournaments: which of a tournament's games one plays, and by what rules a deal that many tables have."""

from dataclasses import replace
from typing import NamedTuple, Self

from bot.store.entries import Fixture
from bot.tables.choice import Choice
from engine import GAMES


class FixtureName(NamedTuple):
    """Which game of a tournament, without where its card stands; the numbers are as in `Fixture`."""

    tournament: str
    round: int
    match: int
    deal: int

    @classmethod
    def from_fixture(cls, fixture: Fixture) -> Self:
        return cls(fixture.tournament, fixture.round, fixture.match, fixture.deal)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The name that `text` wrote; ValueError for anything else."""
        tournament, _, numbers = text.partition(" ")
        round_, match, deal = map(int, numbers.split("."))
        name = cls(tournament, round_, match, deal)
        if name.text != text:
            raise ValueError("it is no name of a tournament's game")
        return name

    @property
    def text(self) -> str:
        """``K7QF2M 2.0.1``: tournament, round, match and deal."""
        return f"{self.tournament} {self.round}.{self.match}.{self.deal}"

    @property
    def is_duplicate(self) -> bool:
        """Whether it is one deal that other tables had, too."""
        return self.deal > 0


def duplicate_rules(choice: Choice) -> Choice:
    """What is played at a table of one deal: as chosen, but to more points than any one deal brings.

    So no deal ends early, by a claim neither, and the points of all tables can be compared.
    """
    targets = GAMES[choice.game].rules.choices()["target"]
    return replace(choice, rules={**choice.rules, "target": max(map(int, targets))})
