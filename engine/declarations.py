"""The combinations that can be declared (*buongiochi*): fours, threes and napoletane."""

from functools import cache
from typing import NamedTuple

from .cards import ITALIAN

HONOUR_RANKS = "32A"
HONOURS = ITALIAN.mask(code for code in ITALIAN.codes if code[0] in HONOUR_RANKS)


class Combination(NamedTuple):
    """A combination that can be declared.

    ``move`` declares it, ``cards`` is the set of its cards and ``points`` its whole points. ``kind`` has one bit for
    its rank or suit, and ``bit`` one bit for the combination. A combination scores only once in a deal; without the
    option ``reuse`` its kind scores only once, too.
    """

    move: str
    cards: int
    points: int
    kind: int
    bit: int


def _all_combinations() -> tuple[Combination, ...]:
    combinations: list[tuple[str, int, int, str]] = []
    for rank in HONOUR_RANKS:
        four = ITALIAN.mask(rank + suit for suit in ITALIAN.suits)
        combinations.append((f"declare four {rank}", four, 4, rank))
        for suit in ITALIAN.suits:
            three = four & ~ITALIAN.mask([rank + suit])
            combinations.append((f"declare three {rank} missing {suit}", three, 3, rank))
    for suit in ITALIAN.suits:
        napoletana = ITALIAN.mask(rank + suit for rank in HONOUR_RANKS)
        combinations.append((f"declare napoletana {suit}", napoletana, 3, suit))
    kinds = {kind: 1 << number for number, kind in enumerate(HONOUR_RANKS + ITALIAN.suits)}
    return tuple(
        Combination(move, cards, points, kinds[kind], 1 << number)
        for number, (move, cards, points, kind) in enumerate(combinations)
    )


COMBINATIONS = {combination.move: combination for combination in _all_combinations()}


def combinations_in(cards: int) -> tuple[Combination, ...]:
    """Return the combinations that these cards hold, without the threes inside a four."""
    return _combinations_of_honours(cards & HONOURS)


@cache
def _combinations_of_honours(honours: int) -> tuple[Combination, ...]:
    held = [combination for combination in COMBINATIONS.values() if combination.cards & honours == combination.cards]
    fours = [combination for combination in held if combination.points == 4]
    ranks_of_fours = {four.kind for four in fours}
    return tuple(combination for combination in held if combination in fours or combination.kind not in ranks_of_fours)


def possible_combinations(fresh: int, held: int, scored: int) -> list[Combination]:
    """Return the combinations in ``held`` that contain a ``fresh`` card and whose kind is not in ``scored``."""
    return [
        combination
        for combination in COMBINATIONS.values()
        if combination.cards & fresh and combination.cards & held == combination.cards and not combination.kind & scored
    ]
