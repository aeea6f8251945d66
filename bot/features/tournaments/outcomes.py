"""Scores of matches."""

from fractions import Fraction

from bot.features.tournaments.tournament import Match


def is_void(match: Match) -> bool:
    """Return whether a match ended without play and without a loser."""
    return not match.is_bye and match.is_over and all(one.how == "void" for one in match.results.values())


def was_played(match: Match) -> bool:
    """Return whether cards were dealt in a finished match: no forfeit, and not void."""
    return any(one.how in ("played", "resign", "timeout") for one in match.results.values())


def match_score(match: Match, team: int) -> Fraction:
    """Return a team's score of a match: 1 for a win or a bye, ½ for a draw."""
    if not match.is_over or is_void(match):
        return Fraction(0)
    if match.is_bye or match.winner == team:
        return Fraction(1)
    return Fraction(1, 2) if match.winner is None else Fraction(0)
