"""Parsing of games and targets in the words of a command."""

import pytest

from bot.parsing.games import NoSuchGame, NoSuchTarget, find_robot, parse_game_and_points, target_rule


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("metà mazzo", ("metamazzo", None)),
        ("testa a testa", ("testa", None)),
        ("tressette", ("tressette", None)),
        ("tressette in quattro", ("tressette", None)),
        ("Tressette al Tavolo 21", ("tavolo", 21)),
        ("@anna 31 Testa a @bea Testa", ("testa", 31)),
        ("tressette a 21", ("tressette", 21)),
        ("testa a 21", ("testa", 21)),
        ("testa a testa a 31", ("testa", 31)),
        ("to 21", ("metamazzo", 21)),
        ("spades −5", ("spades", -5)),
        ("٣١", ("metamazzo", 31)),
        ("", ("metamazzo", None)),
    ],
)
def test_full_game_name_is_found_among_other_words(words: str, expected: tuple[str, int | None]) -> None:
    assert parse_game_and_points(words.split(), "metamazzo") == expected


@pytest.mark.parametrize("words", ["tressette a", "tressette al 21", "spades mazzo"])
def test_incomplete_game_name_is_refused(words: str) -> None:
    with pytest.raises(NoSuchGame):
        parse_game_and_points(words.split(), "metamazzo")


def test_classic_tressette_takes_points_as_shown_or_counted() -> None:
    assert target_rule("tressette", 63) == target_rule("tressette", 21)
    with pytest.raises(NoSuchTarget):
        target_rule("tressette", 51)


@pytest.mark.parametrize(
    ("words", "level", "other_words"),
    [
        ("robot", "easy", ""),
        ("metamazzo Robot", "easy", "metamazzo"),
        ("spades robot strong", "strong", "spades"),
        ("🤖 Forte spades a 200", "strong", "spades a 200"),
        ("medium robot testa a testa", "medium", "testa a testa"),
        ("metà mazzo", "", "metà mazzo"),
    ],
)
def test_robot_is_named_by_its_level_or_as_robot(words: str, level: str, other_words: str) -> None:
    for in_private in (True, False):
        assert find_robot(words.split(), in_private=in_private) == (level, other_words.split())


@pytest.mark.parametrize(
    ("words", "in_private", "level"),
    [("Forte", False, ""), ("facile", True, "easy"), ("spades strong", True, ""), ("easy strong", True, "")],
)
def test_bare_level_is_a_robot_only_in_private(words: str, level: str, *, in_private: bool) -> None:
    assert find_robot(words.split(), in_private=in_private) == (level, [] if level else words.split())
