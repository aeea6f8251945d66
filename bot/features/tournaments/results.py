"""Results of finished games for their matches."""

from bot.features.tournaments.entries import How, Result
from bot.features.tournaments.tournament import Match
from bot.finished.game import FinishedGame
from bot.tables.fixtures import FixtureName
from bot.words.one_deal import deal_result

# by the ending of a whole game; other endings are void
HOW: dict[str, How] = {"target": "played", "claim": "played", "resign": "resign", "timeout": "timeout"}


def result_of(match: Match, fixture: FixtureName, game: FinishedGame) -> Result:
    """Return a game's result for its match, in whole points. In some deals the match's second team sits first."""
    record = game.record
    how: How
    if fixture.is_duplicate:
        deal = deal_result(record)
        how, side = deal.how, deal.winner
    else:
        how, side = HOW.get(record.ending or "", "void"), record.winner[0] & 1 if record.winner else None
    ours, theirs = record.deals[-1].totals if how == "played" or not fixture.is_duplicate else (0, 0)
    if match.first_seat(fixture.deal) == 1:
        ours, theirs, side = theirs, ours, None if side is None else 1 - side
    return Result(fixture.round, fixture.match, fixture.deal, side, ours, theirs, how, game.id)
