"""Games of tournaments: their names, and the rules of a duplicate."""

from dataclasses import replace
from typing import NamedTuple, Self

from bot.store.entries import Fixture
from bot.tables.game_choice import Choice
from engine import GAMES


class FixtureName(NamedTuple):
    """A tournament's game, without the place of the tournament's card. The numbers are as in `Fixture`."""

    tournament: str
    round: int
    match: int
    deal: int

    @classmethod
    def from_fixture(cls, fixture: Fixture) -> Self:
        return cls(fixture.tournament, fixture.round, fixture.match, fixture.deal)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a name in the form of `text`. Raises ValueError for anything else."""
        tournament, _, numbers = text.partition(" ")
        round_, match, deal = map(int, numbers.split("."))
        name = cls(tournament, round_, match, deal)
        if name.text != text:
            raise ValueError(f"not the name of a tournament's game: {text!r}")
        return name

    @property
    def text(self) -> str:
        """``K7QF2M 2.0.1``: tournament, round, match and deal."""
        return f"{self.tournament} {self.round}.{self.match}.{self.deal}"

    @property
    def is_duplicate(self) -> bool:
        """True if the game is a single deal that other tables play too."""
        return self.deal > 0


def duplicate_rules(choice: Choice) -> Choice:
    """Return the choice with a target that no single deal can reach.

    So no deal ends early, not even by a claim, and the points of all tables can be compared.
    """
    targets = GAMES[choice.game].rules.choices()["target"]
    return replace(choice, rules={**choice.rules, "target": max(map(int, targets))})
