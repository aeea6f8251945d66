"""Scores of duplicate deals."""

from collections import defaultdict
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.tournaments.duplicate import DealScore, deal_scores, round_scores, to_steps
from bot.features.tournaments.log_entries import Ending
from bot.features.tournaments.tournament import Tournament
from tests.bot.features.tournaments.logs import (
    MIXED_ENDINGS,
    add_result,
    add_round,
    play_tournament,
    random_player,
    start_tournament,
)


def make_four_tables(margins: list[int], *, game: str = "metamazzo", scoring: str = "points") -> Tournament:
    """Return a tournament with a round of four matches: these margins for the first seats in deal 1, draws in deal 2."""
    tournament = add_round(start_tournament("duplicate", 8, game=game, scoring=scoring), (0, 4), (5, 1), (2, 6), (7, 3))
    for match, margin in zip(tournament.rounds[0], margins, strict=True):
        tournament = add_result(tournament, match, max(margin, 0), max(-margin, 0), deal=1)
    for match in tournament.rounds[0]:
        tournament = add_result(tournament, match, 5, 5, deal=2)
    return tournament


def collect_scores(tournament: Tournament) -> list[DealScore]:
    """Return the scores of all deals of finished rounds."""
    return [score for number in range(1, len(tournament.rounds) + 1) for score in deal_scores(tournament, number)]


def find_scores(tournament: Tournament, deal: int) -> list[tuple[object, object]]:
    """Return the scores of a deal, match by match."""
    return [score.scores for score in collect_scores(tournament) if score.deal == deal]


def test_deal_scores_against_the_mean_of_all_tables() -> None:
    tournament = make_four_tables([6, -2, 3, 1])
    assert {score.datum for score in collect_scores(tournament) if score.deal == 1} == {Fraction(2)}
    assert find_scores(tournament, 1) == [(4, -4), (-4, 4), (1, -1), (-1, 1)]
    assert find_scores(tournament, 2) == [(0, 0)] * 4
    assert round_scores(tournament) == [{0: 4, 4: -4, 5: -4, 1: 4, 2: 1, 6: -1, 7: -1, 3: 1}]


def test_mean_is_not_rounded() -> None:
    tournament = make_four_tables([1, 0, 0, 0])
    assert find_scores(tournament, 1)[:2] == [(Fraction(3, 4), Fraction(-3, 4)), (Fraction(-1, 4), Fraction(1, 4))]


def test_seats_are_swapped_in_the_second_deal() -> None:
    tournament = add_round(start_tournament("duplicate", 4), (0, 2), (1, 3))
    for match, points in zip(tournament.rounds[0], (9, 3), strict=True):
        tournament = add_result(tournament, match, 4, 4, deal=1)
        # The second team has the first seat, so its margins are -9 and -3.
        tournament = add_result(tournament, match, points, 0, deal=2)
    assert find_scores(tournament, 2) == [(3, -3), (-3, 3)]
    assert {score.datum for score in collect_scores(tournament) if score.deal == 2} == {Fraction(-6)}


def test_single_table_is_its_own_mean() -> None:
    tournament = add_round(start_tournament("duplicate", 4), (0, 2), (1, 3))
    for deal in (1, 2):
        tournament = add_result(tournament, tournament.match(1, 0), 11, 0, deal=deal)
        tournament = add_result(tournament, tournament.match(1, 1), 0, 0, deal=deal, ending="void")
    assert find_scores(tournament, 1) == find_scores(tournament, 2) == [(0, 0)] * 2
    assert [score.datum for score in collect_scores(tournament)] == [11, 11, -11, -11]


@pytest.mark.parametrize("ending", ["resign", "timeout", "forfeit"])
@pytest.mark.parametrize(
    ("game", "scoring", "penalty"),
    [("metamazzo", "points", 5), ("spades", "points", 50), ("metamazzo", "steps", 3), ("spades", "steps", 3)],
)
def test_resigned_or_forfeited_deal_costs_a_fixed_penalty(
    ending: Ending, game: str, scoring: str, penalty: int
) -> None:
    tournament = add_round(start_tournament("duplicate", 6, game=game, scoring=scoring), (0, 3), (4, 1), (2, 5))
    tournament = add_result(tournament, tournament.match(1, 0), 30, 0, deal=1, ending=ending, winner=1)
    tournament = add_result(tournament, tournament.match(1, 1), 2, 0, deal=1)
    tournament = add_result(tournament, tournament.match(1, 2), 0, 0, deal=1, ending="void")
    for match in tournament.rounds[0]:
        tournament = add_result(tournament, match, 0, 0, deal=2, ending=ending, winner=0)
    assert find_scores(tournament, 1) == [(-penalty, penalty), (0, 0), (0, 0)]
    assert {score.datum for score in collect_scores(tournament)} == {2, None}
    # In the second deal the second team sits first.
    assert find_scores(tournament, 2) == [(penalty, -penalty)] * 3


