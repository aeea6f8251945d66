"""A person's rating history in a scope: the shown rating after each of the last games.

Each game is a word such as ``20415w1012``: the day of its end (from 1970-01-01), ``w`` or ``l`` for won or lost, and
the rating. The oldest comes first. Like ratings, the history follows from the finished games.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

GAMES_KEPT = 30  # games kept for each person and scope, about 360 bytes
DAY_SECONDS = 86400
_WORD = re.compile(r"(\d+)([wl])(-?\d+)")


class RatedGame(NamedTuple):
    """A game in a rating history."""

    day: int  # of its end, counted from 1970-01-01
    won: bool
    rating: int  # after the game


def parse_history(text: bytes | None) -> list[RatedGame]:
    """Parse the output of `history_text`. Return no games for None."""
    matches = (_WORD.fullmatch(word) for word in (text or b"").decode().split())
    return [RatedGame(int(word[1]), word[2] == "w", int(word[3])) for word in matches if word]


def history_text(games: Sequence[RatedGame]) -> str:
    return " ".join(f"{day}{'w' if won else 'l'}{rating}" for day, won, rating in games[-GAMES_KEPT:])
