"""How far a deal has come, by what a group reads."""

import re
from collections.abc import Iterable


def has_come_to(trick: int, texts: Iterable[str]) -> bool:
    """Whether a trick or a later one stands in any of these texts: a board that is edited seldom passes some over."""
    return any(int(number) >= trick for text in texts for number in re.findall(r"Trick (\d+)", text))
