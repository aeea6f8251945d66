"""Dutch pairings compared with the sieve, which tries every pairing criterion by criterion."""

from fractions import Fraction
from itertools import combinations
from random import Random

import pytest

from bot.features.tournaments.log_entries import Leave
from bot.features.tournaments.rounds import next_round, rounds_in_all
from bot.features.tournaments.swiss import RELAXED, can_be_paired, possible_pairs, records_of
from bot.features.tournaments.swiss_pairing import NOBODY, pair_round
from bot.features.tournaments.team_record import TeamRecord
from bot.features.tournaments.tournament import Form, Tournament
from tests.bot.features.tournaments.logs import (
    MIXED_ENDINGS,
    add_entries,
    add_result,
    add_round,
    play_round,
    playing_teams,
    random_player,
    start_tournament,
)
from tests.bot.features.tournaments.sieve import Pairing, explain, normalize_pairing, sieve
from tests.long import long, mostly_long


def make_teams(*scores: int) -> dict[int, TeamRecord]:
    """Return teams that differ only in their scores."""
    return {team: TeamRecord(score=Fraction(score)) for team, score in enumerate(scores)}


def sieve_next_round(tournament: Tournament, rounds: int) -> tuple[dict[int, TeamRecord], Pairing]:
    """Return the teams' records and the sieve's next pairing."""
    records = {team: record for team, record in enumerate(records_of(tournament)) if not tournament.has_withdrawn(team)}
    rounds_played, is_last = len(tournament.rounds), len(tournament.rounds) + 1 >= rounds
    demands = next(demand for demand in RELAXED if can_be_paired(records, demand, rounds_played, is_last=is_last))
    pairing = sieve(records, possible_pairs(records, demands, rounds_played, is_last=is_last))
    assert pairing
    return records, pairing


@pytest.mark.long
@pytest.mark.parametrize(("count", "most_teams"), [(12, 8), long(150, 8), long(25, 10)])
@pytest.mark.parametrize("leaving", [0.0, 0.3], ids=["all stay", "some leave"])
@pytest.mark.parametrize("form", mostly_long(["swiss", "duplicate"], "duplicate"))
def test_each_round_matches_the_sieve(form: Form, leaving: float, count: int, most_teams: int) -> None:
    for seed in range(count):
        random = Random(seed)
        tournament = start_tournament(form, random.randint(4, most_teams), rounds=random.choice(("auto", "5", "7")))
        while (pairs := next_round(tournament)) is not None:
            records, best = sieve_next_round(tournament, rounds_in_all(tournament))
            assert normalize_pairing(records, pairs) == best, explain(records, best, normalize_pairing(records, pairs))
            tournament = add_round(tournament, *pairs)
            if random.random() < leaving and len(playing_teams(tournament)) > 3:
                tournament = add_entries(tournament, Leave(random.choice(playing_teams(tournament))))
            tournament = play_round(tournament, random_player(random, MIXED_ENDINGS))


FIVE_ROUNDS = ["0+3 4+1 6+2 7-5", "0+2 1+7 5-3 4-6", "4-0 2-1 3+7 6+5", "0-1 7-2 6+3 5+4", "6+0 1-5 3+2 4+7"]
"""Five rounds of eight teams. The team in the first seat comes first; a + means that it won, a - that it lost."""


def test_pairing_with_one_floater_beats_one_with_three() -> None:
    """Two pairings of round 6 remain. In the rejected one, which caissify-pairings 0.5.0 chose, 0, 3 and 5 float."""
    tournament = start_tournament("swiss", 8, rounds="7")
    for matches in FIVE_ROUNDS:
        tournament = add_round(tournament, *((int(match[0]), int(match[2])) for match in matches.split()))
        for match, text in zip(tournament.rounds[-1], matches.split(), strict=True):
            tournament = add_result(tournament, match, *((31, 10) if text[1] == "+" else (10, 31)))
    records = dict(enumerate(records_of(tournament)))
    assert [record.score for record in records.values()] == [3, 3, 1, 3, 2, 3, 5, 0]
    pairs = next_round(tournament)
    assert pairs
    chosen_pairing, rejected = normalize_pairing(records, pairs), ((0, 7), (3, 4), (5, 2), (6, 1))
    assert chosen_pairing == ((0, 5), (1, 3), (4, 2), (6, 7))
    assert explain(records, chosen_pairing, rejected) == "C8"


