"""`python -m benchmarks presses`: presses at many tables, with an adapter that counts messages.

Presses pass through handlers, room, store and delivery. A press is timed from the handler to the edit of the presser's
own panel. The baseline, in the same run, is the store alone: bare appends of the same size, at the same rate.
"""

import asyncio
import cProfile
import itertools
import statistics
import tempfile
import time
from collections import defaultdict
from importlib import import_module
from inspect import signature
from pathlib import Path
from random import Random
from typing import Annotated

import typer

from benchmarks.limits import PATIENCE, BenchFailed, within
from bot.handlers import Dispatcher
from bot.panel import Panel
from bot.platform import Command, NotDelivered, Person, Press, Reply, SentMessage, private_place
from bot.rate_limiter import RateLimit
from bot.running import logs
from bot.running.run import tune_garbage_collector
from bot.settings import Settings
from bot.store import EmbeddedStore, Store, open_store
from bot.tables.table import Table
from bot.worker import Worker
from engine import legal_moves_for_record

PLATFORMS = ("discord", "telegram")  # modules of this package that measure a platform

RATE, SECONDS = 200, 15
TABLES = (100, 20_000)
AT_ONCE = 64
FLAT_OUT, COUNTED = 6000, 1000
GAME = "metamazzo"
SLOWEST = 20  # tables opened, and presses made, per second on the slowest machine; sets time limits


class CountingAdapter:
    """An adapter that accepts every message. ``written`` has, by place, a future for the time of the next message."""

    platform = "bench"
    healthy = True
    has_ephemeral = False
    pages_url = ""
    shows_pictures = False
    has_live_hands = False
    plays_here = False

    def __init__(self) -> None:
        self.written: dict[str, asyncio.Future[float]] = {}
        self.messages: dict[str, str] = {}
        self.calls = 0
        self._numbers = itertools.count(1)

    async def start(self) -> None:
        return

    async def close(self) -> None:
        return

    async def serve(self) -> None:
        return

    def rate_limit(self, place: str) -> RateLimit:
        return RateLimit()

    def invitation_url(self, code: str, place: str, message: str) -> str:
        return ""

    def overall_rate_limit(self) -> RateLimit:
        return RateLimit()

    def has_admins(self, place: str) -> bool:
        return False

    async def is_admin(self, place: str, person: str) -> bool:
        raise NotDelivered("groups of this platform have no admins")

    def draws(self, _place: str, _panel: Panel) -> bool:
        return False

    async def send(self, place: str, panel: Panel, key: str, *, silent: bool = False) -> SentMessage:
        self._count(place)
        message = self.messages[place] = str(next(self._numbers))
        return SentMessage(message)

    async def edit(self, place: str, sent: SentMessage, panel: Panel) -> SentMessage:
        self._count(place)
        return sent

    async def delete(self, place: str, message: str) -> None:
        self.calls += 1

    def _count(self, place: str) -> None:
        self.calls += 1
        write_future = self.written.pop(place, None)
        if write_future and not write_future.done():
            write_future.set_result(time.perf_counter())


def check_done(reply: Reply) -> None:
    """Raise BenchFailed for a refusal, for example because the store was briefly unreachable."""
    if reply.toast:
        raise BenchFailed(f"a press or command was refused: {reply.toast}")


