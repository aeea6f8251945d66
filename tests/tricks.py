"""The progress of a deal, read from texts in a group."""

import re
from collections.abc import Iterable


def has_reached_trick(trick: int, texts: Iterable[str]) -> bool:
    """Return whether a text shows this trick or a later one: a board that is rarely edited skips some tricks."""
    return any(int(number) >= trick for text in texts for number in re.findall(r"Trick (\d+)", text))
