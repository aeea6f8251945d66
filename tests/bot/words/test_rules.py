"""Rules in short."""

import pytest

from bot.words.rules import rules_text
from bot.words.wording import score_unit_of
from engine import GAMES


def test_common_rules_count_in_the_unit_of_the_game() -> None:
    unit = score_unit_of("tressette")
    common = rules_text("en", unit=unit)
    assert dict(common.ranking)["AD"] == "3"
    rules_text_lines = "\n".join(common.lines)
    assert "A deal is worth 33 points" in rules_text_lines
    assert "four aces: 12 points; three of them: 9 points" in rules_text_lines
    assert "An ace counts 3 points" in rules_text_lines
    assert "A deal is worth 11 points" in "\n".join(rules_text("en").lines)


@pytest.mark.parametrize(("language", "dealer"), [("en", "dealer"), ("it", "mazziere")])
def test_rules_name_no_dealer(language: str, dealer: str) -> None:
    """Nobody is seen dealing, so the rules say who leads in other words."""
    for subject in ("", *GAMES):
        assert dealer not in " ".join(rules_text(language, subject).lines), subject


def test_common_rules_begin_with_the_trick() -> None:
    first, second, *others = rules_text("en").lines
    assert first.startswith("A trick is one card from each player. One player leads")
    assert second.startswith("The highest card of the suit led takes the trick")
    points, declarations = (
        next(number for number, line in enumerate(others) if text in line) for text in ("ace counts", "Declarations")
    )
    assert points < declarations
