"""Stored names and states: texts of all releases must load and stay the same."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.message_state import MessageState, Outdated, State, decode_state, encode_state
from bot.delivery.surface_names import Board, ChallengeCard, Hand, Result, SurfaceName, decode_name, encode_name
from bot.panels.drafts import NO_DRAFT, Draft, decode_draft, encode_draft

NAMES: dict[str, SurfaceName] = {
    "h0": Hand(0),
    "h3": Hand(3),
    "c0": ChallengeCard(0),
    "c12": ChallengeCard(12),
    "r12": Result(12),
    "d1.0": Board(deal=1, host=0),
    "d27.3": Board(deal=27, host=3),
    "r0": Result(0),
    "r2": Result(2),
}


@pytest.mark.parametrize(("text", "name"), NAMES.items(), ids=NAMES)
def test_surface_names_are_short_texts(text: str, name: SurfaceName) -> None:
    assert encode_name(name) == text
    assert decode_name(text) == name


def test_surface_names_are_distinct() -> None:
    assert len({*NAMES.values()}) == len(NAMES)


@pytest.mark.parametrize("text", ["", "h", "x1", "h-1", "h1.2", "d1", "d1.", "d.1", "c 1", "h٣", "h1\n", "hh1", "c1.1"])
def test_invalid_surface_names_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the name of a surface"):
        decode_name(text)


STATES = {
    "9\tff\t\t1\t\t\t\t\t\t\t0a1b2c": MessageState("9", "ff", sent=1, picture="0a1b2c"),
    "": MessageState(),
    "\t\t1a2b": MessageState(place_tag="1a2b"),
    "17\t0a1b2c3d4e5f\t1a2b\t3\t1700000000": MessageState("17", "0a1b2c3d4e5f", "1a2b", 3, 1700000000),
    "\t\t1a2b\t\t\tdone": MessageState(place_tag="1a2b", halted="done"),
    "\t\t1a2b\t2\t1700000000\tunreachable": MessageState("", "", "1a2b", 2, 1700000000, "unreachable"),
    "17\t0a1b2c3d4e5f\t1a2b\t3\t1700000000\t\t2\t14 busso 1,2": MessageState(
        "17", "0a1b2c3d4e5f", "1a2b", 3, 1700000000, "", 2, Draft(14, "busso 1,2")
    ),
    "9\tff\t1a2b\t4\t5\t\t1\t\t7 telegram:@2|8 discord:@3~5!1,2|6\ttelegram:@2~-100!abc": MessageState(
        "9",
        "ff",
        "1a2b",
        4,
        5,
        "",
        1,
        NO_DRAFT,
        (Outdated("7"), Outdated("8", "telegram:@2"), Outdated("6", "discord:@3~5!1,2")),
        "telegram:@2~-100!abc",
    ),
}
"""Texts that releases wrote. Add new ones; never change these."""


@pytest.mark.parametrize(("text", "state"), STATES.items())
def test_state_is_a_line_of_text(text: str, state: MessageState) -> None:
    assert decode_state(text) == state
    assert encode_state(state) == text


def test_fields_of_newer_releases_are_ignored() -> None:
    text = encode_state(STATES["17\t0a1b2c3d4e5f\t1a2b\t3\t1700000000"])
    assert decode_state(f"{text}\t\t\t\t\t\t\tmore\tand more") == decode_state(text)


words = st.text(string.ascii_letters + string.digits + ":@~-!,", min_size=1, max_size=12)
states = st.builds(
    MessageState,
    message=words | st.just(""),
    digest=words | st.just(""),
    place_tag=words,
    sent=st.integers(0, 10**6),
    seen_at=st.integers(0, 2**40),
    halted=st.sampled_from(["", "unreachable", "dropped", "done"]),
    urgency=st.integers(0, 4),
    draft=st.builds(Draft, st.integers(0, 999), words | st.just("")),
    outdated=st.lists(st.builds(Outdated, words, words | st.just("")), max_size=3).map(tuple),
    ephemeral=words | st.just(""),
    picture=words | st.just(""),
)


@given(states)
def test_states_round_trip(state: MessageState) -> None:
    assert decode_state(encode_state(state)) == state


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        ("", NO_DRAFT),
        ("14", Draft(14)),
        ("14 busso", Draft(14, "busso")),
        ("14 135", Draft(14, "135")),
        ("14 2C,3D", Draft(14, "2C,3D")),
        ("0 game", Draft(0, "game")),
    ],
)
def test_draft_is_a_version_and_a_choice(text: str, draft: Draft) -> None:
    assert decode_draft(text) == draft
    assert encode_draft(draft) == text


def test_closed_menu_of_earlier_releases_is_not_a_draft() -> None:
    assert decode_draft("0 ") == NO_DRAFT


@pytest.mark.parametrize("text", ["busso", "busso 14", "1_x 2"])
def test_draft_without_a_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        decode_draft(text)


def test_state_follows_from_the_stored_fields() -> None:
    assert MessageState().state is State.ABSENT
    assert MessageState("17").state is State.SHOWN
    for state in (State.UNREACHABLE, State.DROPPED, State.DONE):
        assert MessageState(halted=state.value).state is state
