"""Rounds by the Dutch system: what holds of every one of them, whatever happens."""

import subprocess
import sys
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.tournaments.entries import Leave
from bot.features.tournaments.pairing import next_round, rounds_in_all
from bot.features.tournaments.played import Record, order_seats
from bot.features.tournaments.swiss import RELAXED, can_be_paired, records_of
from bot.features.tournaments.tournament import Form, Tournament
from tests.bot.features.tournaments.logs import (
    MIXED,
    at_random,
    begun,
    paired,
    played_out,
    played_round,
    playing_teams,
    scored,
    with_entries,
)
from tests.long import long


def whole(seed: int, teams: int, form: Form = "swiss", *, rounds: str = "auto", leaving: float = 0.0) -> Tournament:
    """A tournament in which anything may happen."""
    random = Random(seed)

    def leavers(t: Tournament) -> list[int]:
        return [random.choice(playing_teams(t))] if random.random() < leaving and len(playing_teams(t)) > 2 else []

    return played_out(begun(form, teams, rounds=rounds), at_random(random, MIXED), leavers)


def before(t: Tournament, number: int) -> Tournament:
    """A tournament as it was before a round was paired: who has withdrawn since is in again."""
    early = Tournament(t.code)
    for entry in t.entries:
        after = early.after([entry])
        if len(after.rounds) == number:
            return early
        early = after
    return t


def test_first_round_pairs_upper_half_with_lower_half() -> None:
    assert next_round(begun("swiss", 8)) == ((0, 4), (5, 1), (2, 6), (7, 3))
    assert next_round(begun("duplicate", 7)) == ((0, 3), (4, 1), (2, 5), (6, None))


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
    t = whole(seed, teams, form, rounds=rounds, leaving=leaving)
    met = [frozenset(match.teams) for match in t.matches if not match.is_bye]
    assert len(met) == len(set(met))
    byes = [match.first for match in t.matches if match.is_bye]
    assert len(byes) == len(set(byes))
    for number, matches in enumerate(t.rounds, 1):
        active = playing_teams(before(t, number))
        assert sorted(team for match in matches for team in match.teams) == active
        assert sum(match.is_bye for match in matches) == len(active) % 2
    assert len(t.rounds) == rounds_in_all(t) or not any(
        all_new(t, left) for left in ([team for team in playing_teams(t) if team != out] for out in [*sitters(t)])
    )


def sitters(t: Tournament) -> list[int | None]:
    """Who may sit out: nobody where all can be paired."""
    if len(playing_teams(t)) % 2 == 0:
        return [None]
    return [team for team in playing_teams(t) if not any(match.is_bye for match in t.matches_of(team))]


def all_new(t: Tournament, teams: list[int]) -> bool:
    """Whether teams can be put in pairs that have not met, which is tried one by one."""
    if not teams:
        return len(playing_teams(t)) > 1
    met = {frozenset(match.teams) for match in t.matches}
    return any(
        frozenset((teams[0], other)) not in met and all_new(t, [one for one in teams[1:] if one != other])
        for other in teams[1:]
    )


@given(seed=st.integers(0, 2**32), teams=st.integers(8, 20))
def test_first_seats_are_balanced(seed: int, teams: int) -> None:
    """Nobody has a seat three times in a row or three times more than the other; but for who leads in the last round,
    and whom they meet.
    """
    random = Random(seed)
    t = played_out(begun("swiss", teams), at_random(random))
    assert len(t.rounds) == rounds_in_all(t)
    last = before(t, len(t.rounds))
    leaders = [team for team, record in enumerate(records_of(last)) if record.score * 2 > len(t.rounds) - 1]
    excused = {team for match in t.rounds[-1] if set(match.teams) & set(leaders) for team in match.teams}
    for team, record in enumerate(records_of(t)):
        colours = record.colours if team not in excused else record.colours[:-1]
        assert abs(colours.count("white") - colours.count("black")) <= 2
        assert not any(colours[at] == colours[at + 1] == colours[at + 2] for at in range(len(colours) - 2))


@pytest.mark.parametrize("teams", [33, long(64)])
def test_large_field_is_paired(teams: int) -> None:
    t = whole(teams, teams, leaving=0.5)
    assert len(t.rounds) == rounds_in_all(t) == 6


