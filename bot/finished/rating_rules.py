"""What a finished game may change in ratings: rules against games that are lost on purpose.

1. The loser of a game always pays for it.
2. A game is *given up* if it ended by resignation or by the clock. Its winner gains nothing if it was given up before
   a quarter of the first deal, or if two opponents in it have played three rated games against each other on that
   day (UTC) already. For the winner it is no rated game then: not one of those needed to be ranked, and no win in a
   streak. Whether the winner gains is decided when the game is rated, and kept with the game: the count of the day
   outlasts /forget, but games do not tell any more who came back.
3. A guest of the web pages plays on *trial* until the guest has chosen a name and has finished three games against
   people. A game with a guest on trial is not rated. A game that the guest gave up, or that was given up early, does
   not count as finished. A guest who is forgotten during a game is on trial too: otherwise a guest's first games
   could be lost by /forget.

Games that earlier releases kept are rated without these rules, so that ratings made anew stay the same.
"""

from collections.abc import Sequence

from bot.finished.game import FinishedGame
from bot.programs import is_program
from bot.pseudonyms import is_guest_name
from engine import Record

RULES = 2
"""The number of these rules. A game without a number was not given up, or an earlier release kept it."""

GAMES_A_DAY = 3
"""Rated games of two opponents on one day after which giving up brings the winner nothing."""

GAMES_ON_TRIAL = 3
"""Games against people that a guest finishes before the guest's games are rated."""


def is_given_up(record: Record) -> bool:
    """Whether a game ended by resignation or by the clock."""
    return record.ending in ("resign", "timeout")


def is_given_up_early(record: Record) -> bool:
    """Whether a game was given up before a quarter of its first deal's cards were played."""
    if not is_given_up(record) or len(record.deals) != 1:
        return False
    played: int = sum(entry[1].startswith("play ") for entry in record.deals[0].moves)
    return 4 * played < record.kind.cards_per_deal


def depends_on_day(game: FinishedGame) -> bool:
    """Return whether a game's winner gains only if its opponents have met seldom on its day."""
    is_late = is_given_up(game.record) and not is_given_up_early(game.record)
    return game.rating_rules >= RULES and game.is_rated and is_late


def does_winner_gain(game: FinishedGame) -> bool:
    """Return whether a rated game raises its winner."""
    if game.rating_rules < RULES or not is_given_up(game.record):
        return True
    return game.winner_gains is not False and not is_given_up_early(game.record)


def has_default_name(game: FinishedGame, person: str) -> bool:
    """Whether a guest still had the name that we gave when the game ended."""
    name: str = game.record.seats[game.people.index(person)]
    return is_guest_name(name)


def is_finished_by(game: FinishedGame, person: str) -> bool:
    """Whether a game against people counts towards the end of a guest's trial."""
    others = [one for one in game.people if one and one != person]
    if any(one.startswith("robot:") or is_program(one) for one in others) or not game.record.winner:
        return False
    gave_up = is_given_up(game.record) and game.people.index(person) not in game.record.winner
    return not gave_up and not is_given_up_early(game.record)


def unrated_reason(game: FinishedGame, changes: Sequence[tuple[str, int, int]]) -> str:
    """Return the key of `bot.panels.board.UNRATED` that says why nobody's rating rises, or an empty string."""
    if game.trial:
        return "trial"
    nobody_gains = bool(changes) and all(after <= before for _person, before, after in changes)
    return "given up" if nobody_gains and is_given_up(game.record) else ""
