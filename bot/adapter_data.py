"""What adapters keep of a person in the store, by the entry points of the group `buongioco.kept`."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from bot.platform import platform_of

GROUP = "buongioco.kept"


class StoredField(NamedTuple):
    """A field of a hash, or all of a key if ``field`` is empty."""

    key: str
    field: str = ""


FieldFinder = Callable[[str], Sequence[StoredField]]
"""What an entry point names: given a person, ``platform:id``, what the adapter keeps of them."""


@cache
def _field_finders() -> dict[str, FieldFinder]:
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}


def stored_fields(person: str) -> Sequence[StoredField]:
    """What the adapter of a person's platform keeps of them."""
    keeper = _field_finders().get(platform_of(person))
    return keeper(person) if keeper else ()


async def delete_adapter_data(client: Any, person: str) -> None:
    """Take away what an adapter keeps of a person."""
    for key, field in stored_fields(person):
        await (client.hdel(key, field) if field else client.delete(key))


async def read_adapter_data(client: Any, person: str) -> dict[str, str]:
    """What an adapter keeps of a person, by key; fields of hashes and strings only."""
    found = {}
    for key, field in stored_fields(person):
        value = await (client.hget(key, field) if field else client.get(key))
        if value is not None:
            found[key] = value.decode("utf-8", "replace")
    return found
