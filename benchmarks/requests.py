"""`python -m benchmarks requests`: the CPU of a request to a platform, over aiohttp's session and written directly.

Both edit a message of the Discord server for benchmarks, which is another process.
"""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable

import aiohttp
import typer

from benchmarks.platforms import start_server
from bot.http.direct_requests import DirectRequests

ROUNDS, REQUESTS, AT_ONCE = 25, 200, 16

HEADERS = {"Authorization": "Bot bench", "Content-Type": "application/json", "User-Agent": "bench"}
TIMEOUT = aiohttp.ClientTimeout(total=20, connect=5)
BUTTONS = [{"type": 2, "style": 2, "label": f"Card {number}", "custom_id": f"card{number}"} for number in range(5)]
ROWS = [{"type": 1, "components": BUTTONS}] * 4
BODY = json.dumps({"components": [{"type": 10, "content": "x" * 500}, *ROWS], "attachments": []}).encode()


async def cpu_seconds(send: Callable[[], Awaitable[None]]) -> float:
    """Return the CPU of this process for one of `REQUESTS` requests."""

    async def send_some() -> None:
        for _ in range(REQUESTS // AT_ONCE):
            await send()

    started = time.process_time()
    await asyncio.gather(*(send_some() for _ in range(AT_ONCE)))
    return (time.process_time() - started) / (REQUESTS // AT_ONCE * AT_ONCE)


async def measure() -> None:
    async with start_server("benchmarks.discord_server") as server, aiohttp.ClientSession() as session:
        url, direct = f"{server.url}/api/v10/channels/2/messages/1", DirectRequests(session)

        async def send_by_session() -> None:
            async with session.patch(url, data=BODY, headers=HEADERS, timeout=TIMEOUT) as response:
                await response.text()

        async def send_directly() -> None:
            await (await direct.send("PATCH", url, HEADERS, BODY, TIMEOUT)).text()

        rounds = [(await cpu_seconds(send_by_session), await cpu_seconds(send_directly)) for _ in range(ROUNDS)]
    ratios = [after / before for before, after in rounds]
    for name, times in zip(("aiohttp's session", "directly"), zip(*rounds, strict=True), strict=True):
        typer.echo(f"{name}: {1e6 * statistics.median(times):.0f} µs of CPU a request, median of {ROUNDS} rounds")
    typer.echo(f"directly to session: {statistics.median(ratios):.2f} x ({min(ratios):.2f} to {max(ratios):.2f})")


def run() -> None:
    """Measure the CPU of a request over aiohttp's session and written directly, in turn."""
    asyncio.run(measure())
