"""The second half of `python -m benchmarks web`: two hundred tables, each played on two pages.

Times run from a move's commit until the other player's page receives it. The baseline, in the same run, sends the same
number of bytes to the same number of pages with aiohttp alone. Readers run in their own process
(`benchmarks.page_readers`).
"""

import asyncio
import json
import secrets
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import NamedTuple

import typer
from aiohttp import ClientSession, CookieJar, web

from benchmarks.limits import PATIENCE, within
from benchmarks.site import bot_with_pages
from bot.site.hand_page import hand_page
from bot.worker import Worker

TABLES = 200
MOVES_A_SECOND = 200
SECONDS = 10
TABLES_EACH = 10  # tables of each person, because the bot limits the rate of new people

GAME = "metamazzo"


class Page(NamedTuple):
    path: str  # of the page's WebSocket
    cookie: str


class CommittedMove(NamedTuple):
    page: int  # the page of the other player
    version: int  # the table's version after the move
    at: float  # seconds of the monotonic clock


Move = Callable[[int], Awaitable[CommittedMove]]  # makes the move with this number


def run(tables: int, seconds: float) -> None:
    """Print how long pages took to receive moves, next to aiohttp alone."""
    typer.echo(
        f"{tables} tables on two pages each, {MOVES_A_SECOND} moves/s for {seconds:g} s, commit to the other page"
    )
    typer.echo(f"{'':16}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'missed':>8}")
    bot_times, missed, size = asyncio.run(_measure_bot(tables, seconds))
    bare = asyncio.run(_measure_baseline(tables, seconds, size))
    for name, (times, lost_count) in (("aiohttp alone", bare), ("buongioco", (bot_times, missed))):
        p99 = statistics.quantiles(times, n=100)[98]
        typer.echo(f"{name:16}{statistics.median(times):9.1f}{p99:9.1f}{max(times):9.1f}{lost_count:8}")


async def _measure_bot(tables: int, seconds: float) -> tuple[list[float], int, int]:
    """Return the results of `_measure`, and the number of characters that a page receives."""
    async with bot_with_pages() as (worker, port):
        codes, pages = await _open_tables(worker, port, tables)

        async def move(number: int) -> CommittedMove:
            index = number % tables
            table = await worker.room.load_cached(codes[index])
            assert table.game
            turn = table.game.turn
            assert turn is not None
            chair = table.chairs[turn]
            assert chair
            card = next(move for move in table.game.legal_moves(turn) if move.startswith("play "))
            after = await worker.room.make_move(table.code, chair.person, table.version, card, f"m{number}")
            return CommittedMove(2 * index + 1 - turn, after.version, time.monotonic())

        times, missed = await _measure(port, pages, seconds, move)
        table = await worker.room.table(codes[0])
        person = table.opener.person
        size = len(json.dumps(asdict(hand_page(table, person, await worker.people.person(person))), ensure_ascii=False))
        return times, missed, size


async def _open_tables(worker: Worker, port: int, tables: int) -> tuple[list[str], list[Page]]:
    """Open tables with two people each on pages, without cuts. Return codes, and pages by table and seat."""
    url = f"http://127.0.0.1:{port}"
    codes: list[str] = []
    pages: list[Page] = []
    async with within(4 * PATIENCE, f"{tables} tables"):
        for begin in range(0, tables, TABLES_EACH):
            async with _browser(url) as anna, _browser(url) as bruno:
                for _ in range(min(TABLES_EACH, tables - begin)):
                    form = {"game": GAME, "robot": "", "friend": "1", "key": secrets.token_hex(8), "name": "Anna"}
                    async with anna.post("/play", data=form) as answer:
                        codes.append(answer.url.path.rpartition("/")[2])
                    opener = (await worker.room.table(codes[-1])).opener
                    await worker.challenges.choose_cuts(codes[-1], opener.person, False, "no cuts")
                    async with bruno.post(f"/t/{codes[-1]}", data={"name": "Bruno"}) as answer:
                        answer.raise_for_status()
                    pages += [Page(f"/t/{codes[-1]}/live", _cookie(browser)) for browser in (anna, bruno)]
    return codes, pages


@asynccontextmanager
async def _browser(url: str) -> AsyncIterator[ClientSession]:
    jar = CookieJar(unsafe=True)
    async with ClientSession(url, headers={"Origin": url}, cookie_jar=jar) as session:
        yield session


def _cookie(session: ClientSession) -> str:
    return "; ".join(f"{cookie.key}={cookie.value}" for cookie in session.cookie_jar)


async def _measure_baseline(tables: int, seconds: float, size: int) -> tuple[list[float], int]:
    """Measure aiohttp alone: each move goes to both pages of its table, in as many bytes as the bot's."""
    sockets: dict[int, web.WebSocketResponse] = {}
    filling = "x" * size

    def state(version: int) -> str:
        return json.dumps({"table": {"version": version, "filling": filling}}, separators=(",", ":"))

    async def live(request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_str(state(0))
        sockets[int(request.match_info["page"])] = socket
        async for _ in socket:
            pass
        return socket

    async def move(number: int) -> CommittedMove:
        index, version = number % tables, 1 + number // tables
        committed = time.monotonic()
        for page in (2 * index, 2 * index + 1):
            await sockets[page].send_str(state(version))
        return CommittedMove(2 * index, version, committed)

    app = web.Application()
    app.router.add_get("/{page}", live)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        pages = [Page(f"/{page}", "") for page in range(2 * tables)]
        return await _measure(runner.addresses[0][1], pages, seconds, move)
    finally:
        await runner.cleanup()


async def _measure(port: int, pages: Sequence[Page], seconds: float, move: Move) -> tuple[list[float], int]:
    """Return the milliseconds from each commit until the other page had the move, and the number of missed moves."""
    command = [sys.executable, "-m", "benchmarks.page_readers", str(port)]
    pipe = asyncio.subprocess.PIPE
    readers = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, limit=1 << 26)
    assert readers.stdin
    assert readers.stdout
    try:
        readers.stdin.write(json.dumps(pages).encode() + b"\n")
        async with within(PATIENCE, f"{len(pages)} pages to show their tables"):
            await readers.stdout.readline()
        started, made_times = time.monotonic(), []
        for number in range(int(seconds * MOVES_A_SECOND)):
            await asyncio.sleep(max(0.0, started + number / MOVES_A_SECOND - time.monotonic()))
            made_times.append(await move(number))
        await asyncio.sleep(1.0)
        readers.stdin.close()
        async with within(PATIENCE, "the times of the pages"):
            shown_times = json.loads(await readers.stdout.read())
    finally:
        if readers.returncode is None:
            readers.kill()
        await readers.wait()
    arrivals = [shown_times[move.page].get(str(move.version)) for move in made_times]
    times = [
        1000 * max(0.0, arrival - move.at)
        for move, arrival in zip(made_times, arrivals, strict=True)
        if arrival is not None
    ]
    return times, arrivals.count(None)
