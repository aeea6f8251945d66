"""Load recorded stores into a real store, and recorded messages into a fake platform."""

import gzip
import json
from itertools import count
from pathlib import Path
from typing import Any

from bot.panel import Button, Panel, Span
from tests.bot.fake_platform import FakePlatform


def load_recording(layout: int) -> dict[str, Any]:
    """Return the recording of a release, by the number of its store layout."""
    found: dict[str, Any] = json.loads(
        gzip.decompress((Path(__file__).parent / f"layout{layout}.json.gz").read_bytes())
    )
    return found


async def restore_keys(client: Any, keys: list[dict[str, Any]]) -> None:
    """Write recorded keys into a store."""
    for one in keys:
        name, value = one["key"].encode("latin-1"), one["value"]
        if one["type"] == "string":
            await client.set(name, value.encode("latin-1"))
        elif one["type"] == "list":
            await client.rpush(name, *(entry.encode("latin-1") for entry in value))
        elif one["type"] == "hash":
            await client.hset(name, mapping={k.encode("latin-1"): v.encode("latin-1") for k, v in value.items()})
        elif one["type"] == "set":
            await client.sadd(name, *(entry.encode("latin-1") for entry in value))
        else:
            await client.zadd(name, {member.encode("latin-1"): score for member, score in value.items()})


def restore_platform(shown: dict[str, Any]) -> FakePlatform:
    """Return a fake platform with the recorded messages."""
    fake = FakePlatform()
    for place, messages in shown.items():
        for number, panel in messages.items():
            rows = tuple(tuple(Button(*button) for button in row) for row in panel["rows"])
            fake.messages[place][number] = Panel(tuple(Span(*span) for span in panel["text"]), rows)
    fake._numbers = count(100_000)
    return fake
