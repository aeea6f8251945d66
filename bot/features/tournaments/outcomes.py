"""What a match is worth to a team."""

from fractions import Fraction

from bot.features.tournaments.tournament import Match


def is_void(match: Match) -> bool:
    """Whether a match is over of which nothing was played, and which nobody has lost either."""
    return not match.is_bye and match.is_over and all(one.how == "void" for one in match.results.values())


def was_played(match: Match) -> bool:
    """Whether cards were dealt in a match that is over: it was neither lost by forfeit nor void."""
    return any(one.how in ("played", "resign", "timeout") for one in match.results.values())


def match_score(match: Match, team: int) -> Fraction:
    """One for a win, a half for a draw; a bye is a win."""
    if not match.is_over or is_void(match):
        return Fraction(0)
    if match.is_bye or match.winner == team:
        return Fraction(1)
    return Fraction(1, 2) if match.winner is None else Fraction(0)
