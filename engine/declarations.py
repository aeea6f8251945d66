"""The combinations that can be declared (*buongiochi*): fours, threes and napoletane."""

from typing import NamedTuple

from engine.cards import ITALIAN

HONOUR_RANKS = "32A"
HONOURS = ITALIAN.mask(code for code in ITALIAN.codes if code[0] in HONOUR_RANKS)


class Combination(NamedTuple):
    """A combination as it is declared.

    ``move`` is its notation, ``cards`` the set of its cards, ``points`` whole points, ``kind`` one bit for the rank or
    the suit that scores once in a deal, ``bit`` one bit for the combination itself.
    """

    move: str
    cards: int
    points: int
    kind: int
    bit: int


def _all() -> tuple[Combination, ...]:
    found: list[tuple[str, int, int, str]] = []
    for rank in HONOUR_RANKS:
        four = ITALIAN.mask(rank + suit for suit in ITALIAN.suits)
        found.append((f"declare four {rank}", four, 4, rank))
        for suit in ITALIAN.suits:
            three = four & ~ITALIAN.mask([rank + suit])
            found.append((f"declare three {rank} missing {suit}", three, 3, rank))
    for suit in ITALIAN.suits:
        napoletana = ITALIAN.mask(rank + suit for rank in HONOUR_RANKS)
        found.append((f"declare napoletana {suit}", napoletana, 3, suit))
    kinds = {kind: 1 << number for number, kind in enumerate(HONOUR_RANKS + ITALIAN.suits)}
    return tuple(
        Combination(move, cards, points, kinds[kind], 1 << number)
        for number, (move, cards, points, kind) in enumerate(found)
    )


COMBINATIONS = {combination.move: combination for combination in _all()}


def combinations_in(cards: int) -> tuple[Combination, ...]:
    """What these cards hold; with four of a rank the four alone, not the threes inside it."""
    return _COMBINATIONS_IN[cards & HONOURS]


def still_to_come(fresh: int, held: int, scored: int) -> list[Combination]:
    """What somebody may yet declare with one of the cards ``fresh``, who will hold none but those in ``held``;
    ``scored`` are the kinds that count no more.
    """
    return [
        one
        for one in COMBINATIONS.values()
        if one.cards & fresh and one.cards & held == one.cards and not one.kind & scored
    ]


class _CombinationsIn(dict[int, tuple[Combination, ...]]):
    """By the honours held, of which there are 4,096 sets."""

    def __missing__(self, honours: int) -> tuple[Combination, ...]:
        held = [one for one in COMBINATIONS.values() if one.cards & honours == one.cards]
        self[honours] = best = tuple(
            one for one in held if not any(more is not one and more.cards & one.cards == one.cards for more in held)
        )
        return best


_COMBINATIONS_IN = _CombinationsIn()
