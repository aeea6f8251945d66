"""Events that a page shows for a moment at a player's seat: declarations, signals, bids, and who takes a trick."""

from dataclasses import dataclass

from bot.tables.snapshot import TableSnapshot
from bot.words.table_lines import capitalize, shown_points
from bot.words.wording import Wording, signed_text
from engine.cards import ITALIAN
from engine.declarations import COMBINATIONS

LATEST = 4  # events in each state: a page skips states that come too fast, and must still show each event


@dataclass(frozen=True, slots=True)
class SeatEvent:
    """An event, by its ``number`` in the deal.

    ``at`` counts seats from the reader's in order of play. ``cards`` are the drawn codes of a declaration's cards.
    """

    number: int
    at: int
    text: str
    cards: tuple[str, ...] = ()


def seat_events(snapshot: TableSnapshot, words: Wording) -> tuple[SeatEvent, ...]:
    """Return the latest events of the deal, from the moves that the reader saw."""
    events = []
    for number, (seat, move) in enumerate(snapshot.history):
        again = words.again(snapshot.history[:number], seat, move)
        if seat is not None and (text := event_text(snapshot, words, move, again)):
            distance = (seat - (snapshot.seat or 0)) % len(snapshot.chairs)
            events.append(SeatEvent(number, distance, text, declared_cards(words, move)))
    return tuple(events[-LATEST:])


def event_text(snapshot: TableSnapshot, words: Wording, move: str, again: str) -> str:
    """Return a move as its player would say it; empty for moves that are only seen.

    ``again`` is the note about a declaration made before.
    """
    word, *arguments = move.split(" ")
    if combination := COMBINATIONS.get(move):
        points = signed_text(shown_points(snapshot, combination.points))
        return f"{capitalize(words.combination_name(move))}!{again} {points}"
    if word == "play" and len(arguments) > 1:
        return f"{capitalize(arguments[1])}!"
    if word == "blind":
        return f"{capitalize(words.figure('double nil'))}!"
    if word == "bid":
        tricks = int(arguments[0])
        bid_text = words.ngettext("{count} trick", "{count} tricks", tricks).format(count=tricks)
        return bid_text if tricks else f"{capitalize(words.figure('nil'))}!"
    return ""


def declared_cards(words: Wording, move: str) -> tuple[str, ...]:
    """Return the drawn codes of a declaration's cards; none for other moves."""
    combination = COMBINATIONS.get(move)
    return tuple(map(words.faces.drawn_code, ITALIAN.names(combination.cards))) if combination else ()


def taker_text(snapshot: TableSnapshot, words: Wording) -> str:
    """Return who took the previous trick, even if it was in the deal before; empty before the first trick."""
    _, view = words.text, snapshot.view
    trick = view.deal.last_trick if view and view.deal else None
    if trick is None and view and view.result:
        trick = view.result.last_trick
    if trick is None:
        return ""
    line = _("You take it") if trick.winner == snapshot.seat else _("{name} takes it")
    return line.format(name=snapshot.name(trick.winner))