class Crowd:
    """People at many tables of a game for two. Each table has its own group."""

    def __init__(self, worker: Worker, counter: CountingAdapter, seed: int) -> None:
        self.worker, self.counter, self.random = worker, counter, Random(seed)
        self.dispatcher = Dispatcher(worker)
        self.codes: list[str] = []
        self.busy: set[str] = set()
        self._keys = itertools.count(1)

    def person(self, number: int) -> Person:
        return Person(f"bench:{number}", f"Person {number}", "", "en")

    async def open_tables(self, count: int) -> None:
        gate = asyncio.Semaphore(AT_ONCE)
        with typer.progressbar(length=count, label=f"{count:,} tables", file=None) as bar:

            async def open_one(number: int) -> None:
                async with gate:
                    await self.open_table(number)
                    bar.update(1)

            begin = len(self.codes)
            async with within(PATIENCE + (count - begin) / SLOWEST, f"{count:,} tables to be opened"):
                await asyncio.gather(*(open_one(number) for number in range(begin, count)))
        async with within(PATIENCE, "all tables to be shown"):
            await self.worker.wait_until_idle()

    async def open_table(self, number: int) -> None:
        first, second = self.person(2 * number), self.person(2 * number + 1)
        place = f"bench:g{number}"
        await self.worker.people.update_chat(place, clock="86400")
        check_done(await self.dispatcher.handle_command(Command(self.next_key(), first, place, "challenge", (GAME,))))
        [table] = await self.worker.room.lists.tables_of(first.id)
        check_done(
            await self.dispatcher.handle_press(
                Press(self.next_key(), second, place, "1", f"1t{table.code}:sit", genuine=True)
            )
        )
        self.codes.append(table.code)

    def next_key(self) -> str:
        return f"b{next(self._keys)}"

    async def press(self) -> float:
        """Make a random move at a random table. Return the seconds until the presser's panel shows it."""
        code = self.random.choice(self.codes)
        while code in self.busy:
            code = self.random.choice(self.codes)
        self.busy.add(code)
        try:
            # Make the payload before the timing starts, because the bot makes payloads when it draws a panel.
            table = await self.worker.room.load_cached(code)
            game = table.game
            assert game
            seat = game.turn
            chair = table.to_move
            assert chair
            assert seat is not None
            move = self.random.choice(legal_moves_for_record(game, seat))
            person = Person(chair.person, chair.name, "", "en")
            place = private_place(person.id)
            message = self.counter.messages[place]
            press = Press(self.next_key(), person, place, message, f"1m{code}:{table.version}:{move}", genuine=True)
            written = self.counter.written[press.place] = asyncio.get_running_loop().create_future()
            start = time.perf_counter()
            check_done(await self.dispatcher.handle_press(press))
            took: float = await written - start
            if (now := self.worker.room.cached_table(code)) and now.phase != "playing":
                await self._replace(table)
            return took
        finally:
            self.busy.discard(code)

    async def _replace(self, table: Table) -> None:
        self.codes.remove(table.code)
        await self.open_table(len(self.codes) + 10**6 + next(self._keys))


async def press_at_rate(crowd: Crowd) -> list[float]:
    """Press at RATE for SECONDS. Each press starts on time, even if earlier ones are not finished."""
    loop = asyncio.get_running_loop()
    start, tasks = loop.time(), []
    for number in range(RATE * SECONDS):
        await asyncio.sleep(max(0.0, start + number / RATE - loop.time()))
        tasks.append(asyncio.create_task(crowd.press()))
    async with within(PATIENCE + len(tasks) / SLOWEST, f"{len(tasks):,} presses at {RATE}/s to reach their panels"):
        return list(await asyncio.gather(*tasks))


async def press_flat_out(crowd: Crowd, presses: int) -> float:
    """Return presses a second, with AT_ONCE in flight."""
    press_numbers = itertools.count()

    async def press_repeatedly() -> None:
        while next(press_numbers) < presses:
            await crowd.press()

    start = time.perf_counter()
    async with within(PATIENCE + presses / SLOWEST, f"{presses:,} presses, {AT_ONCE} at once, to reach their panels"):
        await asyncio.gather(*(press_repeatedly() for _ in range(AT_ONCE)))
    return presses / (time.perf_counter() - start)


async def count_calls(crowd: Crowd) -> float:
    """Return the number of Python and C function calls per press. Other load on the machine hardly changes it."""
    with cProfile.Profile() as profile:
        await press_flat_out(crowd, COUNTED)
    return sum(entry.callcount for entry in profile.getstats()) / COUNTED


async def append_at_rate(store: Store) -> list[float]:
    """Measure the baseline: appends of a move's size at the same rate. Return their times."""
    loop = asyncio.get_running_loop()
    times: list[float] = []

    async def append(number: int) -> None:
        start = time.perf_counter()
        await store.client.rpush(f"bare:{number % 100}", b"0 play 3D\ttg:123456789")
        times.append(time.perf_counter() - start)

    start, tasks = loop.time(), []
    for number in range(RATE * 5):
        await asyncio.sleep(max(0.0, start + number / RATE - loop.time()))
        tasks.append(asyncio.create_task(append(number)))
    async with within(PATIENCE, "the store to take bare appends"):
        await asyncio.gather(*tasks)
    return times


