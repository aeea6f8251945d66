"""`python -m benchmarks web`: two thousand watchers of one table, and many tables played on pages (`benchmarks.pages`).

One process serves all watchers, over streams of the API. The baseline, in the same run, sends the same lines to as many
connections with aiohttp alone. Watchers run in their own process (`benchmarks.watchers`). Times are measured from just
before the move until a watcher has read it.
"""

import asyncio
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import typer
from aiohttp import web

from benchmarks import pages
from benchmarks.limits import PATIENCE, within
from benchmarks.site import bot_with_pages
from bot.http.connections import raise_file_limit
from bot.running import logs
from bot.site.api_models import public_table
from bot.worker import Worker

WATCHERS = 2000
MOVES = 30
PAUSE = 0.3  # seconds between moves, faster than people play

Move = Callable[[int], Awaitable[int]]  # makes the move with this number and returns the new version


class Figures(NamedTuple):
    """Figures of a run. Times are in milliseconds from a move to a watcher."""

    median: float
    p99: float
    longest: float
    cpu: float  # ms per move
    memory: float  # MB added by the watchers
    missed: int


def run(
    watchers: int = WATCHERS, moves: int = MOVES, tables: int = pages.TABLES, seconds: float = pages.SECONDS
) -> None:
    """Measure one table with many watchers, and many tables played on pages."""
    logs.set_up("error")
    raise_file_limit(2 * watchers + 1000)
    typer.echo(f"{watchers} watchers of one table, {moves} moves, one every {PAUSE} s")
    typer.echo(f"{'':16}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'CPU ms/move':>15}{'MB more':>9}{'missed':>8}")
    for name, measured in (("aiohttp alone", _measure_baseline), ("buongioco", _measure_bot)):
        found = asyncio.run(measured(watchers, moves))
        typer.echo(
            f"{name:16}{found.median:9.1f}{found.p99:9.1f}{found.longest:9.1f}{found.cpu:15.1f}"
            f"{found.memory:9.1f}{found.missed:8}"
        )
    typer.echo()
    pages.run(tables, seconds)


async def _measure_bot(watchers: int, moves: int) -> Figures:
    """Measure a complete bot, with its pages and store, during a game between two people."""
    async with bot_with_pages() as (worker, port):
        code, watch_id = await _open_table(worker)
        path = f"/api/v1/tables/{watch_id}/stream"

        async def move(number: int) -> int:
            table = await worker.room.load_cached(code)
            assert table.game
            turn = table.game.turn
            assert turn is not None
            card = next(move for move in table.game.legal_moves(turn) if move.startswith("play "))
            after = await worker.room.make_move(code, f"playground:{turn + 1}", table.version, card, f"m{number}")
            return after.version

        return await _measure(port, path, watchers, moves, move)


async def _open_table(worker: Worker) -> tuple[str, str]:
    table = await worker.challenges.open_table("metamazzo", "playground:1", "Anna", "b0", host="playground:bench")
    table = await worker.challenges.sit(table.code, "playground:2", "Bruno", "b1")
    return table.code, await worker.watching.watch_id(table)


async def _measure_baseline(watchers: int, moves: int) -> Figures:
    """Measure aiohttp alone: it writes each line to all connections in turn."""
    responses: list[web.StreamResponse] = []
    is_over = asyncio.Event()
    example = await _example_line()

    def line(version: int) -> bytes:
        return json.dumps(example | {"version": version}, separators=(",", ":")).encode() + b"\n"

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        await response.write(line(0))
        responses.append(response)
        await is_over.wait()
        return response

    async def move(number: int) -> int:
        text = line(number + 1)
        for response in responses:
            await response.write(text)
        return number + 1

    app = web.Application()
    app.router.add_get("/stream", stream)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        return await _measure(runner.addresses[0][1], "/stream", watchers, moves, move)
    finally:
        is_over.set()
        await runner.cleanup()


async def _example_line() -> dict[str, object]:
    """Return a line of the stream as watchers get it."""
    from bot.store.entries import FirstDeal, Open, Sit  # noqa: PLC0415
    from bot.tables.table import Table  # noqa: PLC0415
    from engine import GAMES  # noqa: PLC0415
    from engine.options import RELEASE, resolve  # noqa: PLC0415

    rules = resolve(GAMES["metamazzo"].rules, {}).model_dump()
    sitting = [Sit(0, "p:1", "Anna"), Sit(1, "p:2", "Bruno")]
    table = Table("ABCDEF").with_entries(
        [Open("metamazzo", "p:1", "Anna"), *sitting, FirstDeal(bytes(32), RELEASE, rules)], "u"
    )
    table_json: dict[str, object] = json.loads(public_table(table).model_dump_json())
    return table_json


async def _measure(port: int, path: str, watchers: int, moves: int, move: Move) -> Figures:
    gc.collect()
    before = _memory_bytes()
    async with _crowd(port, path, watchers) as crowd:
        assert crowd.stdin
        assert crowd.stdout
        async with within(PATIENCE, f"{watchers} watchers to read the table"):
            await crowd.stdout.readline()
        made_at: dict[int, float] = {}
        cpu = time.process_time()
        for number in range(moves):
            moved_at = time.monotonic()
            made_at[await move(number)] = moved_at
            await asyncio.sleep(PAUSE)
        # Work that has not finished yet is small compared with the pauses.
        cpu = time.process_time() - cpu
        memory = _memory_bytes() - before
        crowd.stdin.close()
        async with within(PATIENCE, "the times of the watchers"):
            read_at = json.loads(await crowd.stdout.read())
    waited = [
        1000 * (arrival - moved_at)
        for version, moved_at in made_at.items()
        for arrival in read_at.get(str(version), [])
    ]
    return Figures(
        statistics.median(waited),
        statistics.quantiles(waited, n=100)[98],
        max(waited),
        1000 * cpu / moves,
        memory / 1e6,
        watchers * moves - len(waited),
    )


@asynccontextmanager
async def _crowd(port: int, path: str, watchers: int) -> AsyncIterator[asyncio.subprocess.Process]:
    command = [sys.executable, "-m", "benchmarks.watchers", str(port), path, str(watchers)]
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=1 << 26)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _memory_bytes() -> int:
    """Return the resident memory of this process in bytes (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
