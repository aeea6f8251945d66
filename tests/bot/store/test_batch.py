"""Scripts called in batches."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from bot.store import Store
from bot.store.batch import BatchedScript
from bot.store.cluster import Command

APPEND = "return redis.call('RPUSH', KEYS[1], ARGV[1])  -- no server has seen this text"


async def test_calls_keep_order_on_server_without_script(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A restarted server knows no scripts. The next call is made while each batch is in flight."""
    script, calls = BatchedScript(store.client, APPEND), iter("abcd")
    tasks: list[asyncio.Task[Any]] = []
    send = BatchedScript._send_commands

    async def call_during(self: BatchedScript, place: str, commands: Sequence[Command]) -> list[Any]:
        call_next()
        # The call joins the queue before the answers to this batch come back.
        await asyncio.sleep(0)
        return await send(self, place, commands)

    def call_next() -> None:
        if value := next(calls, ""):
            tasks.append(asyncio.create_task(script(["list"], [value])))

    monkeypatch.setattr(BatchedScript, "_send_commands", call_during)
    call_next()
    async with asyncio.timeout(10):
        while len(tasks) < 4 or not all(task.done() for task in tasks):
            await asyncio.sleep(0)
    assert await store.client.lrange("list", 0, -1) == [b"a", b"b", b"c", b"d"]