async def count_commands(store: Store) -> dict[str, int]:
    stats = await store.client.info("commandstats")
    counts: dict[str, int] = defaultdict(int)
    for name, row in stats.items():
        counts[name.removeprefix("cmdstat_")] = int(row["calls"])
    return counts


# Commands that a press waits for. Commands inside scripts are not counted.
TRIPS = ("evalsha", "lrange", "hgetall", "smembers", "get", "set", "sadd")


def percentile(times: list[float], part: float) -> float:
    """Return a percentile in milliseconds."""
    return 1000 * statistics.quantiles(times, n=1000)[round(part * 10) - 1]


async def measure(tables: tuple[int, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        embedded = EmbeddedStore(Path(folder))
        await embedded.start()
        try:
            async with open_store(embedded.url) as store:
                await report(store, tables)
        finally:
            await embedded.stop()


async def report(store: Store, tables: tuple[int, ...]) -> None:
    bare = await append_at_rate(store)
    typer.echo(
        f"baseline, bare appends at {RATE}/s: p50 {percentile(bare, 50):.2f} ms, p99 {percentile(bare, 99):.2f} ms"
    )
    counter = CountingAdapter()
    worker = Worker(store, Settings(_env_file=None, playground=False, rate_limits=False, analyse_results=False))
    worker.add_adapter(counter)
    async with within(PATIENCE, "the bot to start"):
        await worker.start()
    crowd = Crowd(worker, counter, 1)
    try:
        for count in tables:
            await crowd.open_tables(count)
            await report_tables(store, crowd, count)
    finally:
        await worker.stop()


async def report_tables(store: Store, crowd: Crowd, count: int) -> None:
    before, calls = await count_commands(store), crowd.counter.calls
    cpu, start = time.process_time(), time.perf_counter()
    times = await press_at_rate(crowd)
    busy = (time.process_time() - cpu) / (time.perf_counter() - start)
    after = await count_commands(store)
    made_count = len(times)
    trips = sum(after[name] - before.get(name, 0) for name in TRIPS)
    typer.echo(
        f"{count:,} live tables, {RATE} presses/s: p50 {percentile(times, 50):.2f}, p99 {percentile(times, 99):.2f} ms"
        f" from press to the presser's panel; {trips / made_count:.2f} store round trips and"
        f" {(crowd.counter.calls - calls) / made_count:.2f} messages a press; {100 * busy:.0f} % of a core"
    )
    cpu = time.process_time()
    rate = await press_flat_out(crowd, FLAT_OUT)
    spent = (time.process_time() - cpu) / FLAT_OUT
    typer.echo(f"{count:,} live tables, {AT_ONCE} at once: {rate:,.0f} presses/s, {1000 * spent:.2f} ms of CPU a press")
    typer.echo(f"{count:,} live tables, {AT_ONCE} at once: {await count_calls(crowd):,.0f} function calls a press")


def command(
    tables: Annotated[list[int] | None, typer.Option(min=10, help="Number of live tables. Can be repeated.")] = None,
    adapter: Annotated[str, typer.Option(help="A platform. The whole bot talks to its server over HTTP.")] = "",
    pictures: Annotated[bool, typer.Option(help="With pictures, uploaded to the platform.")] = False,
    inline: Annotated[bool, typer.Option(help="Inline queries instead of presses.")] = False,
) -> None:
    """Measure presses a second through bot and store, and the time from press to panel."""
    if not adapter and not inline:
        run(tuple(tables) if tables else TABLES)
    elif adapter in PLATFORMS:
        run_platform = import_module(f"benchmarks.{adapter}").run
        if inline and "inline" not in signature(run_platform).parameters:
            typer.echo(f"There are no inline queries on {adapter}.", err=True)
            raise typer.Exit(2)
        chosen_options = {name: True for name, is_chosen in (("pictures", pictures), ("inline", inline)) if is_chosen}
        run_platform(tuple(tables or ()), **chosen_options)
    else:
        typer.echo(f"There is no benchmark for {adapter!r}; there are: {', '.join(PLATFORMS)}.", err=True)
        raise typer.Exit(2)


def run(tables: tuple[int, ...]) -> None:
    """Measure with each number of live tables in turn."""
    logs.set_up("warning")
    tune_garbage_collector()
    asyncio.run(measure(tables))
