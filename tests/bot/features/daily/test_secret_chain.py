"""The chain of daily secrets, which ends in the hash published beforehand."""

from datetime import date, timedelta
from hashlib import sha256

import pytest

from bot.features.daily.secret_chain import DAYS, Chain, NoSuchDay, days_to_end
from engine.shuffle import commitment

FIRST = date(2026, 11, 24)
CHAIN = Chain(bytes(range(32)), FIRST)


def test_seal_is_the_secret_of_the_day_before() -> None:
    assert commitment(CHAIN.secret(FIRST)) == CHAIN.end
    for number in (1, 2, 700, DAYS - 1):
        day = FIRST + timedelta(days=number)
        assert commitment(CHAIN.secret(day)) == CHAIN.secret(day - timedelta(days=1)).hex()


def test_last_secret_is_the_random_root() -> None:
    assert CHAIN.secret(CHAIN.last) == CHAIN.root


def test_end_is_the_root_hashed_once_a_day() -> None:
    number = CHAIN.root
    for _ in range(DAYS):
        number = sha256(number).digest()
    assert CHAIN.end == number.hex()


@pytest.mark.parametrize("day", [FIRST - timedelta(days=1), FIRST + timedelta(days=DAYS)])
def test_days_outside_the_chain_are_refused(day: date) -> None:
    with pytest.raises(NoSuchDay, match="2026-11-24"):
        CHAIN.secret(day)


def test_end_gives_the_day_of_a_seal() -> None:
    for number in (0, 1, 30):
        seal = commitment(CHAIN.secret(FIRST + timedelta(days=number)))
        assert days_to_end(seal, CHAIN.end) == number
    assert days_to_end(commitment(b"x" * 32), CHAIN.end) is None
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        days_to_end("ab", CHAIN.end)


def test_chain_survives_a_round_trip_as_text() -> None:
    assert Chain.parse(CHAIN.to_text()) == CHAIN
    with pytest.raises(ValueError, match="32 bytes"):
        Chain.parse("2026-11-24 abcd")
