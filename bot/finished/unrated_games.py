"""Games that are unrated for all players or for the winner, so that nobody gains from games lost on purpose.

1. The loser of a rated game always loses rating.
2. A game is *given up* if it ended by resignation or on time. It is unrated for the winner if it was given up in the
   first quarter of the first deal, or if two opponents had already played three rated games against each other on that
   day (UTC). It then counts towards neither the winner's rank nor a streak. The decision is made when the game is
   rated, and stored with it. The day's counts outlast /forget, so they still hold for a person who comes back. But no
   game shows that this is the same person.
3. A guest of the web pages is on *trial* until the guest has chosen a name and finished three games against people.
   Games with a guest on trial are unrated. A game that the guest gave up, or that was given up early, does not count as
   finished. A guest who is forgotten during a game is on trial too, because guests could otherwise avoid losing rating
   by /forget.

Games stored by earlier releases are rated without these rules, so a rebuild gives the same ratings.
"""

from collections.abc import Sequence

from bot.finished.game import FinishedGame
from bot.identity.programs import is_program
from engine import Record

RULES = 2  # the number of these rules; games stored without it were not given up, or are from an earlier release

GAMES_A_DAY = 3  # rated games of two opponents on a day, after which a given-up game brings no gain
GAMES_ON_TRIAL = 3  # finished games against people before a guest's games are rated


def is_given_up(record: Record) -> bool:
    return record.ending in ("resign", "timeout")


def is_given_up_early(record: Record) -> bool:
    """Return whether a game was given up before a quarter of its first deal's cards were played."""
    if not is_given_up(record) or len(record.deals) != 1:
        return False
    played_cards: int = sum(entry[1].startswith("play ") for entry in record.deals[0].moves)
    return 4 * played_cards < record.kind.cards_per_deal


def depends_on_day(game: FinishedGame) -> bool:
    """Return whether the winner's gain depends on how often the opponents played on that day."""
    is_late = is_given_up(game.record) and not is_given_up_early(game.record)
    return game.rating_rules >= RULES and game.is_rated and is_late


def does_winner_gain(game: FinishedGame) -> bool:
    """Return whether a game is rated for its winner."""
    if game.rating_rules < RULES or not is_given_up(game.record):
        return True
    return game.winner_gains is not False and not is_given_up_early(game.record)


def is_finished_by(game: FinishedGame, person: str) -> bool:
    """Return whether a game counts towards the end of a guest's trial."""
    other_players = [other for other in game.people if other and other != person]
    if any(other.startswith("robot:") or is_program(other) for other in other_players) or not game.record.winner:
        return False
    gave_up = is_given_up(game.record) and game.people.index(person) not in game.record.winner
    return not gave_up and not is_given_up_early(game.record)


def unrated_reason(game: FinishedGame, changes: Sequence[tuple[str, int, int]]) -> str:
    """Return the reason why no rating rises, a key of `bot.panels.board.UNRATED`, or ""."""
    if game.trial:
        return "trial"
    is_without_gain = bool(changes) and all(new_rating <= old_rating for _person, old_rating, new_rating in changes)
    return "given up" if is_without_gain and is_given_up(game.record) else ""
