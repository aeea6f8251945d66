"""A place is what its text says, and its text is what every release has stored."""

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
    "telegram:@42~-1001/5!1700000000.77": Place("telegram", "-1001", "5", "42", "1700000000.77"),
    "telegram:@42~-1001": Place("telegram", "-1001", person="42"),
    "discord:100/200": Place("discord", "100", "200"),
    "discord:guest200": Place("discord", "guest200"),
    "discord:@1~200!1700000000.9.aW50/ZXI~hY!3Q:x": Place("discord", "200", "", "1", "1700000000.9.aW50/ZXI~hY!3Q:x"),
}
"""Texts as stores hold them; Discord's tokens are Discord's, and may be anything."""


@pytest.mark.parametrize("text", STORED)
def test_every_stored_text_is_read_and_written_as_it_was(text: str) -> None:
    assert Place.parse(text) == STORED[text]
    assert str(STORED[text]) == text


NAME = st.text(alphabet="abz019-_.", min_size=1, max_size=8)
MAYBE = st.just("") | NAME
TOKEN = st.just("") | st.text(alphabet="ab1.~!/:@", min_size=1, max_size=12)
PLACES = st.one_of(
    st.builds(Place, NAME, NAME, MAYBE),
    st.builds(Place, NAME, person=NAME),
    st.builds(Place, NAME, NAME, MAYBE, NAME, TOKEN),
)


@given(PLACES)
def test_a_place_is_read_from_its_text(place: Place) -> None:
    assert Place.parse(str(place)) == place


@given(PLACES, TOKEN)
def test_an_ephemeral_place_stays_the_same_with_another_token(place: Place, token: str) -> None:
    text = str(place)
    assert is_private(text) == place.is_private
    assert is_ephemeral(text) == place.is_ephemeral
    assert is_same_place(text, str(Place(place.platform, place.chat, place.part, place.person, token)))
    assert not is_same_place(text, str(Place(place.platform, place.chat, place.part, f"{place.person}x")))
    assert not is_same_place(text, str(Place(place.platform, f"{place.chat}x", place.part, place.person, place.token)))


def test_whose_and_which_chat() -> None:
    assert private_place("telegram:42") == "telegram:@42"
    assert person_of("telegram:@42") == person_of("telegram:@42~-1001/5!1.2") == "telegram:42"
    assert chat_of("telegram:-1001/5") == chat_of("telegram:-1001") == "telegram:-1001"


def test_the_bot_speaks_first_in_chats_that_it_is_in() -> None:
    may = ("telegram:-1001/5", "telegram:@42", "discord:100/200", "playground:1")
    may_not = ("telegram:~77/5", "discord:guest200", "telegram:@42~-1001/5!1.2", "discord:@1~200!1.9.a")
    assert all(map(can_write_anytime, may))
    assert not any(map(can_write_anytime, may_not))


def test_a_token_is_not_shown_where_a_place_is() -> None:
    assert "secret" not in repr(Place("discord", "200", "", "1", "secret"))
