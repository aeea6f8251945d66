"""How a person's rating went in a scope: after each of their last games, as it is shown.

Stored as a word a game, oldest first: the day it ended (counted from the first of 1970), ``w`` or ``l`` for won or
lost, and the rating, such as ``20415w1012``. It follows from the finished games, as ratings do.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

GAMES_KEPT = 30
"""Games of each person and scope: some 360 bytes."""

DAY_SECONDS = 86400

_WORD = re.compile(r"(\d+)([wl])(-?\d+)")


class RatedGame(NamedTuple):
    """A rated game: the day it ended, whether it was won, and the rating after it."""

    day: int
    won: bool
    rating: int


def parse_history(text: bytes | None) -> list[RatedGame]:
    """The games that `history_text` wrote; none for None."""
    found = (_WORD.fullmatch(word) for word in (text or b"").decode().split())
    return [RatedGame(int(word[1]), word[2] == "w", int(word[3])) for word in found if word]


def history_text(games: Sequence[RatedGame]) -> str:
    """The last of these games, as they are kept."""
    return " ".join(f"{day}{'w' if won else 'l'}{rating}" for day, won, rating in games[-GAMES_KEPT:])
