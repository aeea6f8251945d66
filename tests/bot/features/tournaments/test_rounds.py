"""Rounds: their number, and the pairs of knock-outs, round robins and leagues."""

from itertools import combinations
from random import Random

import pytest
from caissify_pairings.engines.round_robin import berger_schedule

from bot.features.tournaments.log_entries import Leave
from bot.features.tournaments.rounds import Pairs, berger, next_round, rounds_in_all
from bot.features.tournaments.tournament import Form, Tournament
from tests.bot.features.tournaments.logs import (
    add_entries,
    add_result,
    add_round,
    play_by_seed,
    play_round,
    play_tournament,
    playing_teams,
    random_player,
    start_tournament,
)

# FIDE handbook, C.05 annex 1: tables for 3-4, 5-6 and 7-8 teams.
BERGER = {
    4: ["1-4 2-3", "4-3 1-2", "2-4 3-1"],
    6: ["1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1"],
    8: [
        "1-8 2-7 3-6 4-5",
        "8-5 6-4 7-3 1-2",
        "2-8 3-1 4-7 5-6",
        "8-6 7-5 1-4 2-3",
        "3-8 4-2 5-1 6-7",
        "8-7 1-6 2-5 3-4",
        "4-8 5-3 6-2 7-1",
    ],
}

# A bracket of 16 from top to bottom.
SIXTEEN = [(0, 15), (7, 8), (3, 12), (4, 11), (1, 14), (6, 9), (2, 13), (5, 10)]


def list_pairs(tournament: Tournament) -> list[Pairs]:
    return [tuple((match.first, match.second) for match in matches) for matches in tournament.rounds]


@pytest.mark.parametrize("teams", [3, 4, 5, 6, 7, 8])
def test_round_robin_follows_berger_tables(teams: int) -> None:
    table = [
        [tuple(int(seed) - 1 for seed in pair.split("-")) for pair in line.split()]
        for line in BERGER[teams + teams % 2]
    ]
    for ours, theirs in zip(berger(teams), table, strict=True):
        played_pairs = [pair for pair in theirs if teams not in pair]
        byes = [(sum(pair) - teams, None) for pair in theirs if teams in pair]
        assert list(ours) == played_pairs + byes


@pytest.mark.parametrize("teams", range(3, 33))
def test_berger_tables_match_caissify(teams: int) -> None:
    reference_pairs = [
        sorted((first - 1, second - 1) for first, second in pairs) for pairs in berger_schedule(teams + teams % 2)
    ]
    own_pairs = [
        sorted((first, teams) if second is None else (first, second) for first, second in matches)
        for matches in berger(teams)
    ]
    if teams % 2:
        # The seats of a bye do not matter.
        reference_pairs = [
            sorted((sum(pair) - teams, teams) if teams in pair else pair for pair in pairs) for pairs in reference_pairs
        ]
    assert own_pairs == reference_pairs


@pytest.mark.parametrize("teams", range(3, 33))
def test_round_robin_pairs_all_once_with_even_seats(teams: int) -> None:
    rounds = berger(teams)
    met = [frozenset(pair) for matches in rounds for pair in matches if None not in pair]
    assert len(met) == len(set(met)) == teams * (teams - 1) // 2
    for matches in rounds:
        assert sorted(team for pair in matches for team in pair if team is not None) == list(range(teams))
    for team in range(teams):
        first = sum(pair[0] == team for matches in rounds for pair in matches if pair[1] is not None)
        assert abs(first - (teams - 1 - first)) <= 1


def test_round_robin_continues_after_a_withdrawal() -> None:
    tournament = play_tournament(
        start_tournament("roundrobin", 5), play_by_seed, lambda tournament: [4] if len(tournament.rounds) == 2 else []
    )
    assert list_pairs(tournament) == list(berger(5))
    assert [match.results[0].ending for match in tournament.matches_of(4) if not match.is_bye] == [
        "played",
        "forfeit",
        "forfeit",
        "forfeit",
    ]
    assert [match.winner == 4 for match in tournament.matches_of(4)[1:]] == [False] * 4


