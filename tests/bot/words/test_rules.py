"""Rules in short."""

from bot.words.rules import rules_text
from bot.words.wording import score_unit_of


def test_common_rules_count_in_the_unit_of_the_game() -> None:
    unit = score_unit_of("tressette")
    common = rules_text("en", unit=unit)
    assert dict(common.ranking)["AD"] == "3"
    rules_text_lines = "\n".join(common.lines)
    assert "A deal is worth 33 points" in rules_text_lines
    assert "four aces: 12 points; three of them: 9 points" in rules_text_lines
    assert "An ace counts 3 points" in rules_text_lines
    assert "A deal is worth 11 points" in "\n".join(rules_text("en").lines)
