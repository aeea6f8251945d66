"""Scores of duplicate deals: each table is compared with all others that had the same cards.

docs/tournaments.md has the rules and the table of steps.
"""

from dataclasses import dataclass
from fractions import Fraction

from bot.features.tournaments.log_entries import Result
from bot.features.tournaments.tournament import Match, Tournament
from engine import game_kind

# The smallest differences from the datum that give one step, two steps and so on, in units.
STEPS = (Fraction(1, 2), Fraction(3, 2), 3, 5, 7, 10, 14, 19)

# The minimum cost, in units and in steps, of a deal that was given up, forfeited or lost on time. The other team gains
# it.
PENALTY, PENALTY_STEPS = 5, 3


@dataclass(frozen=True)
class DealScore:
    """The score of a match's deal for its first and its second team, in points or in steps.

    ``datum`` is the mean difference of points between the first and the second seat, over all tables that finished the
    deal. It is None if no table finished it.
    """

    round: int
    match: int
    deal: int
    datum: Fraction | None
    scores: tuple[Fraction, Fraction]


def deal_scores(tournament: Tournament, round_: int) -> list[DealScore]:
    """Return the scores of all deals of a round. An unfinished round has no scores yet: they would reveal cards."""
    if not tournament.is_over(round_):
        return []
    scores = []
    for deal in tournament.deals:
        results = [(match, result) for match in tournament.rounds[round_ - 1] if (result := match.results.get(deal))]
        margins = [_margin(match, result) for match, result in results if result.ending == "played"]
        datum = Fraction(sum(margins), len(margins)) if margins else None
        extreme_differences = None if datum is None else (min(margins) - datum, max(margins) - datum)
        for match, result in results:
            first_seat = match.first_seat(deal)
            if result.ending == "played":
                assert datum is not None
                score = _score(tournament, _margin(match, result) - datum)
            else:
                winner = None if result.winner is None else result.winner ^ first_seat
                score = _lost_score(tournament, winner, extreme_differences)
            first_score = score if first_seat == 0 else -score
            scores.append(DealScore(round_, match.number, deal, datum, (first_score, -first_score)))
    return scores


def round_scores(tournament: Tournament) -> list[dict[int, Fraction]]:
    """Return each team's score in each round that is over; a bye scores 0."""
    rounds = []
    for number, matches in enumerate(tournament.rounds, 1):
        if tournament.is_over(number):
            scores = {team: Fraction(0) for match in matches for team in match.teams}
            for deal in deal_scores(tournament, number):
                for team, score in zip(matches[deal.match].teams, deal.scores, strict=True):
                    scores[team] += score
            rounds.append(scores)
    return rounds


def to_steps(difference: Fraction) -> int:
    """Convert a difference from the datum, in units (`GameKind.duplicate_unit`), to steps."""
    steps = sum(abs(difference) >= threshold for threshold in STEPS)
    return -steps if difference < 0 else steps


def _margin(match: Match, result: Result) -> int:
    """Return the first seat's points minus the second's."""
    margin = result.first_points - result.second_points
    return margin if match.first_seat(result.deal) == 0 else -margin


def _score(tournament: Tournament, difference: Fraction) -> Fraction:
    """Score a difference from the datum, in points or in steps."""
    if tournament.options["scoring"] != "steps":
        return difference
    return Fraction(to_steps(difference / game_kind(tournament.game).duplicate_unit))


def _lost_score(
    tournament: Tournament, winner: int | None, extreme_differences: tuple[Fraction, Fraction] | None
) -> Fraction:
    """Return the first seat's score of a deal that was given up, forfeited or lost on time; 0 if it is void.

    The loser gets the penalty, or the worst score of that seat at any table if that is worse. So giving up a bad deal
    never pays. ``extreme_differences`` are the smallest and largest from the datum, if there is one.
    """
    if winner is None:
        return Fraction(0)
    has_steps, unit = tournament.options["scoring"] == "steps", game_kind(tournament.game).duplicate_unit
    penalty = Fraction(PENALTY_STEPS if has_steps else PENALTY * unit)
    if extreme_differences is None:
        return penalty if winner == 0 else -penalty
    # The best score of one seat is the worst of the other.
    smallest, largest = extreme_differences
    return max(penalty, _score(tournament, largest)) if winner == 0 else min(-penalty, _score(tournament, smallest))
