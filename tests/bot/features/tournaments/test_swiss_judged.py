"""Swiss rounds beside another program: py4swiss, which has the rules as they were until January 2026.

The rules in force differ from those in two ways that change pairs. A bye goes to as low a score as possible before anything
else is looked at (C5). And there is no collapsed score group any more: until January 2026 all groups below a bracket were
paired as one if that bracket left floaters who could not be paired. Each round that differs must be explained by one of
the two, and ours must be better by a criterion of the rules in force, counted on both pairings.

Not judged are rounds after a void match: a team without points from it was a floater, and is not any more (1.4).
"""

from collections import Counter
from random import Random

import pytest

from bot.features.tournaments.entries import How, Leave
from bot.features.tournaments.pairing import Pairs, next_round, rounds_in_all
from bot.features.tournaments.swiss import records_of
from bot.features.tournaments.tournament import Form, Tournament
from tests.bot.features.tournaments.judge import Judgement, judged
from tests.bot.features.tournaments.logs import at_random, begun, paired, played_round, playing_teams, with_entries
from tests.bot.features.tournaments.sieve import explain, ranked
from tests.long import long, mostly_long

HOWS: tuple[How, ...] = ("played", "resign", "timeout")


def verdict(t: Tournament, pairs: Pairs, theirs: Judgement) -> str:
    """Why a round is not paired as the judge would; "same" if it is."""
    if theirs.pairs is None:
        return "no pairs by the judge's rules"
    if set(pairs) == set(theirs.pairs):
        return "same"
    records = {team: record for team, record in enumerate(records_of(t)) if not t.has_withdrawn(team)}
    better = explain(records, ranked(records, pairs), ranked(records, theirs.pairs))
    assert better, (t.entries, pairs, theirs.pairs)
    assert better == "C5" or theirs.has_collapsed, (better, t.entries, pairs, theirs.pairs)
    return better


def verdicts(form: Form, seed: int, *, leaving: float) -> Counter[str]:
    """How often each verdict comes in a random tournament."""
    random = Random(seed)
    t = begun(form, random.randint(4, 20), rounds=random.choice(("auto", "5", "7")))
    found: Counter[str] = Counter()
    while (pairs := next_round(t)) is not None:
        found[verdict(t, pairs, judged(t, rounds_in_all(t)))] += 1
        t = paired(t, *pairs)
        if random.random() < leaving and len(playing_teams(t)) > 3:
            t = with_entries(t, Leave(random.choice(playing_teams(t))))
        t = played_round(t, at_random(random, HOWS))
    if len(t.rounds) < rounds_in_all(t):
        assert judged(t, rounds_in_all(t)).pairs is None
    return found


@pytest.mark.parametrize("count", [18, long(300)])
@pytest.mark.parametrize("leaving", [0.0, 0.3], ids=["all stay", "some leave"])
@pytest.mark.parametrize("form", mostly_long(["swiss", "duplicate"], "swiss"))
def test_rounds_differ_from_py4swiss_only_by_new_rules(form: Form, leaving: float, count: int) -> None:
    found = sum((verdicts(form, seed, leaving=leaving) for seed in range(count)), Counter[str]())
    rounds = found.total()
    assert rounds > 4 * count
    assert found["same"] > 0.95 * rounds
    # The judge gives up where a small field runs out of pairs; ours then gives up on seats.
    assert found["no pairs by the judge's rules"] < 0.015 * rounds
