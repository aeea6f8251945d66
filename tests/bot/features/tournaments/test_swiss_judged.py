"""Swiss rounds compared with py4swiss, which has the rules before February 2026.

The current rules differ in two ways that change pairs. A bye goes to as low a score as possible before other criteria
count (C5). And score groups no longer collapse. Before, all groups below a bracket were paired together if that bracket
left floaters without opponents. Each round that differs must be explained by one of the two. Our pairing must also be
better by a current criterion, checked on both pairings.

Rounds after a void match are not judged. A team without points from it was a floater under the old rules only (1.4).
"""

from collections import Counter
from random import Random

import pytest

from bot.features.tournaments.log_entries import Ending, Leave
from bot.features.tournaments.rounds import Pairs, next_round, rounds_in_all
from bot.features.tournaments.swiss import records_of
from bot.features.tournaments.tournament import Form, Tournament
from tests.bot.features.tournaments.judge import Judgement, ask_judge
from tests.bot.features.tournaments.logs import (
    add_entries,
    add_round,
    play_round,
    playing_teams,
    random_player,
    start_tournament,
)
from tests.bot.features.tournaments.sieve import explain, normalize_pairing
from tests.long import long, mostly_long

ENDINGS: tuple[Ending, ...] = ("played", "resign", "timeout")


def judge_round(tournament: Tournament, pairs: Pairs, judgement: Judgement) -> str:
    """Return why a round is not paired like the judge's, or "same"."""
    if judgement.pairs is None:
        return "no pairs by the judge's rules"
    if set(pairs) == set(judgement.pairs):
        return "same"
    records = {team: record for team, record in enumerate(records_of(tournament)) if not tournament.has_withdrawn(team)}
    better = explain(records, normalize_pairing(records, pairs), normalize_pairing(records, judgement.pairs))
    assert better, (tournament.entries, pairs, judgement.pairs)
    assert better == "C5" or judgement.has_collapsed, (better, tournament.entries, pairs, judgement.pairs)
    return better


def count_verdicts(form: Form, seed: int, *, leaving: float) -> Counter[str]:
    """Count the verdicts in a random tournament."""
    random = Random(seed)
    tournament = start_tournament(form, random.randint(4, 20), rounds=random.choice(("auto", "5", "7")))
    counts: Counter[str] = Counter()
    while (pairs := next_round(tournament)) is not None:
        counts[judge_round(tournament, pairs, ask_judge(tournament, rounds_in_all(tournament)))] += 1
        tournament = add_round(tournament, *pairs)
        if random.random() < leaving and len(playing_teams(tournament)) > 3:
            tournament = add_entries(tournament, Leave(random.choice(playing_teams(tournament))))
        tournament = play_round(tournament, random_player(random, ENDINGS))
    if len(tournament.rounds) < rounds_in_all(tournament):
        assert ask_judge(tournament, rounds_in_all(tournament)).pairs is None
    return counts


@pytest.mark.long
@pytest.mark.parametrize("count", [18, long(300)])
@pytest.mark.parametrize("leaving", [long(0.0), 0.3], ids=["all stay", "some leave"])
@pytest.mark.parametrize("form", mostly_long(["swiss", "duplicate"], "swiss"))
def test_rounds_differ_from_py4swiss_only_by_new_rules(form: Form, leaving: float, count: int) -> None:
    counts = sum((count_verdicts(form, seed, leaving=leaving) for seed in range(count)), Counter[str]())
    rounds = counts.total()
    assert rounds > 4 * count
    assert counts["same"] > 0.95 * rounds
    # In small fields the judge runs out of pairs. Ours then relaxes seats.
    assert counts["no pairs by the judge's rules"] < 0.015 * rounds
