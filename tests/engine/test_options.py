"""The options of each game match the table in the rules, with their defaults."""

from random import Random

import pytest

import engine
from engine import GAMES, Game
from engine.errors import BadRules
from engine.options import parse_options, resolve
from tests.engine.tables import random_game

FIXED: dict[str, tuple[object, ...]] = {"score_unit": (1,), "lead": ("eldest",), "reuse": (False,)}
TABLE: dict[str, dict[str, tuple[object, ...]]] = {
    "pizzichino": {**FIXED, "layout": ("packets",), "target": (21, 31, 41, 51), "packets": ("blind", "peek"),
                   "declare": ("acquired", "dealt", "none"), "reuse": (False, True)},
    "spizzichino": {**FIXED, "layout": ("packets",), "target": (51,), "packets": ("blind",), "declare": ("acquired",)},
    "metamazzo": {**FIXED, "layout": ("stock",), "target": (21, 31, 41, 51), "declare": ("acquired", "none"), "reuse": (True,)},
    "testa": {**FIXED, "layout": ("stock",), "target": (11, 21, 31), "declare": ("three_tricks", "none"), "lead": ("four_of_coins",)},
    "tressette": {**FIXED, "layout": ("full",), "target": (21, 31), "declare": ("after_first_trick", "none"), "score_unit": (3,),
                  "signals": (False, True), "claim": (True,)},
    "tavolo": {**FIXED, "layout": ("full",), "target": (11, 21, 31), "declare": ("any_turn", "none"), "lead": ("four_of_coins",),
               "signals": (False,), "claim": (False,)},
    "spades": {"target": (200, 300, 500), "nil_bags": (False, True)},
}  # fmt: skip
DEFAULTS: dict[str, dict[str, object]] = {
    "pizzichino": {"target": 51, "packets": "blind", "declare": "acquired", "reuse": False},
    "spizzichino": {"target": 51},
    "metamazzo": {"target": 51, "declare": "acquired", "reuse": True},
    "testa": {"target": 21, "declare": "three_tricks"},
    "tressette": {"target": 21, "declare": "after_first_trick", "signals": True},
    "tavolo": {"target": 21, "declare": "any_turn"},
    "spades": {"target": 500, "nil_bags": True},
}


@pytest.mark.parametrize("game", GAMES)
def test_options_match_the_rules_table(game: str) -> None:
    assert GAMES[game].rules.choices() == TABLE[game], f"the options of {game} differ from TABLE in this file"


@pytest.mark.parametrize("game", GAMES)
def test_defaults_match_the_rules_table(game: str) -> None:
    rules = resolve(GAMES[game].rules, {}).model_dump()
    assert {name: rules[name] for name in DEFAULTS[game]} == DEFAULTS[game]


@pytest.mark.parametrize("game", GAMES)
def test_value_of_earlier_releases_is_valid(game: str) -> None:
    resolve(GAMES[game].rules, GAMES[game].rules.BEFORE)


def test_pizzichino_without_declarations_defaults_to_31() -> None:
    assert Game("pizzichino", {"declare": "none"}).rules.target == 31
    assert Game("pizzichino", {"declare": "none", "target": 21}).rules.target == 21


@pytest.mark.parametrize("game", GAMES)
def test_error_for_invalid_value_lists_the_valid_ones(game: str) -> None:
    for name, values in GAMES[game].rules.choices().items():
        wrong: list[object] = [99, "99", None, 1.0, [], "x" * 9999, not values[0] if isinstance(values[0], int) else 1]
        for bad in wrong:
            if any(bad == value and type(bad) is type(value) for value in values):
                continue
            with pytest.raises(BadRules) as caught:
                Game(game, {name: bad})
            assert f"{name}: " in str(caught.value)
            assert ", ".join(str(v).lower() for v in values) in str(caught.value)
            assert len(str(caught.value)) < 200


def test_error_for_unknown_option_lists_the_known_ones() -> None:
    with pytest.raises(BadRules, match=r"jokers is not an option of this game; its options are: target, nil_bags"):
        Game("spades", {"jokers": 2})


def test_options_are_parsed_from_words() -> None:
    kind = GAMES["pizzichino"].rules
    assert parse_options(kind, ["target=31", "reuse=true", "packets=peek"]) == {
        "target": 31,
        "reuse": True,
        "packets": "peek",
    }
    with pytest.raises(BadRules, match="name=value"):
        parse_options(kind, ["target"])
    with pytest.raises(BadRules, match="seven is not one of: 21, 31, 41, 51"):
        parse_options(kind, ["target=seven"])


CASES = [
    (game, name, value) for game in GAMES for name, values in TABLE[game].items() if len(values) > 1 for value in values
]


@pytest.mark.parametrize(("game", "name", "value"), CASES)
def test_games_with_every_option_value_end_and_verify(game: str, name: str, value: object) -> None:
    for seed in range(3):
        table = random_game(game, Random(f"{game} {name} {value} {seed}"), {name: value})
        assert table.is_over
        record = engine.read(table.record().to_json())
        assert record.rules[name] == value
        engine.verify(record)
