"""The chain of the days' secrets leads to the end that was told beforehand, day by day."""

from datetime import date, timedelta
from hashlib import sha256

import pytest

from bot.features.daily.chain import DAYS, Chain, NoSuchDay, days_to_end
from engine.shuffle import commitment

FIRST = date(2026, 11, 24)
CHAIN = Chain(bytes(range(32)), FIRST)


def test_the_seal_of_a_day_is_the_secret_of_the_day_before() -> None:
    assert commitment(CHAIN.secret(FIRST)) == CHAIN.end
    for number in (1, 2, 700, DAYS - 1):
        day = FIRST + timedelta(days=number)
        assert commitment(CHAIN.secret(day)) == CHAIN.secret(day - timedelta(days=1)).hex()


def test_the_last_days_secret_is_what_was_drawn() -> None:
    assert CHAIN.secret(CHAIN.last) == CHAIN.root


def test_the_end_is_the_hash_of_a_hash_as_often_as_there_are_days() -> None:
    number = CHAIN.root
    for _ in range(DAYS):
        number = sha256(number).digest()
    assert CHAIN.end == number.hex()


@pytest.mark.parametrize("day", [FIRST - timedelta(days=1), FIRST + timedelta(days=DAYS)])
def test_a_day_that_the_chain_does_not_have(day: date) -> None:
    with pytest.raises(NoSuchDay, match="2026-11-24"):
        CHAIN.secret(day)


def test_whoever_knows_the_end_finds_which_day_a_seal_is_of() -> None:
    for number in (0, 1, 30):
        seal = commitment(CHAIN.secret(FIRST + timedelta(days=number)))
        assert days_to_end(seal, CHAIN.end) == number
    assert days_to_end(commitment(b"x" * 32), CHAIN.end) is None
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        days_to_end("ab", CHAIN.end)


def test_a_chain_is_read_as_it_is_written() -> None:
    assert Chain.parse(CHAIN.to_text()) == CHAIN
    with pytest.raises(ValueError, match="32 bytes"):
        Chain.parse("2026-11-24 abcd")
