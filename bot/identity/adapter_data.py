"""Data that adapters store about a person, found through entry points of the group `buongioco.adapter_data`."""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from bot.platform import platform_of

GROUP = "buongioco.adapter_data"
ALL_FIELDS = "*"  # stands for all fields of a hash


class StoredField(NamedTuple):
    """A field of a hash, all of them (`ALL_FIELDS`), or a whole key if ``field`` is empty."""

    key: str
    field: str = ""


# The type of an entry point, which lists an adapter's data about a person (``platform:id``).
FieldFinder = Callable[[str], Sequence[StoredField]]


@cache
def _field_finders() -> dict[str, FieldFinder]:
    return {entry.name: entry.load() for entry in entry_points(group=GROUP)}


def stored_fields(person: str) -> Sequence[StoredField]:
    find_fields = _field_finders().get(platform_of(person))
    return find_fields(person) if find_fields else ()


async def delete_adapter_data(client: Any, person: str) -> None:
    for key, field in stored_fields(person):
        await (client.delete(key) if field in ("", ALL_FIELDS) else client.hdel(key, field))


async def read_adapter_data(client: Any, person: str) -> dict[str, str]:
    """Return an adapter's data about a person by key: only strings and fields of hashes."""
    data = {}
    for key, field in stored_fields(person):
        if field == ALL_FIELDS:
            value = b"\n".join((await client.hgetall(key)).values()) or None
        else:
            value = await (client.hget(key, field) if field else client.get(key))
        if value is not None:
            data[key] = value.decode("utf-8", "replace")
    return data
