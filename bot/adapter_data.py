"""What adapters keep of a person in the store, by the entry points of the group `buongioco.kept`."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from bot.platform import platform_of

GROUP = "buongioco.kept"


class Kept(NamedTuple):
    """A field of a hash, or all of a key if ``field`` is empty."""

    key: str
    field: str = ""


KeptOf = Callable[[str], Sequence[Kept]]
"""What an entry point names: given a person, ``platform:id``, what the adapter keeps of them."""


@cache
def _keepers() -> dict[str, KeptOf]:
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}


def kept_of(person: str) -> Sequence[Kept]:
    """What the adapter of a person's platform keeps of them."""
    keeper = _keepers().get(platform_of(person))
    return keeper(person) if keeper else ()


async def drop_kept(client: Any, person: str) -> None:
    """Take away what an adapter keeps of a person."""
    for key, field in kept_of(person):
        await (client.hdel(key, field) if field else client.delete(key))


async def read_kept(client: Any, person: str) -> dict[str, str]:
    """What an adapter keeps of a person, by key; fields of hashes and strings only."""
    found = {}
    for key, field in kept_of(person):
        value = await (client.hget(key, field) if field else client.get(key))
        if value is not None:
            found[key] = value.decode("utf-8", "replace")
    return found
