"""Places round-trip through their texts, which all releases store in the same form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.places import Place
from bot.platform import can_write_anytime, chat_of, is_ephemeral, is_private, is_same_place, person_of, private_place

STORED = {
    "": Place(),
    "playground:1": Place("playground", "1"),
    "playground:@1": Place("playground", person="1"),
    "telegram:-1001": Place("telegram", "-1001"),
    "telegram:-1001/5": Place("telegram", "-1001", "5"),
    "telegram:@42": Place("telegram", person="42"),
    "telegram:@42~/7": Place("telegram", part="7", person="42"),
    "telegram:@42~-1001/5!1700000000.77": Place("telegram", "-1001", "5", "42", "1700000000.77"),
    "telegram:@42~-1001": Place("telegram", "-1001", person="42"),
    "discord:100/200": Place("discord", "100", "200"),
    "discord:guest200": Place("discord", "guest200"),
    "discord:@1~200!1700000000.9.aW50/ZXI~hY!3Q:x": Place("discord", "200", "", "1", "1700000000.9.aW50/ZXI~hY!3Q:x"),
}
"""Places by their stored texts. Discord chooses its tokens, so they can contain any characters."""


@pytest.mark.parametrize("text", STORED)
def test_stored_places_round_trip(text: str) -> None:
    assert Place.parse(text) == STORED[text]
    assert str(STORED[text]) == text


NAMES = st.text(alphabet="abz019-_.", min_size=1, max_size=8)
OPTIONAL_NAMES = st.just("") | NAMES
TOKENS = st.just("") | st.text(alphabet="ab1.~!/:@", min_size=1, max_size=12)
PLACES = st.one_of(
    st.builds(Place, NAMES, NAMES, OPTIONAL_NAMES),
    st.builds(Place, NAMES, person=NAMES, part=OPTIONAL_NAMES),
    st.builds(Place, NAMES, NAMES, OPTIONAL_NAMES, NAMES, TOKENS),
)


@given(PLACES)
def test_places_round_trip(place: Place) -> None:
    assert Place.parse(str(place)) == place


@given(PLACES, TOKENS)
def test_place_with_another_token_is_the_same_place(place: Place, token: str) -> None:
    text = str(place)
    assert is_private(text) == place.is_private
    assert is_ephemeral(text) == place.is_ephemeral
    assert is_same_place(text, str(Place(place.platform, place.chat, place.part, place.person, token)))
    assert not is_same_place(text, str(Place(place.platform, place.chat, place.part, f"{place.person}x")))
    assert not is_same_place(text, str(Place(place.platform, f"{place.chat}x", place.part, place.person, place.token)))


def test_place_names_its_person_and_chat() -> None:
    assert private_place("telegram:42") == "telegram:@42"
    assert person_of("telegram:@42") == person_of("telegram:@42~-1001/5!1.2") == "telegram:42"
    assert chat_of("telegram:-1001/5") == chat_of("telegram:-1001") == "telegram:-1001"


def test_bot_can_write_anytime_only_where_it_is_a_member() -> None:
    writable = ("telegram:-1001/5", "telegram:@42", "discord:100/200", "playground:1")
    not_writable = ("telegram:~77/5", "discord:guest200", "telegram:@42~-1001/5!1.2", "discord:@1~200!1.9.a")
    assert all(map(can_write_anytime, writable))
    assert not any(map(can_write_anytime, not_writable))


def test_repr_hides_the_token() -> None:
    assert "secret" not in repr(Place("discord", "200", "", "1", "secret"))
