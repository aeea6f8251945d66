"""Properties of every round of the Dutch system."""

import subprocess
import sys
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.tournaments.log_entries import Leave
from bot.features.tournaments.rounds import next_round, rounds_in_all
from bot.features.tournaments.swiss import RELAXED, can_be_paired, records_of
from bot.features.tournaments.team_record import TeamRecord, order_seats
from bot.features.tournaments.tournament import Form, Tournament
from tests.bot.features.tournaments.logs import (
    MIXED_ENDINGS,
    add_entries,
    add_result,
    add_round,
    play_round,
    play_tournament,
    playing_teams,
    random_player,
    start_tournament,
)
from tests.long import long


def random_tournament(
    seed: int, teams: int, form: Form = "swiss", *, rounds: str = "auto", leaving: float = 0.0
) -> Tournament:
    """Return a finished tournament with random results."""
    random = Random(seed)

    def leavers(tournament: Tournament) -> list[int]:
        return (
            [random.choice(playing_teams(tournament))]
            if random.random() < leaving and len(playing_teams(tournament)) > 2
            else []
        )

    return play_tournament(start_tournament(form, teams, rounds=rounds), random_player(random, MIXED_ENDINGS), leavers)


def rewind_to_round(tournament: Tournament, number: int) -> Tournament:
    """Return the tournament before a round was paired. Later withdrawals are undone."""
    current = Tournament(tournament.code)
    for entry in tournament.entries:
        after = current.with_stored_entries([entry])
        if len(after.rounds) == number:
            return current
        current = after
    return tournament


def test_first_round_pairs_upper_half_with_lower_half() -> None:
    assert next_round(start_tournament("swiss", 8)) == ((0, 4), (5, 1), (2, 6), (7, 3))
    assert next_round(start_tournament("duplicate", 7)) == ((0, 3), (4, 1), (2, 5), (6, None))


@given(
    seed=st.integers(0, 2**32),
    teams=st.integers(4, 14),
    rounds=st.sampled_from(["auto", "5", "7"]),
    form=st.sampled_from(["swiss", "duplicate"]),
    leaving=st.sampled_from([0.0, 0.5]),
)
def test_teams_never_meet_twice_and_play_each_round(
    seed: int, teams: int, rounds: str, form: Form, leaving: float
) -> None:
    tournament = random_tournament(seed, teams, form, rounds=rounds, leaving=leaving)
    met = [frozenset(match.teams) for match in tournament.matches if not match.is_bye]
    assert len(met) == len(set(met))
    byes = [match.first for match in tournament.matches if match.is_bye]
    assert len(byes) == len(set(byes))
    for number, matches in enumerate(tournament.rounds, 1):
        active = playing_teams(rewind_to_round(tournament, number))
        assert sorted(team for match in matches for team in match.teams) == active
        assert sum(match.is_bye for match in matches) == len(active) % 2
    assert len(tournament.rounds) == rounds_in_all(tournament) or not any(
        can_pair_new_opponents(tournament, remaining)
        for remaining in (
            [team for team in playing_teams(tournament) if team != bye_team]
            for bye_team in [*find_possible_byes(tournament)]
        )
    )


def find_possible_byes(tournament: Tournament) -> list[int | None]:
    """Return the teams that can get a bye; [None] if an even number plays, so no team gets one."""
    if len(playing_teams(tournament)) % 2 == 0:
        return [None]
    return [
        team for team in playing_teams(tournament) if not any(match.is_bye for match in tournament.matches_of(team))
    ]


def can_pair_new_opponents(tournament: Tournament, teams: list[int]) -> bool:
    """Try all pairs of teams that have not met."""
    if not teams:
        return len(playing_teams(tournament)) > 1
    met = {frozenset(match.teams) for match in tournament.matches}
    return any(
        frozenset((teams[0], other)) not in met
        and can_pair_new_opponents(tournament, [team for team in teams[1:] if team != other])
        for other in teams[1:]
    )


