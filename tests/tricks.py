"""The progress of a deal, read from texts in a group."""

import re
from collections.abc import Iterable


def has_reached_trick(trick: int, texts: Iterable[str]) -> bool:
    """Return whether any text shows this many tricks or more. A board that is rarely edited can skip numbers."""
    return any(tricks_played(text) >= trick for text in texts)


def tricks_played(text: str) -> int:
    """Return the number of finished tricks that a board or hand shows."""
    for line in text.splitlines():
        if line.startswith("Tricks: "):
            return sum(int(figure) for figure in re.findall(r" (\d+)(?=,| ·|$)", line))
    return 0
