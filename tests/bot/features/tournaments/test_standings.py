"""Standings and tie-breaks."""

from collections import defaultdict
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.features.tournaments.log_entries import Leave, Result, decode
from bot.features.tournaments.rounds import next_round
from bot.features.tournaments.standings import TIE_BREAKS, TeamStanding, standings, winners
from bot.features.tournaments.store import Tournaments
from bot.features.tournaments.tournament import Form, Tournament
from bot.store import Store
from tests.bot.features.tournaments.logs import (
    MIXED_ENDINGS,
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


def find_places(tournament: Tournament) -> dict[int, int]:
    return {line.team: line.rank for line in standings(tournament)}


def find_standing(tournament: Tournament, team: int) -> TeamStanding:
    [line] = [line for line in standings(tournament) if line.team == team]
    return line


def list_figures(line: TeamStanding) -> list[str]:
    return [line.score.value, *(value for _name, value in line.tie_breaks)]


def test_knock_out_ranks_by_rounds_won() -> None:
    tournament = play_tournament(start_tournament("knockout", 8))
    assert [(line.team, line.rank, line.score.value) for line in standings(tournament)] == [
        (0, 1, "3"), (1, 2, "2"), (2, 3, "1"), (3, 3, "1"), (4, 5, "0"), (5, 5, "0"), (6, 5, "0"), (7, 5, "0"),
    ]  # fmt: skip
    assert [line.is_out for line in standings(tournament)] == [False] + [True] * 7
    assert (find_standing(tournament, 1).played, find_standing(tournament, 1).won) == (3, 2)
    assert find_standing(tournament, 0).score.name == "rounds won"


def test_knock_out_bye_advances_a_team() -> None:
    tournament = start_tournament("knockout", 3)
    tournament = add_round(tournament, (0, None), (1, 2))
    assert find_places(tournament) == {0: 1, 1: 2, 2: 2}
    tournament = play_by_seed(tournament, tournament.match(1, 1))
    assert find_places(tournament) == {0: 1, 1: 1, 2: 3}
    assert (
        find_standing(tournament, 0).score.value,
        find_standing(tournament, 0).played,
        find_standing(tournament, 0).won,
    ) == ("1", 0, 0)


def test_remaining_team_ranks_above_an_eliminated_one() -> None:
    tournament = add_round(start_tournament("knockout", 4), (0, 3), (1, 2))
    tournament = add_result(tournament, tournament.match(1, 0), 10, 31)
    assert find_places(tournament) == {3: 1, 1: 2, 2: 2, 0: 4}
    tournament = add_entries(play_by_seed(tournament, tournament.match(1, 1)), Leave(1))
    assert next_round(tournament) is None
    assert find_places(tournament) == {3: 1, 1: 2, 0: 3, 2: 3}
    assert find_standing(tournament, 1).is_out


def test_knock_out_winner_stays_first_after_leaving() -> None:
    tournament = add_entries(play_tournament(start_tournament("knockout", 4)), Leave(0))
    assert find_places(tournament) == {0: 1, 1: 2, 2: 3, 3: 3}


def test_knock_out_without_survivors_has_no_winner() -> None:
    abandoned = add_entries(start_tournament("knockout", 2), Leave(0), Leave(1))
    assert next_round(abandoned) is None
    assert find_places(abandoned) == {0: 1, 1: 1}
    final = add_round(start_tournament("knockout", 2), (0, 1))
    void = add_result(final, final.match(1, 0), 0, 0, ending="void")
    bye = add_entries(add_round(start_tournament("knockout", 3), (0, None), (1, 2)), Leave(0))
    bye = add_result(bye, bye.match(1, 1), 0, 0, ending="void")
    assert winners(abandoned) == winners(void) == winners(bye) == []
    won = play_by_seed(final, final.match(1, 0))
    assert winners(won) == winners(add_entries(won, Leave(0))) == [0]


def test_teams_level_at_the_top_win_together() -> None:
    tournament = play_round(add_round(start_tournament("roundrobin", 4), (0, 2), (1, 3)))
    assert winners(tournament) == [line.team for line in standings(tournament) if line.rank == 1]


def test_void_match_eliminates_both() -> None:
    tournament = add_round(start_tournament("knockout", 4), (0, 3), (1, 2))
    tournament = add_result(tournament, tournament.match(1, 0), 0, 0, ending="void")
    tournament = play_by_seed(tournament, tournament.match(1, 1))
    assert find_places(tournament) == {1: 1, 0: 2, 2: 2, 3: 2}
    assert (
        find_standing(tournament, 0).played,
        find_standing(tournament, 0).won,
        find_standing(tournament, 0).is_out,
    ) == (0, 0, True)


def test_round_robin_breaks_ties_by_direct_encounter() -> None:
    tournament = start_tournament("roundrobin", 4)
    tournament = add_round(tournament, (0, 3), (1, 2), (3, 2), (0, 1), (1, 3), (2, 0))
    results = {(0, 3): (31, 10), (1, 2): (31, 5), (3, 2): (31, 30), (0, 1): (31, 30), (1, 3): (31, 0), (2, 0): (31, 29)}
    for match in tournament.rounds[0]:
        assert match.second is not None
        tournament = add_result(tournament, match, *results[match.first, match.second])
    # 0 and 1 have two wins, and 0 beat 1. 2 and 3 have one, and 3 beat 2.
    assert [(line.team, line.rank, list_figures(line)) for line in standings(tournament)] == [
        (0, 1, ["2", "1", "3", "+20"]),
        (1, 2, ["2", "0", "2", "+56"]),
        (3, 3, ["1", "1", "1", "−51"]),
        (2, 4, ["1", "0", "2", "−25"]),
    ]
    assert [name for name, _value in find_standing(tournament, 0).tie_breaks] == [
        "direct encounter",
        "Sonneborn-Berger",
        "card points",
    ]


def test_fully_level_teams_share_a_place() -> None:
    tournament = add_round(start_tournament("roundrobin", 3), (0, 1), (1, 2), (2, 0))
    for match in tournament.rounds[0]:
        tournament = add_result(tournament, match, 31, 20)
    assert [(line.team, line.rank) for line in standings(tournament)] == [(0, 1), (1, 1), (2, 1)]
    assert [list_figures(line) for line in standings(tournament)] == [["1", "1", "1", "0"]] * 3


def test_bye_scores_a_win_in_swiss_and_0_in_round_robin() -> None:
    scores: dict[Form, str] = {"swiss": "1", "roundrobin": "0"}
    for form, score in scores.items():
        tournament = add_round(start_tournament(form, 5), (0, 3), (1, 2), (4, None))
        assert (
            find_standing(tournament, 4).score.value,
            find_standing(tournament, 4).played,
            find_standing(tournament, 4).won,
        ) == (score, 0, 0)


def test_unplayed_match_counts_like_an_equal_opponent() -> None:
    tournament = add_round(start_tournament("swiss", 5), (0, 3), (1, 2), (4, None))
    tournament = add_result(tournament, tournament.match(1, 0), 31, 10)
    tournament = add_result(tournament, tournament.match(1, 1), 0, 0, ending="forfeit", winner=0)
    tournament = add_round(tournament, (0, 4), (3, 1), (2, None))
    tournament = add_result(tournament, tournament.match(2, 0), 31, 15)
    tournament = add_result(tournament, tournament.match(2, 1), 0, 0, ending="void")
    # wins, Buchholz, Sonneborn-Berger, card points
    assert {line.team: list_figures(line) for line in standings(tournament)} == {
        0: ["2", "1", "1", "+37"],
        4: ["1", "3", "1", "−16"],
        2: ["1", "2", "1", "0"],
        1: ["1", "2", "1", "0"],
        3: ["0", "2", "0", "−21"],
    }
    assert find_places(tournament) == {0: 1, 4: 2, 1: 3, 2: 3, 3: 5}
    assert {line.team: (line.played, line.won) for line in standings(tournament)} == {
        0: (2, 2),
        4: (1, 0),
        2: (1, 0),
        1: (1, 1),
        3: (1, 0),
    }


def test_withdrawn_team_keeps_its_score() -> None:
    tournament = start_tournament("swiss", 4)
    tournament = add_entries(play_round(add_round(tournament, (0, 2), (1, 3))), Leave(0))
    assert [(line.team, line.rank, line.is_out) for line in standings(tournament)] == [
        (0, 1, True), (1, 1, False), (2, 3, False), (3, 3, False),
    ]  # fmt: skip


def test_duplicate_counts_only_finished_rounds() -> None:
    tournament = add_round(start_tournament("duplicate", 4), (0, 2), (1, 3))
    for deal in (1, 2):
        tournament = add_result(tournament, tournament.match(1, 0), 8, 3, deal=deal)
    tournament = add_result(tournament, tournament.match(1, 1), 6, 5, deal=1)
    assert [list_figures(line) for line in standings(tournament)] == [["0.0", "0", "0.0"]] * 4
    assert all((line.played, line.won, line.rank) == (0, 0, 1) for line in standings(tournament))
    tournament = add_result(tournament, tournament.match(1, 1), 4, 7, deal=2)
    # Deal 1: margins 5 and 1 for the first seats, datum 3. Deal 2, seats swapped: -5 and 3, datum -1.
    assert {line.team: list_figures(line) for line in standings(tournament)} == {
        0: ["+6.0", "1", "+6.0"],
        2: ["−6.0", "0", "−6.0"],
        1: ["−6.0", "0", "−6.0"],
        3: ["+6.0", "1", "+6.0"],
    }
    assert find_standing(tournament, 0).score.name == "points"
    assert find_standing(start_tournament("duplicate", 4, scoring="steps"), 0).score == ("steps", "0")


def test_draws_count_as_halves() -> None:
    tournament = add_round(start_tournament("duplicate", 4), (0, 2), (1, 3))
    for match in tournament.rounds[0]:
        for deal in (1, 2):
            tournament = add_result(tournament, match, 5, 5, deal=deal)
    tournament = play_round(add_round(tournament, (0, 1), (2, 3)))
    assert find_standing(tournament, 0).tie_breaks[0].value == "1½"
    assert find_standing(tournament, 1).tie_breaks[0].value == "½"
    assert [line.won for line in standings(tournament)].count(1) == 2


# Comparison with an independent count from the entries


def count_independently(tournament: Tournament) -> dict[int, tuple[Fraction, ...]]:
    """Return each team's ranking values, counted match by match."""
    wins: dict[int, Fraction] = defaultdict(Fraction)
    cards: dict[int, int] = defaultdict(int)
    met: dict[int, list[tuple[int | None, Fraction, bool]]] = defaultdict(list)
    byes: dict[int, int] = defaultdict(int)
    for match in tournament.matches:
        if match.second is None:
            byes[match.first] += 1
            continue
        [(_deal, result)] = match.results.items()
        for side, (team, other) in enumerate(((match.first, match.second), (match.second, match.first))):
            own = Fraction(result.winner == side)
            wins[team] += own
            cards[team] += (result.first_points - result.second_points) * (1 - 2 * side)
            met[team].append((other, own, result.ending in ("forfeit", "void")))
    is_swiss = tournament.form == "swiss"
    score = {team: wins[team] + (byes[team] if is_swiss else 0) for team in range(len(tournament.teams))}
    values: dict[int, tuple[Fraction, ...]] = {}
    for team in range(len(tournament.teams)):
        against = [
            (score[team] if is_swiss and not_played else score[other or 0], own, other)
            for other, own, not_played in met[team]
        ]
        if is_swiss:
            against += [(score[team], Fraction(1), None)] * byes[team]
        berger = sum((points * own for points, own, _other in against), Fraction(0))
        level = sum(
            (own for _points, own, other in against if other is not None and score[other] == score[team]), Fraction(0)
        )
        first = sum((points for points, _own, _other in against), Fraction(0)) if is_swiss else level
        values[team] = (score[team], first, berger, Fraction(cards[team]))
    return values


@given(
    seed=st.integers(0, 2**32),
    teams=st.integers(4, 12),
    form=st.sampled_from(["swiss", "roundrobin", "league"]),
    leaving=st.sampled_from([0.0, 0.4]),
)
def test_standings_match_an_independent_count(seed: int, teams: int, form: Form, leaving: float) -> None:
    random = Random(seed)

    def leavers(tournament: Tournament) -> list[int]:
        return (
            [random.choice(playing_teams(tournament))]
            if random.random() < leaving and len(playing_teams(tournament)) > 2
            else []
        )

    tournament = play_tournament(start_tournament(form, teams), random_player(random, MIXED_ENDINGS), leavers)
    values = count_independently(tournament)
    for line in standings(tournament):
        assert line.rank == 1 + sum(values[other] > values[line.team] for other in values)
        expected = [str(figure) for figure in values[line.team]]
        cards = int(expected[3])
        assert list_figures(line) == [*expected[:3], f"{cards:+}".replace("-", "−") if cards else "0"]
        assert line.is_out == tournament.has_withdrawn(line.team)


async def test_standings_are_cached_until_the_next_result(store: Store) -> None:
    tournaments, tournament = Tournaments(store), add_round(start_tournament("swiss", 4), (0, 2), (1, 3))
    stored = await tournaments.write(
        Tournament(tournament.code), [decode(entry.decode()) for entry in tournament.entries], "u"
    )
    assert isinstance(stored, Tournament)
    before = standings(await tournaments.load(tournament.code))
    assert standings(await tournaments.load(tournament.code)) is before
    result = Result(1, 0, 0, 0, 31, 10, "played")
    await tournaments.commit(tournament.code, "v", lambda _latest: [result])
    after = standings(await tournaments.load(tournament.code))
    assert [line.score.value for line in before] == ["0"] * 4
    assert [line.score.value for line in after] == ["1", "0", "0", "0"]


@pytest.mark.parametrize("form", TIE_BREAKS)
def test_new_tournament_ranks_all_teams_first(form: Form) -> None:
    tournament = start_tournament(form, 6)
    first_standings = standings(tournament)
    assert [(line.team, line.rank) for line in first_standings] == [(team, 1) for team in range(6)]
    assert all(tuple(name for name, _value in line.tie_breaks) == TIE_BREAKS[form] for line in first_standings)
