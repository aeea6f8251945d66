"""The options of each game, with their allowed values and defaults.

The type of an option lists its values. An option with one value is fixed for that game; the record names it too.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, ValidationInfo, field_validator, model_validator

from .errors import BadRules, quote

Value = int | str | bool

RELEASE = 2
"""The current release of the rules. Raise it when a change judges the same moves under the same options differently.

A running game keeps the release that it began with, so the engine still knows the rules of earlier releases:

1. In a tie-break deal a claim only needs the target, which both sides have already reached.
2. In a tie-break deal a claim also needs more points than the other side has at that moment.
"""

CLAIMS_NEED_A_LEAD = 2  # the first release in which a claim in a tie-break deal needs a lead


class Rules(BaseModel):
    """The options of one table. ``target`` is in whole points."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Options added to this game after a release, each with the value by which earlier releases played.
    BEFORE: ClassVar[Mapping[str, Value]] = MappingProxyType({})

    target: int

    @property
    def allows_claims(self) -> bool:
        """True if a player can claim the win before the deal is over."""
        return False

    @classmethod
    @cache
    def choices(cls) -> Mapping[str, tuple[Value, ...]]:
        return MappingProxyType({name: get_args(field.annotation) for name, field in cls.model_fields.items()})

    @classmethod
    def complete(cls, options: Mapping[str, Value]) -> dict[str, Value]:
        """Return the options of a log or record, with those that its release did not have."""
        return {**cls.BEFORE, **options}

    @field_validator("*", mode="before")
    @classmethod
    def _check_choice(cls, value: object, info: ValidationInfo) -> object:
        # Python counts True and 1.0 as equal to 1, but they are not valid in a record.
        allowed = cls.choices()[info.field_name or ""]
        if not any(type(value) is type(choice) and value == choice for choice in allowed):
            raise ValueError(f"{format_value(value)} is not one of: {', '.join(map(format_value, allowed))}")
        return value


class TressetteRules(Rules):
    layout: str
    score_unit: int
    declare: str
    reuse: bool
    lead: str


class Pizzichino(TressetteRules):
    target: Literal[21, 31, 41, 51] = 51
    layout: Literal["packets"] = "packets"
    score_unit: Literal[1] = 1
    packets: Literal["blind", "peek"] = "blind"
    declare: Literal["acquired", "dealt", "none"] = "acquired"
    reuse: Literal[False, True] = False
    lead: Literal["eldest"] = "eldest"

    @model_validator(mode="before")
    @classmethod
    def _lower_default_target(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("declare") == "none":
            return {"target": 31, **data}
        return data


class Spizzichino(TressetteRules):
    target: Literal[51] = 51
    layout: Literal["packets"] = "packets"
    score_unit: Literal[1] = 1
    packets: Literal["blind"] = "blind"
    declare: Literal["acquired"] = "acquired"
    reuse: Literal[False] = False
    lead: Literal["eldest"] = "eldest"


class MetaMazzo(TressetteRules):
    target: Literal[21, 31, 41, 51] = 51
    layout: Literal["stock"] = "stock"
    score_unit: Literal[1] = 1
    declare: Literal["acquired", "none"] = "acquired"
    reuse: Literal[True] = True
    lead: Literal["eldest"] = "eldest"


class TestaATesta(TressetteRules):
    target: Literal[11, 21, 31] = 21
    layout: Literal["stock"] = "stock"
    score_unit: Literal[1] = 1
    declare: Literal["three_tricks", "none"] = "three_tricks"
    reuse: Literal[False] = False
    lead: Literal["four_of_coins"] = "four_of_coins"


class FourHands(TressetteRules):
    signals: bool
    claim: bool

    @property
    def allows_claims(self) -> bool:
        return self.claim


class Tressette(FourHands):
    """Players of this game count in thirds, so points are shown multiplied by three (``score_unit``)."""

    target: Literal[21, 31] = 21
    layout: Literal["full"] = "full"
    score_unit: Literal[3] = 3
    declare: Literal["after_first_trick", "none"] = "after_first_trick"
    reuse: Literal[False] = False
    lead: Literal["eldest"] = "eldest"
    signals: Literal[False, True] = True
    claim: Literal[True] = True


class Tavolo(FourHands):
    target: Literal[11, 21, 31] = 21
    layout: Literal["full"] = "full"
    score_unit: Literal[1] = 1
    declare: Literal["any_turn", "none"] = "any_turn"
    reuse: Literal[False] = False
    lead: Literal["four_of_coins"] = "four_of_coins"
    signals: Literal[False] = False
    claim: Literal[False] = False


class Spades(Rules):
    target: Literal[200, 300, 500] = 500
    nil_bags: Literal[False, True] = True


def format_value(value: object) -> str:
    """Return a value as typed on the command line and written in a record: true, 21, peek."""
    return str(value).lower() if isinstance(value, bool) else quote(value, 40)


def resolve(kind: type[Rules], options: Mapping[str, object]) -> Rules:
    """Return the rules for these options. BadRules names each wrong option and its permitted values."""
    try:
        return kind.model_validate(dict(options))
    except ValidationError as error:
        raise BadRules(problem="; ".join(describe_errors(kind, error).values())) from None


def describe_errors(kind: type[Rules], error: ValidationError) -> dict[str, str]:
    problems = {}
    for fault in error.errors():
        name = str(fault["loc"][0]) if fault["loc"] else "rules"
        if fault["type"] == "extra_forbidden":
            names = ", ".join(kind.choices())
            problems[name] = f"{quote(name, 40)} is not an option of this game; its options are: {names}"
        else:
            problems[name] = f"{name}: {fault['msg'].removeprefix('Value error, ')}"
    return problems


def parse_options(kind: type[Rules], words: Iterable[str]) -> dict[str, Value]:
    """Parse options such as ``target=31``. Raises BadRules for a word that is not an allowed option."""
    options: dict[str, Value] = {}
    choices = kind.choices()
    for word in words:
        name, equals, text = word.partition("=")
        if not equals:
            raise BadRules(problem=f"{quote(word)!r} is not an option: write it as name=value, such as target=31")
        values_by_text = {format_value(value): value for value in choices.get(name, ())}
        options[name] = values_by_text.get(text.lower(), text)
    resolve(kind, options)
    return options