def test_bye_goes_to_the_lowest_score() -> None:
    """C5 comes before C6. Teams 2 and 3 have met, so the top pair is split to keep the bye below them."""
    records = make_teams(2, 2, 1, 1, 0)
    edges = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 4), (2, NOBODY), (3, NOBODY), (4, NOBODY)]
    assert sorted(pair_round(records, edges)) == [(0, 2), (1, 3), (4, NOBODY)]
    assert sorted(pair_round(records, [*edges, (2, 3)])) == [(0, 1), (2, 3), (4, NOBODY)]


def test_bye_goes_to_a_team_that_has_played_most() -> None:
    """C9 among teams of the lowest score. Article 4 alone would give the bye to the last team."""
    records = make_teams(1, 1, 0, 0, 0)
    edges = [(0, 1), (2, 3), (2, 4), (3, 4), *((team, NOBODY) for team in (2, 3, 4))]
    assert (4, NOBODY) in pair_round(records, edges)
    for team, record in records.items():
        record.floats = ["none"]
        record.colours = ["white"] if team == 2 else []
    assert (2, NOBODY) in pair_round(records, edges)


def test_floaters_are_chosen_to_pair_the_next_bracket() -> None:
    """C8: team 1 floats, so all lower teams meet equals. Article 4 alone would let team 2 float."""
    records = make_teams(2, 2, 2, 1, 1, 1, 0, 0)
    edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (6, 7), (2, 6), (5, 7)]
    assert sorted(pair_round(records, edges)) == [(0, 1), (2, 6), (3, 4), (5, 7)]
    assert sorted(pair_round(records, [*edges, (1, 3)])) == [(0, 2), (1, 3), (4, 5), (6, 7)]


def test_exchanges_and_their_transpositions_go_by_rank() -> None:
    """Articles 4.3.4 and 4.2: the highest team moves up from S2, then gets the highest opponent."""
    edges = [(0, 3), (1, 4), (2, 6), (5, 7), (8, 9), (2, 5), (6, 8), (7, 9)]
    assert sorted(pair_round(make_teams(*[0] * 10), edges)) == [(0, 3), (1, 4), (2, 6), (5, 7), (8, 9)]
    edges = [(0, 2), (1, 3), (4, 6), (5, 7), (4, 7), (5, 6)]
    assert sorted(pair_round(make_teams(*[0] * 8), edges)) == [(0, 2), (1, 3), (4, 6), (5, 7)]


@pytest.mark.parametrize("count", [120, long(600), long(6000)])
def test_random_teams_are_paired_like_the_sieve(count: int) -> None:
    """Teams have random histories and few forbidden opponents, so every criterion decides at times."""
    random, done = Random(1), 0
    while done < count:
        records = {team: make_random_record(random) for team in range(random.randint(4, 8))}
        done += check_random_pairing(records, random, 0.7)


@pytest.mark.parametrize("count", [60, long(300), long(3000)])
def test_one_score_group_is_paired_like_the_sieve(count: int) -> None:
    """Teams differ only in past opponents, so exchanges decide."""
    random, done = Random(2), 0
    while done < count:
        done += check_random_pairing(make_teams(*[0] * random.randint(7, 12)), random, 0.35)


def check_random_pairing(records: dict[int, TeamRecord], random: Random, probability: float) -> bool:
    """Check a random set of allowed pairs against the sieve. Return False if no complete pairing exists."""
    edges = [pair for pair in combinations(records, 2) if random.random() < probability]
    if len(records) % 2:
        edges += [(team, NOBODY) for team in records if random.random() < probability]
    best = sieve(records, edges)
    if best is None:
        return False
    pairing = tuple(sorted(pair_round(records, edges)))
    assert pairing == best, (explain(records, best, pairing), records, edges)
    return True


def make_random_record(random: Random) -> TeamRecord:
    rounds = random.randint(2, 4)
    return TeamRecord(
        score=Fraction(random.randint(0, 3)),
        colours=random.choices(["white", "black"], k=random.randint(0, rounds)),
        floats=random.choices(["up", "down", "none"], k=rounds),
    )