@given(seed=st.integers(0, 2**32), teams=st.integers(8, 20))
def test_first_seats_are_balanced(seed: int, teams: int) -> None:
    """No team has the same seat three times in a row, and its numbers of both seats differ by at most two.

    The last round does not count for its leaders and their opponents.
    """
    random = Random(seed)
    tournament = play_tournament(start_tournament("swiss", teams), random_player(random))
    assert len(tournament.rounds) == rounds_in_all(tournament)
    last = rewind_to_round(tournament, len(tournament.rounds))
    leaders = [team for team, record in enumerate(records_of(last)) if record.score * 2 > len(tournament.rounds) - 1]
    excused = {team for match in tournament.rounds[-1] if set(match.teams) & set(leaders) for team in match.teams}
    for team, record in enumerate(records_of(tournament)):
        colours = record.colours if team not in excused else record.colours[:-1]
        assert abs(colours.count("white") - colours.count("black")) <= 2
        assert not any(colours[index] == colours[index + 1] == colours[index + 2] for index in range(len(colours) - 2))


@pytest.mark.parametrize("teams", [33, long(64)])
def test_large_field_is_paired(teams: int) -> None:
    tournament = random_tournament(teams, teams, leaving=0.5)
    assert len(tournament.rounds) == rounds_in_all(tournament) == 6