def test_resigning_costs_as_much_as_the_worst_table() -> None:
    tournament = add_round(start_tournament("duplicate", 6), (0, 3), (4, 1), (2, 5))
    tournament = add_result(tournament, tournament.match(1, 0), 30, 0, deal=1)
    tournament = add_result(tournament, tournament.match(1, 1), 0, 0, deal=1)
    # In each seat, the worst score is 15 below the mean.
    tournament = add_result(tournament, tournament.match(1, 2), 0, 0, deal=1, ending="resign", winner=0)
    for match in tournament.rounds[0]:
        tournament = add_result(tournament, match, 0, 0, deal=2)
    assert find_scores(tournament, 1) == [(15, -15), (-15, 15), (15, -15)]


@pytest.mark.parametrize(
    ("difference", "steps"),
    [
        ("0", 0), ("1/3", 0), ("1/2", 1), ("4/3", 1), ("3/2", 2), ("2", 2), ("3", 3), ("5", 4), ("7", 5), ("9", 5),
        ("10", 6), ("14", 7), ("18", 7), ("19", 8), ("40", 8), ("-1/2", -1), ("-3", -3), ("-30", -8),
    ],
)  # fmt: skip
def test_difference_converts_to_steps(difference: str, steps: int) -> None:
    assert to_steps(Fraction(difference)) == steps


def test_spades_steps_are_ten_times_as_large() -> None:
    assert find_scores(make_four_tables([60, -20, 30, 10], game="spades", scoring="steps"), 1) == [
        (3, -3),
        (-3, 3),
        (1, -1),
        (-1, 1),
    ]
    assert find_scores(make_four_tables([6, -2, 3, 1], scoring="steps"), 1) == [(3, -3), (-3, 3), (1, -1), (-1, 1)]
    assert find_scores(make_four_tables([60, -20, 30, 10], game="spades"), 1) == [
        (40, -40),
        (-40, 40),
        (10, -10),
        (-10, 10),
    ]


def test_unfinished_round_has_no_scores() -> None:
    tournament = make_four_tables([6, -2, 3, 1])
    tournament = add_round(tournament, (0, 1), (2, 3), (4, 5), (6, 7))
    for match in tournament.rounds[1][:3]:
        for deal in (1, 2):
            tournament = add_result(tournament, match, 9, 1, deal=deal)
    assert {score.round for score in collect_scores(tournament)} == {1}
    assert len(round_scores(tournament)) == 1
    for deal in (1, 2):
        tournament = add_result(tournament, tournament.match(2, 3), 9, 1, deal=deal)
    assert {score.round for score in collect_scores(tournament)} == {1, 2}


def test_bye_scores_zero() -> None:
    tournament = add_round(start_tournament("duplicate", 5), (0, 2), (3, 1), (4, None))
    for match in tournament.rounds[0][:2]:
        for deal in (1, 2):
            tournament = add_result(tournament, match, match.first, 0, deal=deal)
    assert round_scores(tournament)[0][4] == 0


@given(
    seed=st.integers(0, 2**32),
    teams=st.integers(4, 10),
    deals=st.sampled_from(["2", "4", "8"]),
    scoring=st.sampled_from(["points", "steps"]),
)
def test_deal_scores_sum_to_zero(seed: int, teams: int, deals: str, scoring: str) -> None:
    tournament = play_tournament(
        start_tournament("duplicate", teams, deals=deals, scoring=scoring), random_player(Random(seed), MIXED_ENDINGS)
    )
    by_deal: dict[tuple[int, int], list[Fraction]] = defaultdict(list)
    for score in collect_scores(tournament):
        match = tournament.match(score.round, score.match)
        assert sum(score.scores) == 0
        if match.results[score.deal].ending == "played":
            by_deal[score.round, score.deal].append(score.scores[match.first_seat(score.deal)])
        elif match.results[score.deal].ending == "void":
            assert not any(score.scores)
    # Points are differences from the mean in one seat over the tables that played the deal, so they add up to zero.
    assert scoring == "steps" or all(sum(scores) == 0 for scores in by_deal.values())
    assert sum(sum(scores.values()) for scores in round_scores(tournament)) == 0
    assert len(collect_scores(tournament)) == sum(len(match.results) for match in tournament.matches)