@pytest.mark.parametrize("teams", [3, 4, 9, 32])
def test_league_opens_all_matches_at_once(teams: int) -> None:
    tournament = start_tournament("league", teams)
    pairs = next_round(tournament)
    assert pairs is not None
    assert {frozenset(pair) for pair in pairs} == {frozenset(pair) for pair in combinations(range(teams), 2)}
    assert len(pairs) == teams * (teams - 1) // 2
    assert rounds_in_all(tournament) == 1
    assert next_round(play_round(add_round(tournament, *pairs))) is None


def test_bracket_keeps_top_seeds_apart() -> None:
    assert next_round(start_tournament("knockout", 16)) == tuple(SIXTEEN)
    tournament = play_tournament(start_tournament("knockout", 16))
    assert list_pairs(tournament)[1:] == [((0, 7), (3, 4), (1, 6), (2, 5)), ((0, 3), (1, 2)), ((0, 1),)]


@pytest.mark.parametrize("teams", range(2, 65))
def test_bracket_gives_byes_to_top_seeds_and_leaves_one(teams: int) -> None:
    tournament = play_tournament(start_tournament("knockout", teams))
    rounds = list_pairs(tournament)
    assert len(rounds) == rounds_in_all(tournament) == (teams - 1).bit_length()
    byes = sorted(team for team, opponent in rounds[0] if opponent is None)
    assert byes == list(range(2 ** len(rounds) - teams))
    assert all(None not in pair for matches in rounds[1:] for pair in matches)
    assert sum(None not in pair for matches in rounds for pair in matches) == teams - 1
    # The better seed always wins, so the best teams remain after each round.
    for number, matches in enumerate(rounds[1:], 1):
        assert sorted(team for pair in matches for team in pair if team is not None) == list(
            range(2 ** (len(rounds) - number))
        )


@pytest.mark.parametrize("seed", range(60))
def test_eliminated_team_never_returns(seed: int) -> None:
    random = Random(seed)

    def leavers(tournament: Tournament) -> list[int]:
        return (
            [random.choice(playing_teams(tournament))]
            if random.random() < 0.3 and len(playing_teams(tournament)) > 1
            else []
        )

    tournament = play_tournament(
        start_tournament("knockout", random.randint(2, 40)),
        random_player(random, ("played", "resign", "void")),
        leavers,
    )
    eliminated: set[int] = set()
    for matches in tournament.rounds:
        paired_teams = [team for match in matches for team in match.teams]
        assert len(paired_teams) == len(set(paired_teams))
        assert not eliminated.intersection(paired_teams)
        assert any(not match.is_bye for match in matches)
        eliminated |= {team for match in matches if not match.is_bye for team in match.teams if match.winner != team}


def test_withdrawal_between_rounds_gives_a_bye() -> None:
    tournament = play_round(
        add_round(start_tournament("knockout", 8), *next_round(start_tournament("knockout", 8)) or ())
    )
    assert next_round(tournament) == ((0, 3), (1, 2))
    assert next_round(add_entries(tournament, Leave(3))) == ((0, None), (1, 2))
    # The lower half is empty, so the two teams of the upper half play the final.
    assert next_round(add_entries(tournament, Leave(1), Leave(2))) == ((0, 3),)
    # One team remains in each half, so the semi-finals are skipped.
    assert next_round(add_entries(tournament, Leave(3), Leave(2))) == ((0, 1),)
    assert next_round(add_entries(tournament, Leave(3), Leave(2), Leave(1))) is None


def test_void_match_advances_neither_team() -> None:
    tournament = start_tournament("knockout", 4)
    tournament = add_round(tournament, (0, 3), (1, 2))
    tournament = add_result(tournament, tournament.match(1, 0), 0, 0, ending="void")
    tournament = add_result(tournament, tournament.match(1, 1), 31, 12)
    assert next_round(tournament) is None
    tournament = add_round(start_tournament("knockout", 8), *next_round(start_tournament("knockout", 8)) or ())
    tournament = add_result(tournament, tournament.match(1, 0), 0, 0, ending="void")
    for number in (1, 2, 3):
        tournament = play_by_seed(tournament, tournament.match(1, number))
    assert next_round(tournament) == ((3, None), (1, 2))


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
def test_number_of_rounds_fits_form_and_teams(form: Form, teams: int, rounds: str, count: int) -> None:
    assert rounds_in_all(start_tournament(form, teams, rounds=rounds)) == count