@pytest.mark.long
def test_pairs_do_not_depend_on_the_process() -> None:
    program = (
        "from tests.bot.features.tournaments.test_swiss import random_tournament\n"
        "for seed in range(4):\n"
        "    tournament = random_tournament(seed, 9 + seed, leaving=0.2)\n"
        "    print([(one.first, one.second) for one in tournament.matches])\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().count("\n") == 4


def test_withdrawn_teams_are_not_paired() -> None:
    tournament = start_tournament("swiss", 8)
    tournament = play_round(add_round(tournament, *next_round(tournament) or ()))
    tournament = add_entries(tournament, Leave(0), Leave(7))
    pairs = next_round(tournament)
    assert pairs is not None
    assert sorted(team for pair in pairs for team in pair if team is not None) == [1, 2, 3, 4, 5, 6]


def test_tournament_ends_if_no_new_opponents_are_left() -> None:
    tournament = add_round(start_tournament("swiss", 4), (0, 2), (3, 1))
    tournament = play_round(tournament)
    assert next_round(add_entries(tournament, Leave(1), Leave(3))) is None
    assert next_round(add_entries(tournament, Leave(1), Leave(2))) == ((3, 0),)
    assert next_round(add_entries(tournament, Leave(1), Leave(2), Leave(3))) is None


def test_tournament_ends_when_all_have_had_a_bye() -> None:
    tournament = play_round(add_round(start_tournament("swiss", 5, rounds="5"), (0, 2), (3, 1), (4, None)))
    tournament = play_round(add_round(tournament, (0, 1), (4, 2), (3, None)))
    tournament = add_entries(tournament, Leave(1), Leave(2))
    # Three teams remain, and 3 and 4 have had a bye. 0 gets one, and then all have.
    assert next_round(tournament) in (((3, 4), (0, None)), ((4, 3), (0, None)))
    tournament = play_round(add_round(tournament, (3, 4), (0, None)))
    assert next_round(tournament) is None


def test_forfeit_win_bars_a_bye_while_others_can_take_it() -> None:
    tournament = add_round(start_tournament("swiss", 5), (0, 2), (3, 1), (4, None))
    tournament = add_result(tournament, tournament.match(1, 0), 31, 10)
    tournament = add_result(tournament, tournament.match(1, 1), 0, 0, ending="forfeit", winner=0)
    assert records_of(tournament)[3].forfeit_wins == 1
    pairs = next_round(add_entries(tournament, Leave(0)))
    assert pairs is not None
    assert None not in [opponent for _team, opponent in pairs]
    pairs = next_round(add_entries(tournament, Leave(0), Leave(1)))
    assert pairs is not None
    assert [team for team, opponent in pairs if opponent is None] == [2]
    # 1 and 4 have had a bye. So 3 gets one when only these three remain, despite its forfeit win.
    tournament = add_round(tournament, (3, 2), (0, 4), (1, None))
    tournament = add_result(add_result(tournament, tournament.match(2, 0), 31, 10), tournament.match(2, 1), 31, 10)
    tournament = add_entries(tournament, Leave(0), Leave(2))
    assert next_round(tournament) in (((1, 4), (3, None)), ((4, 1), (3, None)))


def test_records_list_scores_seats_floats_and_opponents() -> None:
    tournament = add_round(start_tournament("swiss", 7), (0, 3), (4, 1), (2, 5), (6, None))
    tournament = add_result(tournament, tournament.match(1, 0), 31, 10)
    tournament = add_result(tournament, tournament.match(1, 1), 31, 10, ending="timeout", winner=0)
    tournament = add_result(tournament, tournament.match(1, 2), 0, 0, ending="void")
    tournament = add_round(tournament, (0, 5), (6, 4), (3, 1), (2, None))
    tournament = add_result(tournament, tournament.match(2, 0), 31, 10)
    tournament = add_result(tournament, tournament.match(2, 1), 10, 31)
    tournament = add_result(tournament, tournament.match(2, 2), 0, 0, ending="forfeit", winner=1)
    white, black = ["white"], ["black"]
    assert records_of(tournament) == [
        TeamRecord(Fraction(2), [*white, *white], ["none", "down"], {3, 5}),
        TeamRecord(Fraction(1), black, ["none", "down"], {4, 3}, forfeit_wins=1),
        TeamRecord(Fraction(1), [], ["none", "down"], {5}, byes=1),
        TeamRecord(Fraction(0), black, ["none", "none"], {0, 1}),
        TeamRecord(Fraction(2), [*white, *black], ["none", "none"], {1, 6}),
        TeamRecord(Fraction(0), black, ["none", "up"], {2, 0}),
        TeamRecord(Fraction(1), white, ["down", "none"], {4}, byes=1),
    ]


@pytest.mark.parametrize(
    ("own", "other", "first"),
    [
        # Both get the seat they are due.
        ("B", "W", 0),
        ("W", "B", 1),
        # A team without rounds comes after one with rounds.
        ("W", "", 1),
        ("", "W", 0),
        # The stronger claim wins: a seat twice in a row, then one more of a seat, then the last seat.
        ("WW", "W", 1),
        ("W", "WW", 0),
        ("W", "BW", 1),
        ("BW", "W", 0),
        # Twice in a row and two more of a seat are equal claims. The larger difference decides.
        ("WWBW", "BWW", 1),
        ("BWW", "WWBW", 0),
        # The last round in which their seats differed decides.
        ("WWB", "WBW", 0),
        ("WBW", "WWB", 1),
        # The higher ranked team decides.
        ("WB", "BWWB", 0),
        ("BW", "WBBW", 1),
        ("", "", 0),
    ],
)
def test_first_seat_goes_to_the_stronger_claim(own: str, other: str, first: int) -> None:
    def colours(text: str) -> list[str]:
        return [{"W": "white", "B": "black"}[letter] for letter in text]

    records = {0: TeamRecord(colours=colours(own)), 1: TeamRecord(colours=colours(other))}
    assert order_seats(records, 0, 1)[0] == first
    assert order_seats(records, 1, 0)[0] == first


def test_seat_order_ranks_points_before_seed() -> None:
    equal = {0: TeamRecord(colours=["white"]), 3: TeamRecord(colours=["white"])}
    assert order_seats(equal, 0, 3) == (3, 0)
    unequal = {0: TeamRecord(colours=["white"]), 3: TeamRecord(Fraction(1), colours=["white"])}
    assert order_seats(unequal, 0, 3) == (0, 3)
    # Neither has played: an odd seed, counted from 0, gets the second seat.
    assert order_seats({0: TeamRecord(), 3: TeamRecord(Fraction(1))}, 0, 3) == (0, 3)
    assert order_seats({0: TeamRecord(), 2: TeamRecord(Fraction(1))}, 0, 2) == (2, 0)


def test_seat_rules_are_relaxed_before_the_tournament_ends() -> None:
    strict, lenient, _last = RELAXED
    records = {team: TeamRecord(colours=["white", "white"]) for team in range(4)}
    assert not can_be_paired(records, strict, 2, is_last=False)
    assert can_be_paired(records, lenient, 2, is_last=False)
    records[0].score += 2
    # A leader can meet any team in the last round, but the other two still cannot meet.
    assert not can_be_paired(records, strict, 2, is_last=True)
    records[1].score += 2
    assert can_be_paired(records, strict, 2, is_last=True)
