"""`python -m benchmarks store`: the size of a live table in the store, and the speed of commits.

The baseline, in the same run, is a bare append to a list in the same Valkey, without script or checks.
"""

import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Awaitable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import typer

from benchmarks import sizes
from benchmarks.limits import within
from benchmarks.presses import CountingAdapter
from bot.settings import Settings
from bot.store import EmbeddedStore, Store, keys, open_store
from bot.tables import Room, Table
from bot.tables.challenges import Challenges
from bot.worker import Worker
from engine import legal_moves_for_record

TABLES = 200
AT_ONCE = 64
PRESSES = 4000
LIMIT = 1200.0  # seconds for the whole benchmark; a fast machine needs thirty
DEALS_BEFORE = 2  # deals played before the measured deal, which is half played


async def open_table(room: Room, game: str, number: int) -> Table:
    """Open a table for two and start its first deal."""
    table = await Challenges(room).open_table(
        game, f"bench:{10**9 + number}", "Giovanna Bianchi", f"open {number}", host=f"bench:-100{10**9 + number}"
    )
    return await Challenges(room).sit(table.code, f"bench:{2 * 10**9 + number}", "Marco Esposito", f"sit {number}")


async def press(room: Room, table: Table, random: Random) -> Table:
    """Play a random legal move."""
    assert table.game
    assert table.game.turn is not None
    seat = table.game.turn
    chair = table.chairs[seat]
    assert chair
    legal = legal_moves_for_record(table.game, seat)
    move = random.choice([option for option in legal if not option.startswith(("bid", "blind"))] or ["bid 5"])
    return await room.make_move(table.code, chair.person, table.version, move, f"tg:{random.randrange(10**9)}")


async def play_to_the_middle(room: Room, game: str, number: int) -> Table:
    random = Random(f"{game} {number}")
    table = await open_table(room, game, number)
    moves = 0
    while table.game and (table.game.deal_number <= DEALS_BEFORE or moves < 20):
        if table.phase == "over":
            await room.store.remove(table.code)
            return await play_to_the_middle(room, game, number + TABLES)
        table = await press(room, table, random)
        moves = moves + 1 if table.game and table.game.deal_number > DEALS_BEFORE else 0
    return table


async def gather_in_groups(work: Sequence[Awaitable[Any]]) -> list[Any]:
    """Await all, at most AT_ONCE at a time, and return the results."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def run_one(task: Awaitable[Any]) -> Any:
        async with gate:
            return await task

    return await asyncio.gather(*map(run_one, work))


PROFILES = (b"person:", b"chat:", b"handle:", b"schema", b"workers")  # prefixes of keys that are not part of games


async def used_memory(store: Store) -> int:
    """Return the bytes of games by the store's own count, with key names and overhead."""
    return sum(
        [
            await store.client.memory_usage(key, samples=0)
            async for key in store.client.scan_iter()
            if not key.startswith(PROFILES) and not key.endswith(b":attended")
        ]
    )


async def measure_table_size(store: Store, game: str) -> tuple[float, float]:
    """Return the bytes in the store for a table in mid-game, with its share of all keys, and the bytes of its log."""
    await store.client.flushall()
    # Run a whole bot, so that all keys of a live game exist: log, shown messages, timer, seats.
    worker = Worker(store, Settings(_env_file=None, playground=False, rate_limits=False, analyse_results=False))
    worker.add_adapter(CountingAdapter())
    await worker.start()
    tables = await gather_in_groups([play_to_the_middle(worker.room, game, number) for number in range(TABLES)])
    await worker.wait_until_idle()
    await worker.stop()
    log_bytes = [sum(map(len, await store.client.lrange(keys.table(table.code), 0, -1))) for table in tables]
    return await used_memory(store) / TABLES, statistics.mean(log_bytes)


async def count_commands(store: Store) -> int:
    """Return the number of commands that clients sent."""
    stats = await store.client.info("commandstats")
    return sum(int(row["calls"]) for name, row in stats.items() if name in ("cmdstat_evalsha", "cmdstat_lrange"))


NEW_NUMBERS = itertools.count(10**6)  # a new number for each table: a repeated request opens none


async def press_one_by_one(store: Store) -> tuple[float, float]:
    """Return presses a second, one after the other, and commands a press."""
    room, random, made_count = Room(store), Random(1), 0
    before, spent = await count_commands(store), 0.0
    while made_count < PRESSES // 4:
        table = await open_table(room, "metamazzo", next(NEW_NUMBERS))
        start = time.perf_counter()
        while table.phase == "playing" and made_count < PRESSES // 4:
            table = await press(room, table, random)
            made_count += 1
        spent += time.perf_counter() - start
    return made_count / spent, (await count_commands(store) - before) / made_count


async def press_at_once(store: Store) -> float:
    """Return presses a second at AT_ONCE tables at the same time."""
    room = Room(store)
    tables = await gather_in_groups([open_table(room, "metamazzo", next(NEW_NUMBERS)) for _ in range(AT_ONCE)])

    async def press_repeatedly(table: Table, number: int) -> None:
        random = Random(number)
        for _ in range(PRESSES // AT_ONCE):
            table = await press(room, table, random)
            if table.phase != "playing":
                table = await open_table(room, "metamazzo", next(NEW_NUMBERS))

    start = time.perf_counter()
    await asyncio.gather(*(press_repeatedly(table, number) for number, table in enumerate(tables)))
    return PRESSES // AT_ONCE * AT_ONCE / (time.perf_counter() - start)


async def append_bare(store: Store, at_once: int) -> float:
    """Return appends a second of a move's text to a list, without checks."""

    async def writer(number: int) -> None:
        for _ in range(PRESSES // at_once // 4):
            await store.client.rpush(f"bare:{number}", b"0 play 3D\ttg:123456789")

    start = time.perf_counter()
    await asyncio.gather(*(writer(number) for number in range(at_once)))
    return PRESSES // at_once // 4 * at_once / (time.perf_counter() - start)


async def measure() -> None:
    with tempfile.TemporaryDirectory() as folder:
        embedded = EmbeddedStore(Path(folder))
        await embedded.start()
        try:
            async with open_store(embedded.url) as store, within(LIMIT, "all measurements of the store"):
                await _report(store)
        finally:
            await embedded.stop()


async def _report(store: Store) -> None:
    typer.echo(f"a table for two in its third deal, {TABLES} of each{'in the store':>22}{'its log as sent':>18}")
    for game in ("pizzichino", "metamazzo", "spades"):
        weight, sent = await measure_table_size(store, game)
        typer.echo(f"  {game:48}{weight:14,.0f} B{sent:16,.0f} B")
    await sizes.report(store)
    await store.client.flushall()
    base, base_many = await append_bare(store, 1), await append_bare(store, AT_ONCE)
    one_by_one, round_trips = await press_one_by_one(store)
    many_at_once = await press_at_once(store)
    typer.echo(f"presses committed, appendfsync always{'presses/s':>16}{'bare appends/s':>16}{'ratio':>8}")
    typer.echo(f"  {'one by one':35}{one_by_one:16,.0f}{base:16,.0f}{one_by_one / base:8.2f}")
    typer.echo(f"  {f'{AT_ONCE} at once':35}{many_at_once:16,.0f}{base_many:16,.0f}{many_at_once / base_many:8.2f}")
    typer.echo(f"store round trips a press: {round_trips:.2f}")


def run() -> None:
    """Measure the size of live tables in the store, and commits a second."""
    asyncio.run(measure())