def test_pairs_do_not_depend_on_the_process() -> None:
    program = (
        "from tests.bot.features.tournaments.test_swiss import whole\n"
        "for seed in range(4):\n"
        "    t = whole(seed, 9 + seed, leaving=0.2)\n"
        "    print([(one.first, one.second) for one in t.matches])\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert told.pop().count("\n") == 4


def test_withdrawn_teams_are_not_paired() -> None:
    t = begun("swiss", 8)
    t = played_round(paired(t, *next_round(t) or ()))
    t = with_entries(t, Leave(0), Leave(7))
    pairs = next_round(t)
    assert pairs is not None
    assert sorted(team for pair in pairs for team in pair if team is not None) == [1, 2, 3, 4, 5, 6]


def test_tournament_ends_without_new_opponents() -> None:
    t = paired(begun("swiss", 4), (0, 2), (3, 1))
    t = played_round(t)
    assert next_round(with_entries(t, Leave(1), Leave(3))) is None
    assert next_round(with_entries(t, Leave(1), Leave(2))) == ((3, 0),)
    assert next_round(with_entries(t, Leave(1), Leave(2), Leave(3))) is None


def test_tournament_ends_when_all_have_had_a_bye() -> None:
    t = played_round(paired(begun("swiss", 5, rounds="5"), (0, 2), (3, 1), (4, None)))
    t = played_round(paired(t, (0, 1), (4, 2), (3, None)))
    t = with_entries(t, Leave(1), Leave(2))
    # Of the three that are left 3 and 4 have had a bye, so that 0 has one; and then all have.
    assert next_round(t) in (((3, 4), (0, None)), ((4, 3), (0, None)))
    t = played_round(paired(t, (3, 4), (0, None)))
    assert next_round(t) is None


def test_forfeit_win_bars_a_bye_while_others_can_take_it() -> None:
    t = paired(begun("swiss", 5), (0, 2), (3, 1), (4, None))
    t = scored(t, t.match(1, 0), 31, 10)
    t = scored(t, t.match(1, 1), 0, 0, how="forfeit", winner=0)
    assert records_of(t)[3].forfeit_wins == 1
    pairs = next_round(with_entries(t, Leave(0)))
    assert pairs is not None
    assert None not in [other for _one, other in pairs]
    pairs = next_round(with_entries(t, Leave(0), Leave(1)))
    assert pairs is not None
    assert [one for one, other in pairs if other is None] == [2]
    # 4 has had a bye, and so 3 has one where only they and 2, who met 3 meanwhile, are left.
    t = paired(t, (3, 2), (0, 4), (1, None))
    t = scored(scored(t, t.match(2, 0), 31, 10), t.match(2, 1), 31, 10)
    t = with_entries(t, Leave(0), Leave(2))
    assert next_round(t) in (((1, 4), (3, None)), ((4, 1), (3, None)))


def test_records_list_scores_seats_floats_and_opponents() -> None:
    t = paired(begun("swiss", 7), (0, 3), (4, 1), (2, 5), (6, None))
    t = scored(t, t.match(1, 0), 31, 10)
    t = scored(t, t.match(1, 1), 31, 10, how="timeout", winner=0)
    t = scored(t, t.match(1, 2), 0, 0, how="void")
    t = paired(t, (0, 5), (6, 4), (3, 1), (2, None))
    t = scored(t, t.match(2, 0), 31, 10)
    t = scored(t, t.match(2, 1), 10, 31)
    t = scored(t, t.match(2, 2), 0, 0, how="forfeit", winner=1)
    white, black = ["white"], ["black"]
    assert records_of(t) == [
        Record(Fraction(2), [*white, *white], ["none", "down"], {3, 5}),
        Record(Fraction(1), black, ["none", "down"], {4, 3}, forfeit_wins=1),
        Record(Fraction(1), [], ["none", "down"], {5}, byes=1),
        Record(Fraction(0), black, ["none", "none"], {0, 1}),
        Record(Fraction(2), [*white, *black], ["none", "none"], {1, 6}),
        Record(Fraction(0), black, ["none", "up"], {2, 0}),
        Record(Fraction(1), white, ["down", "none"], {4}, byes=1),
    ]


@pytest.mark.parametrize(
    ("one", "other", "first"),
    [
        # Both have what they ought to.
        ("B", "W", 0),
        ("W", "B", 1),
        # Who has played before who has not.
        ("W", "", 1),
        ("", "W", 0),
        # The stronger claim: two in a row, one more, the last.
        ("WW", "W", 1),
        ("W", "WW", 0),
        ("W", "BW", 1),
        ("BW", "W", 0),
        # Two in a row, or two more, are claims alike, but two more is wider.
        ("WWBW", "BWW", 1),
        ("BWW", "WWBW", 0),
        # The last round in which one had another seat than the other.
        ("WWB", "WBW", 0),
        ("WBW", "WWB", 1),
        # Who is ranked higher.
        ("WB", "BWWB", 0),
        ("BW", "WBBW", 1),
        ("", "", 0),
    ],
)
def test_first_seat_goes_to_the_stronger_claim(one: str, other: str, first: int) -> None:
    def colours(text: str) -> list[str]:
        return [{"W": "white", "B": "black"}[letter] for letter in text]

    records = {0: Record(colours=colours(one)), 1: Record(colours=colours(other))}
    assert order_seats(records, 0, 1)[0] == first
    assert order_seats(records, 1, 0)[0] == first


def test_seat_order_ranks_points_before_seed() -> None:
    level = {0: Record(colours=["white"]), 3: Record(colours=["white"])}
    assert order_seats(level, 0, 3) == (3, 0)
    ahead = {0: Record(colours=["white"]), 3: Record(Fraction(1), colours=["white"])}
    assert order_seats(ahead, 0, 3) == (0, 3)
    # Nobody has played yet: an odd seed, counted from 0, has the second seat.
    assert order_seats({0: Record(), 3: Record(Fraction(1))}, 0, 3) == (0, 3)
    assert order_seats({0: Record(), 2: Record(Fraction(1))}, 0, 2) == (2, 0)


def test_seat_rules_are_relaxed_before_the_tournament_ends() -> None:
    strict, lenient, _last = RELAXED
    records = {team: Record(colours=["white", "white"]) for team in range(4)}
    assert not can_be_paired(records, strict, 2, is_last=False)
    assert can_be_paired(records, lenient, 2, is_last=False)
    records[0].score += 2
    # Who leads may meet anybody in the last round, and the two others still may not meet.
    assert not can_be_paired(records, strict, 2, is_last=True)
    records[1].score += 2
    assert can_be_paired(records, strict, 2, is_last=True)
