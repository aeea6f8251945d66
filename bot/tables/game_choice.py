"""A person's choice of game, options and clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from bot.store.entries import DEFAULT_CLOCK_SECONDS, Clock, Rule
from bot.tables.clock import CLOCKS
from bot.tables.table import Table
from engine import GAMES
from engine.errors import BadRules
from engine.options import Rules, Value, format_value, parse_options, resolve


@dataclass(frozen=True)
class Choice:
    """A game to play. ``rules`` has all options with a choice; ``clock`` is in seconds per move, one of `CLOCKS`."""

    game: str
    rules: Mapping[str, Value]
    clock: int = DEFAULT_CLOCK_SECONDS
    strict: bool = False

    @classmethod
    def default(cls, game: str) -> Self:
        return cls(game, _resolve_choices(game, {}))

    @classmethod
    def from_table(cls, table: Table) -> Self:
        return cls(table.game_id, _resolve_choices(table.game_id, table.rules), table.clock, table.strict)

    def with_target(self, value: Value) -> Self:
        return replace(self, rules={**self.rules, "target": value} if "target" in self.rules else self.rules)

    @property
    def all_rules(self) -> Rules:
        """All options, also those without a choice in this game."""
        return resolve(GAMES[self.game].rules, self.rules)

    @property
    def setup(self) -> list[Rule | Clock]:
        """Entries that set this choice in a table's log."""
        clocks = [] if (self.clock, self.strict) == (DEFAULT_CLOCK_SECONDS, False) else [Clock(self.clock, self.strict)]
        return [*(Rule(name, value) for name, value in self.rules.items()), *clocks]

    # Stored text

    @property
    def text(self) -> str:
        """Clock and options in words: ``300 strict target=31 declare=none``. A lax clock has no word."""
        words = [str(self.clock), *(["strict"] if self.strict else [])]
        return " ".join([*words, *(f"{name}={format_value(value)}" for name, value in self.rules.items())])

    @classmethod
    def parse(cls, game: str, text: str) -> Self:
        """Read a stored text. If a text of an earlier release is no longer valid, return the default choice."""
        clock, *words = text.split(" ")
        if clock not in map(str, CLOCKS):
            return cls.default(game)
        strict = words[:1] == ["strict"]
        options = words[1:] if strict else words
        try:
            rules = _resolve_choices(game, parse_options(GAMES[game].rules, options))
        except BadRules:
            return cls.default(game)
        return cls(game, rules, int(clock), strict)

    # Numbers for buttons

    @property
    def number(self) -> int:
        """Index of this choice among all choices of its game, small enough for a button."""
        number = 0
        values = {**self.rules, "clock": self.clock, "strict": self.strict}
        for name, options in possible_values(self.game).items():
            number = number * len(options) + options.index(values[name])
        return number

    @classmethod
    def from_number(cls, game: str, number: int) -> Self:
        """Return the choice with this number. Raises ValueError if it does not exist."""
        values: dict[str, Value] = {}
        for name, options in reversed(possible_values(game).items()):
            number, index = divmod(number, len(options))
            values[name] = options[index]
        if number:
            raise ValueError("no choice has this number")
        rules = {name: values[name] for name in possible_values(game) if name not in ("clock", "strict")}
        return cls(game, rules, int(values["clock"]), bool(values["strict"]))


def possible_values(game: str) -> dict[str, Sequence[Value]]:
    """Return all values of options with a choice, clock and strictness. The order defines `Choice.number`."""
    choices = {name: values for name, values in GAMES[game].rules.choices().items() if len(values) > 1}
    return {**choices, "clock": CLOCKS, "strict": (False, True)}


def _resolve_choices(game: str, rules: Mapping[str, Value]) -> dict[str, Value]:
    all_rules = resolve(GAMES[game].rules, rules).model_dump()
    return {name: all_rules[name] for name in possible_values(game) if name in all_rules}
