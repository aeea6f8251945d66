"""Finished tricks of a deal, from its moves."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.words.spoken import spoken_card
from bot.words.wording import Wording
from engine import GameKind
from engine.tressette import THIRDS
from engine.views import LastTrick, ShownCard


def finished_tricks(kind: GameKind, moves: Iterable[Sequence[object]]) -> Iterator[LastTrick]:
    """Yield each finished trick of a deal with its taker. ``moves`` begin with seat and text, as in a record."""
    trick: list[ShownCard] = []
    for seat, move, *_rest in moves:
        if not isinstance(seat, int) or not isinstance(move, str) or not move.startswith("play "):
            continue
        _play, card, *signal = move.split(" ")
        trick.append(ShownCard(seat, card, signal[0] if signal else None))
        if len(trick) == kind.seats:
            yield LastTrick(tuple(trick), _taker(kind, trick))
            trick = []


def _taker(kind: GameKind, trick: Sequence[ShownCard]) -> int:
    """Return the seat of the highest trump, otherwise of the highest card of the suit led."""
    index, led = kind.pack.index, trick[0].card[1]
    candidates = [shown_card for shown_card in trick if shown_card.card[1] in (led, kind.trump)]
    return max(candidates, key=lambda shown_card: (shown_card.card[1] == kind.trump, index[shown_card.card])).seat


def trick_thirds(kind: GameKind, trick: LastTrick) -> int:
    """Return the thirds of a point of a trick's cards; 0 in games whose cards have no value."""
    if not kind.is_tressette:
        return 0
    return sum(THIRDS[kind.pack.index[shown_card.card]] for shown_card in trick.cards)


@dataclass(frozen=True, slots=True)
class TrickCard:
    """A card of a finished trick: its drawn code, its name in words, its player, and what they said with it.

    ``wins``: it took the trick.
    """

    code: str
    name: str
    by: str
    said: str
    wins: bool


def trick_cards(trick: LastTrick, words: Wording, names: Sequence[str]) -> tuple[TrickCard, ...]:
    return tuple(
        TrickCard(
            words.faces.drawn_code(shown_card.card),
            spoken_card(words, shown_card.card),
            names[shown_card.seat],
            shown_card.signal or "",
            shown_card.seat == trick.winner,
        )
        for shown_card in trick.cards
    )
