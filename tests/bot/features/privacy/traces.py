"""Search a store for traces of a person."""

import re
import zlib
from typing import Any

from bot.store import Store
from bot.store.log import unfold


async def dump_store(store: Store) -> dict[str, str]:
    """Return all keys with their contents as text, with logs and games unpacked.

    Logs of tables that have just ended are left out: they expire within a minute.
    """
    texts = {}
    async for key in store.client.scan_iter(count=1000):
        if b"}:ended:" in key:
            assert (await store.client.ttl(key)) in (-2, *range(61))
            continue
        texts[key.decode()] = await _read_text(store, key)
    return texts


async def _read_text(store: Store, key: bytes) -> str:
    client: Any = store.client
    kind = (await client.type(key)).decode()
    if kind == "list":
        elements = await client.lrange(key, 0, -1)
        values = unfold(elements).entries if b":table:" in key else elements
    elif kind == "hash":
        values = [part for item in (await client.hgetall(key)).items() for part in item]
    elif kind == "set":
        values = list(await client.smembers(key))
    elif kind == "zset":
        values = list(await client.zrange(key, 0, -1))
    else:
        values = [await client.get(key)]
    if key.startswith(b"game:") or key.endswith(b"}:games"):
        values = [_decompress(value) for value in values]
    return "\n".join(value.decode("utf-8", "backslashreplace") for value in values if value is not None)


def _decompress(value: bytes) -> bytes:
    """Decompress a game. Return other values, such as a game's id, unchanged."""
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


async def find_traces(store: Store, *words: str) -> list[str]:
    """Return the keys that contain one of the words, in upper or lower case.

    A number must be a whole word, because times and secrets can contain its digits.
    """
    pattern = re.compile(
        "|".join(rf"(?<![\da-f]){word}(?![\da-f])" if word.isdecimal() else re.escape(word) for word in words),
        re.IGNORECASE,
    )
    return sorted(key for key, text in (await dump_store(store)).items() if pattern.search(f"{key}\n{text}"))
