"""From one layout of the store to the next. Each step may be cut short and begin again: done twice is done once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

Migration = Callable[[Any], Awaitable[None]]
"""Given the store's client, changes what one layout has into what the next one has."""

TO_2: Sequence[Migration] = ()
"""What layout 2 changed, in any order."""


async def to_2(client: Any) -> None:
    """From layout 1, that of the first release."""
    for step in TO_2:
        await step(client)


MIGRATIONS: Mapping[int, Migration] = {1: to_2}
"""By the number of a layout: what makes the next one of it."""
