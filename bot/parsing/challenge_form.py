"""The choices in the form of a challenge: a game, points to win, a clock and options."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, Self

from bot.actions import BadPayload
from bot.form import FormAnswers
from bot.parsing.games import target_rule, targets
from bot.store.entries import DEFAULT_CLOCK_SECONDS, Clock, CutOption, Rule
from bot.tables.clock import CLOCKS
from bot.tables.errors import TableError
from bot.tables.table import Table
from bot.words.wording import score_unit_of
from engine import GAMES
from engine.options import Value, format_value, resolve

GAME, POINTS, CLOCK, BOXES = "game", "points", "clock", "options"  # names of the fields
STRICT, CUTS = "strict", "cuts"  # boxes that every game has; the others are a game's options, such as declare=none


class NotInThisGame(TableError):
    sentence = "Not all these options are for {game}: untick the others."


class OnlyOneOfThese(TableError):
    sentence = "Two of these options exclude each other: untick one."


@cache
def game_boxes(game: str) -> dict[str, Rule]:
    """Return a game's boxes, such as ``declare=none``, each with its rule: an unusual value of an option."""
    kind = GAMES[game]
    rules = [
        Rule(name, value)
        for name, values in kind.rules.choices().items()
        for value in values
        if name != "target" and value != kind.rules.model_fields[name].default
    ]
    return {f"{rule.name}={format_value(rule.value)}": rule for rule in rules}


@cache
def all_boxes() -> list[str]:
    """Return the boxes of all games in one order, and those of every game."""
    return [*dict.fromkeys(box for game in GAMES for box in game_boxes(game)), STRICT, CUTS]


def all_targets() -> list[int]:
    """Return the points that any game can be played to."""
    return sorted({points for game in GAMES for points in targets(game)})


class FormChoices(NamedTuple):
    """What a person chose. ``points`` is 0 for the game's usual points, ``clock`` is in seconds a move."""

    game: str
    points: int
    clock: int
    boxes: frozenset[str] = frozenset()

    @classmethod
    def from_table(cls, table: Table) -> Self:
        game = table.game_id
        boxes = {box for box, rule in game_boxes(game).items() if table.rules.get(rule.name) == rule.value}
        boxes |= {box for box, is_on in ((STRICT, table.strict), (CUTS, table.has_cuts)) if is_on}
        points = int(table.rules["target"]) * score_unit_of(game) if "target" in table.rules else 0
        return cls(game, points, table.clock, frozenset(boxes))

    @classmethod
    def from_answers(cls, answers: FormAnswers) -> Self:
        """Read a form's answers. Raises BadPayload for values that the form does not offer."""
        game, points, clock = (" ".join(answers.get(name, ())) for name in (GAME, POINTS, CLOCK))
        return cls._check(game, points, clock, answers.get(BOXES, ()))

    @classmethod
    def from_words(cls, words: Sequence[str]) -> Self:
        """Read `words` again. Raises BadPayload."""
        if len(words) != 4 or not words[3].isdecimal():
            raise BadPayload()
        marks, boxes = int(words[3][:6]), all_boxes()
        if marks >= 1 << len(boxes):
            raise BadPayload()
        game, points, clock, _marks = words
        return cls._check(game, points, clock, [box for number, box in enumerate(boxes) if marks >> number & 1])

    @property
    def words(self) -> tuple[object, ...]:
        """The choices in four words of a payload. The last has a bit for each box."""
        marks = sum(1 << number for number, box in enumerate(all_boxes()) if box in self.boxes)
        return self.game, self.points, self.clock, marks

    @property
    def setup(self) -> list[Rule | Clock | CutOption]:
        """The entries for the log of a new table.

        Raises NoSuchTarget, NotInThisGame or OnlyOneOfThese for choices that do not go together.
        """
        kind, rules = GAMES[self.game], self._rules()
        chosen_rules = [
            Rule(name, value) for name, value in rules.items() if value != kind.rules.model_fields[name].default
        ]
        cuts = [CutOption(True)] if CUTS in self.boxes else []
        clock = Clock(self.clock, STRICT in self.boxes)
        return [*chosen_rules, *([] if clock == Clock(DEFAULT_CLOCK_SECONDS, False) else [clock]), *cuts]

    def changes(self, table: Table) -> list[Rule | Clock | CutOption]:
        """Return the entries that give these choices to an open table with the same game. Raises like `setup`."""
        now = resolve(GAMES[self.game].rules, table.rules if table.game_id == self.game else {}).model_dump()
        rules = [Rule(name, value) for name, value in self._rules().items() if now[name] != value]
        clock, cuts = Clock(self.clock, STRICT in self.boxes), CUTS in self.boxes
        clocks = [] if (table.clock, table.strict) == (clock.seconds, clock.strict) else [clock]
        return [*rules, *clocks, *([] if table.has_cuts == cuts else [CutOption(cuts)])]

    def _rules(self) -> dict[str, Value]:
        """Return the game's options with a choice."""
        kind, chosen_values = GAMES[self.game], dict[str, Value]()
        if self.points:
            chosen_values["target"] = target_rule(self.game, self.points).value
        for box in self.boxes - {STRICT, CUTS}:
            rule = game_boxes(self.game).get(box)
            if rule is None:
                raise NotInThisGame(game=kind.name)
            if rule.name in chosen_values:
                raise OnlyOneOfThese()
            chosen_values[rule.name] = rule.value
        rules = resolve(kind.rules, chosen_values).model_dump()
        return {name: rules[name] for name, values in kind.rules.choices().items() if len(values) > 1}

    @classmethod
    def _check(cls, game: str, points: str, clock: str, boxes: Sequence[str]) -> Self:
        is_known = game in GAMES and points in map(str, (0, *all_targets())) and clock in map(str, CLOCKS)
        if not is_known or not set(boxes) <= set(all_boxes()):
            raise BadPayload()
        return cls(game, int(points), int(clock), frozenset(boxes))
