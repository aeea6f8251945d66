"""The number of rounds of each form."""

import pytest

from bot.features.tournaments.rounds import rounds_in_all
from bot.features.tournaments.tournament import Form
from tests.bot.features.tournaments.logs import start_tournament


@pytest.mark.parametrize(
    ("form", "teams", "rounds", "count"),
    [
        ("knockout", 2, "auto", 1),
        ("knockout", 9, "auto", 4),
        ("knockout", 64, "7", 6),
        ("roundrobin", 3, "auto", 3),
        ("roundrobin", 8, "auto", 7),
        ("league", 32, "auto", 1),
        ("swiss", 4, "auto", 3),
        ("swiss", 4, "7", 3),
        ("swiss", 5, "7", 5),
        ("swiss", 8, "auto", 3),
        ("swiss", 9, "auto", 4),
        ("swiss", 64, "auto", 6),
        ("duplicate", 64, "3", 3),
        ("duplicate", 33, "auto", 6),
    ],
)
def test_number_of_rounds(form: Form, teams: int, rounds: str, count: int) -> None:
    assert rounds_in_all(start_tournament(form, teams, rounds=rounds)) == count
