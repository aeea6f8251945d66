"""The draw of pairs."""

from collections.abc import Callable, Sequence
from random import Random

from bot.features.duels.duel import Player
from bot.features.duels.matches.match import Entrant, Pair

MayMeet = Callable[[str, str], bool]


def draw_pairs(
    first_group: Sequence[Entrant], second_group: Sequence[Entrant], may_meet: MayMeet, random: Random
) -> list[Pair]:
    """Draw as many pairs across two groups as possible. If one group has more people, those who entered last stay out.

    People who must not meet are never paired, so more people can stay out.
    """
    count = min(len(first_group), len(second_group))
    first_people, second_people = (
        sorted(side, key=lambda entrant: entrant.entered_at)[:count] for side in (first_group, second_group)
    )
    random.shuffle(first_people)
    random.shuffle(second_people)
    opponents: dict[int, int] = {}  # people of the second group and their opponents, by index

    def pair(index: int, tried_opponents: set[int]) -> bool:
        """Find an opponent for a person of the first group. Re-pair others if needed (Kuhn's algorithm)."""
        for other, entrant in enumerate(second_people):
            if other in tried_opponents or not may_meet(first_people[index].person, entrant.person):
                continue
            tried_opponents.add(other)
            if other not in opponents or pair(opponents[other], tried_opponents):
                opponents[other] = index
                return True
        return False

    for index in range(count):
        pair(index, set())
    return [(_player(first_people[index]), _player(second_people[other])) for other, index in sorted(opponents.items())]


def _player(entrant: Entrant) -> Player:
    return Player(entrant.person, entrant.name)
