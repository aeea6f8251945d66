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
    recording: dict[str, Any] = json.loads(
        gzip.decompress((Path(__file__).parent / f"layout{layout}.json.gz").read_bytes())
    )
    return recording


async def restore_keys(client: Any, keys: list[dict[str, Any]]) -> None:
    """Write recorded keys into a store."""
    for entry in keys:
        name, value = entry["key"].encode("latin-1"), entry["value"]
        if entry["type"] == "string":
            await client.set(name, value.encode("latin-1"))
        elif entry["type"] == "list":
            await client.rpush(name, *(item.encode("latin-1") for item in value))
        elif entry["type"] == "hash":
            await client.hset(name, mapping={k.encode("latin-1"): v.encode("latin-1") for k, v in value.items()})
        elif entry["type"] == "set":
            await client.sadd(name, *(item.encode("latin-1") for item in value))
        else:
            await client.zadd(name, {member.encode("latin-1"): score for member, score in value.items()})


def restore_platform(panels: dict[str, Any]) -> FakePlatform:
    """Return a fake platform with the recorded messages."""
    fake = FakePlatform()
    for place, messages in panels.items():
        for number, panel in messages.items():
            rows = tuple(tuple(Button(*button) for button in row) for row in panel["rows"])
            fake.messages[place][number] = Panel(tuple(Span(*span) for span in panel["text"]), rows)
    fake._numbers = count(100_000)
    return fake
