"""The end of a game on a page: who won, the best trick, the new rating, and a text to share."""

from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

from bot.finished.ratings import Change
from bot.site.tricks import TrickCard, finished_tricks, trick_cards, trick_thirds
from bot.tables.snapshot import TableSnapshot
from bot.tables.table import Table
from bot.words.game_results import result_line
from bot.words.table_lines import TableLines
from bot.words.wording import Wording, score_unit, signed_text, thirds_text


class Rated(NamedTuple):
    """The rating of a finished game: why no rating rises (a key of `UNRATED`, or empty), and the reader's change."""

    unrated: str = ""
    change: Change | None = None


NOT_RATED = Rated()


@dataclass(frozen=True, slots=True)
class GameEnd:
    """What a page shows of a player's finished game.

    ``best`` is the trick with the most points, and ``about`` its taker and points; both are empty in Spades.
    ``rating`` is the player's new rating, empty if it did not change. ``share`` is the result in words.
    """

    is_won: bool
    best: tuple[TrickCard, ...]
    about: str
    rating: str
    share: str


def game_end(table: Table, snapshot: TableSnapshot, words: Wording, rated: Rated) -> GameEnd | None:
    """Return the end of a game; None while it lasts, or if others still have to play the same cards."""
    if snapshot.view is None or not snapshot.view.ending or table.game is None or table.is_duplicate:
        return None
    _, record = words.text, table.game.record(live=False)
    tricks = [
        (trick_thirds(snapshot.kind, trick), number, trick)
        for number, deal in enumerate(record.deals, 1)
        for trick in finished_tricks(snapshot.kind, deal.moves)
    ]
    best: tuple[TrickCard, ...] = ()
    about, names = "", TableLines(snapshot, words).names
    thirds, number, trick = max(tricks, key=itemgetter(0), default=(0, 0, None))
    if thirds and trick:
        best = trick_cards(trick, words, names)
        points = thirds_text(thirds * score_unit(snapshot.rules))
        about = _("Best trick: {name}, deal {number}. Points: {points}.").format(
            name=names[trick.winner], number=number, points=points
        )
    change, rating = rated.change, ""
    if change:
        difference = signed_text(change.after - change.before)
        rating = _("Your rating: {rating} ({change})").format(rating=change.after, change=difference)
    is_won = snapshot.seat in (snapshot.view.winner or ())
    return GameEnd(is_won, best, about, rating, result_line(words, record))
