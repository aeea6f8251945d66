"""Similar names get numbers, and no person looks like a robot."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.identity.names import (
    NO_NAME,
    ROBOT_SIGNS,
    distinct_name,
    distinct_names,
    likeness,
    person_name,
    printable_name,
    tag_namesakes,
    tag_of,
)
from bot.identity.programs import PREFIX, name_of
from bot.identity.pseudonyms import localize_name
from bot.robots.names import ROBOT_NAMES

ROBOTS = {f"🤖 {name}" for names in ROBOT_NAMES.values() for name in names}
PIECES = st.sampled_from([*"🤖👾 aM2", "\ufe0f", "\ufe0e", "\u200d", "\u20e3", "\u2060", "\u00a0", "é", "e\u0301"])
NAMES = st.one_of(st.text(max_size=70), st.lists(PIECES, max_size=70).map("".join))


@pytest.mark.parametrize(
    "name",
    [
        "🤖 Nonna Rosa",
        "🤖Nonna Rosa",
        "  🤖  Nonna   Rosa ",
        "🤖\ufe0f Nonna Rosa",
        "🤖\ufe0e Nonna Rosa",
        "🤖\u200d Nonna Rosa",
        "\u200d🤖 Nonna Rosa",
        "🤖\u20e3 Nonna Rosa",
        "🤖🤖 Nonna Rosa 🤖",
        "\u2060🤖\u2060 Nonna\u00a0Rosa",
        "👾 Nonna Rosa",
    ],
)
def test_person_name_loses_robot_signs(name: str) -> None:
    assert person_name(name) == "Nonna Rosa"


@given(NAMES)
@example("0\u200c\u200c\u200c0")
def test_no_person_name_resembles_a_robot(name: str) -> None:
    cleaned = person_name(name)
    assert not set(ROBOT_SIGNS) & set(cleaned)
    assert likeness(cleaned) not in {likeness(robot) for robot in ROBOTS}
    assert person_name(cleaned) == cleaned
    assert 1 <= len(cleaned) <= 64


def test_robots_and_programs_keep_their_sign() -> None:
    assert name_of("robot:strong", "🤖 Nonna Rosa") == "🤖 Nonna Rosa"
    assert name_of(f"{PREFIX}1", "🤖 1f3a") == "🤖 1f3a"
    assert name_of("web:1", "🤖") == NO_NAME


@pytest.mark.parametrize("other", ["Marco", "marco", "MARCO ", "Ma\u2060rco", "\uff2darco"])
def test_similar_names_get_numbers(other: str) -> None:
    assert distinct_names(["Marco", "Anna", other, "Marco"])[:2] == ["Marco", "Anna"]
    numbered = distinct_names(["Marco", other, "Marco"])
    assert [name[-2:] for name in numbered[1:]] == [" 2", " 3"]


def test_numbered_name_in_use_is_skipped() -> None:
    assert distinct_names(["Marco", "Marco", "Marco 2"]) == ["Marco", "Marco 3", "Marco 2"]


def test_long_name_keeps_its_number() -> None:
    assert distinct_name("M" * 64, ["M" * 64]) == "M" * 61 + "… 2"


def test_numbered_guest_name_is_localized() -> None:
    assert distinct_name("Guest 482", ["Guest 482"]) == "Guest 482 2"
    assert localize_name("Guest 482 2", "it") == "Ospite 482 2"


@given(st.lists(NAMES.map(printable_name), max_size=8))
def test_names_at_a_table_are_distinct(names: list[str]) -> None:
    distinct = distinct_names(names)
    assert len({likeness(name) for name in distinct}) == len(names)
    for seat, name in enumerate(names):
        if likeness(name) not in map(likeness, names[:seat]):
            assert distinct[seat] == name


def test_tag_does_not_depend_on_the_other_names() -> None:
    marcos = {f"telegram:{number}": "Marco" for number in range(3)}
    tagged = tag_namesakes({**marcos, "telegram:9": "Anna"})
    assert tagged["telegram:9"] == "Anna"
    assert tagged["telegram:1"] == f"Marco ({tag_of('telegram:1')})"
    assert len(set(tagged.values())) == 4
    fewer = tag_namesakes(dict.fromkeys(list(marcos)[1:], "marco"))
    assert fewer["telegram:1"].casefold() == tagged["telegram:1"].casefold()
