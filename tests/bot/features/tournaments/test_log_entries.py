"""Entries of a tournament's log as text."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.tournaments.log_entries import (
    Cancel,
    Enter,
    Entry,
    Finish,
    Leave,
    Open,
    Option,
    Partner,
    Place,
    Play,
    Redacted,
    Result,
    Round,
    Seat,
    Start,
    decode,
    encode,
)
from bot.store.entry_text import UnreadableEntry

TEXTS: dict[str, Entry] = {
    "open telegram:42 Bea B.": Open("telegram:42", "Bea B."),
    "place telegram:-100/7": Place("telegram:-100/7"),
    "play metamazzo 300 strict target=31": Play("metamazzo", "300 strict target=31"),
    "option form swiss": Option("form", "swiss"),
    "enter discord:7 Anna": Enter("discord:7", "Anna"),
    "leave 3": Leave(3),
    "partner 0 4": Partner(0, 4),
    "start 00ff 2 0 1": Start(b"\0\xff", ((2,), (0,), (1,))),
    "start 00ff 0+4 2+1": Start(b"\0\xff", ((0, 4), (2, 1))),
    "round 86400 0-3 1-2 4-": Round(86400, ((0, 3), (1, 2), (4, None))),
    "seat 1 0 0 K7QF2M": Seat(1, 0, 0, "K7QF2M"),
    "result 1 0 0 1 18 31 played K7QF2M-0a1b2c": Result(1, 0, 0, 1, 18, 31, "played", "K7QF2M-0a1b2c"),
    "result 2 1 2 - -40 35 played -": Result(2, 1, 2, None, -40, 35, "played"),
    "result 2 1 1 0 0 0 forfeit -": Result(2, 1, 1, 0, 0, 0, "forfeit"),
    "finish": Finish(),
    "cancel": Cancel(),
    "redacted": Redacted(),
}
"""Lines that releases wrote. Add new ones; never change these."""


@pytest.mark.parametrize(("text", "entry"), TEXTS.items())
def test_entry_round_trips_as_a_line(text: str, entry: Entry) -> None:
    assert decode(text) == entry
    assert encode(entry) == text


def test_every_entry_type_has_an_example() -> None:
    mismatch = set(get_args(Entry)) ^ {type(entry) for entry in TEXTS.values()}
    assert not mismatch, f"TEXTS in this file must have a line for each type of Entry: {mismatch}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "round",
        "round 5",
        "round 5 0",
        "start 00",
        "leave x",
        "result 1 0 0 2 1 1 won -",
        "result 1 0 0 1 1 1 played",
        "finish now",
        "open a",
        "1 2",
    ],
)
def test_malformed_line_is_refused(text: str) -> None:
    with pytest.raises(UnreadableEntry):
        decode(text)


@given(st.text(st.characters(blacklist_categories=["Cs"])))
def test_decoded_line_encodes_to_itself(text: str) -> None:
    try:
        entry = decode(text)
    except UnreadableEntry:
        return
    assert encode(entry) == text


def test_id_with_a_space_is_refused() -> None:
    with pytest.raises(ValueError, match="read as something else"):
        encode(Enter("paper:1 2", "Anna"))
