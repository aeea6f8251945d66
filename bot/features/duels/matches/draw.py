"""The draw of pairs."""

from collections.abc import Callable, Sequence
from random import Random

from bot.features.duels.duel import Player
from bot.features.duels.matches.match import Entrant, Pair

MayMeet = Callable[[str, str], bool]


def draw_pairs(ours: Sequence[Entrant], theirs: Sequence[Entrant], may_meet: MayMeet, random: Random) -> list[Pair]:
    """Draw as many pairs across two groups as possible. If one group has more people, those who entered last stay out.

    People who must not meet are never paired, so more people can stay out.
    """
    count = min(len(ours), len(theirs))
    first, second = (sorted(side, key=lambda entrant: entrant.entered)[:count] for side in (ours, theirs))
    random.shuffle(first)
    random.shuffle(second)
    paired: dict[int, int] = {}  # people of the second group and their opponents, by index

    def pair(index: int, tried: set[int]) -> bool:
        """Find an opponent for a person of the first group. Re-pair others if needed (Kuhn's algorithm)."""
        for other, entrant in enumerate(second):
            if other in tried or not may_meet(first[index].person, entrant.person):
                continue
            tried.add(other)
            if other not in paired or pair(paired[other], tried):
                paired[other] = index
                return True
        return False

    for index in range(count):
        pair(index, set())
    return [(_player(first[index]), _player(second[other])) for other, index in sorted(paired.items())]


def _player(entrant: Entrant) -> Player:
    return Player(entrant.person, entrant.name)
