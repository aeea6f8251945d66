"""The choices of a challenge's form."""

from itertools import combinations

import pytest

from bot import actions
from bot.actions import BadPayload
from bot.panel import LONGEST_PAYLOAD
from bot.parsing.challenge_form import FormChoices, all_boxes, all_targets
from bot.tables.clock import CLOCKS
from engine import GAMES


def test_choices_survive_a_payload() -> None:
    for boxes in (*combinations(all_boxes(), 2), (), tuple(all_boxes())):
        for game in GAMES:
            choices = FormChoices(game, max(all_targets()), max(CLOCKS), frozenset(boxes))
            payload = actions.table("K7QF2M", "form", *choices.words)
            assert len(payload) <= LONGEST_PAYLOAD
            action = actions.parse_payload(payload)
            assert isinstance(action, actions.TableAction)
            assert FormChoices.from_words(action.words) == choices


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["testa", "0", "0"],
        ["gone", "0", "0", "0"],
        ["testa", "22", "0", "0"],
        ["testa", "0", "61", "0"],
        ["testa", "0", "0", "x"],
        ["testa", "0", "0", str(1 << len(all_boxes()))],
        ["testa", "0", "0", "²"],
    ],
    ids=str,
)
def test_forged_choices_are_refused(words: list[str]) -> None:
    with pytest.raises(BadPayload):
        FormChoices.from_words(words)


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"game": ("testa",)},
        {"game": ("testa", "spades"), "points": ("0",), "clock": ("0",)},
        {"game": ("testa",), "points": ("0",), "clock": ("0",), "options": ("fast",)},
    ],
)
def test_forged_answers_are_refused(answers: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(BadPayload):
        FormChoices.from_answers(answers)


def test_form_has_at_most_ten_boxes() -> None:
    """More do not fit into one group of Discord's checkboxes."""
    assert len(all_boxes()) <= 10
