"""The log of a deal on a page: who took each trick, and what was declared or bid.

Players must not look at earlier tricks again, so during a deal only the last trick shows its cards. After the deal, all
tricks show theirs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.site.seat_events import event_text
from bot.site.tricks import TrickCard, finished_tricks, trick_cards
from bot.tables.snapshot import TableSnapshot, take_snapshot
from bot.tables.table import Table
from bot.words.table_lines import TableLines, table_words
from bot.words.wording import Wording


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A trick's taker with the cards that can be seen, or what a player declared or bid."""

    text: str
    cards: tuple[TrickCard, ...] = ()


@dataclass(frozen=True, slots=True)
class DealLog:
    """The entries of a deal, in order. ``number`` counts deals from 1."""

    number: int
    entries: tuple[LogEntry, ...]


def deal_log(table: Table, snapshot: TableSnapshot, words: Wording) -> DealLog | None:
    """Return the log of the current deal, or of the deal before it until the current deal's first move.

    Return None before the first deal.

    If others still have to play the same cards, only the last trick shows its cards even after the deal.
    """
    view = snapshot.view
    if view is None or view.deal is None or table.game is None:
        return None
    is_between = view.ending or view.deal.phase == "over" or not snapshot.history
    if is_between and (finished := finished_log(table, snapshot, words)):
        return finished
    return DealLog(view.deal_number, tuple(_entries(snapshot, words, snapshot.history, open_cards=False)))


def finished_log(table: Table, snapshot: TableSnapshot, words: Wording) -> DealLog | None:
    """Return the log of the last finished deal; None before the first, or if others still have to play its cards.

    The record of a duplicate game has cards that others must not see before they play them.
    """
    if table.game is None or table.is_duplicate:
        return None
    deals = table.game.record(live=False).deals
    return DealLog(len(deals), tuple(_entries(snapshot, words, deals[-1].moves, open_cards=True))) if deals else None


def watched_log(table: Table, language: str, suits: str) -> DealLog | None:
    """Return the log as spectators see it, from the public view only."""
    table = table.localize(language)
    snapshot = take_snapshot(table, None)
    return deal_log(table, snapshot, table_words(snapshot, language, suits))


def _entries(
    snapshot: TableSnapshot, words: Wording, moves: Sequence[Sequence[object]], *, open_cards: bool
) -> Iterator[LogEntry]:
    _, kind, names = words.text, snapshot.kind, TableLines(snapshot, words).names
    tricks = list(finished_tricks(kind, moves))
    cards_played = 0
    for index, (seat, move, *_others) in enumerate(moves):
        if not isinstance(seat, int) or not isinstance(move, str):
            continue
        if not move.startswith("play "):
            again = words.again(moves[:index], seat, move)
            if event := event_text(snapshot, words, move, again):
                yield LogEntry(f"{names[seat]}: {event}")
            continue
        cards_played += 1
        number, cards_in_trick = divmod(cards_played, kind.seats)
        if cards_in_trick:
            continue
        trick = tricks[number - 1]
        is_open = open_cards or number == len(tricks)
        text = _("Trick {number}: {name}").format(number=number, name=names[trick.winner])
        yield LogEntry(text, trick_cards(trick, words, names) if is_open else ())
