"""`python -m benchmarks pictures`: the cost of a hand's picture with several painters."""

import asyncio
import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Annotated

import typer

from benchmarks.limits import PATIENCE, within
from benchmarks.other_painters import resvg_painter, vips_painter
from bot.panel import Panel, Span
from bot.panel_picture import CardStyle, Picture
from bot.pictures import pool
from bot.pictures.pool import PicturePool
from bot.pictures.scene import Scene
from bot.pictures.scene_builder import hand_scene
from bot.store.entries import Entry, FirstDeal, Move, Open, Sit
from bot.tables.snapshot import take_snapshot
from bot.tables.table import Table
from engine import GAMES
from engine.options import RELEASE, resolve
from engine.robots import make_robot

Painter = Callable[[Scene], bytes]

NAMES = ("Anna", "Bruno", "Caterina", "Domenico")
EACH = 8  # the other painters are slow, so they paint only every eighth picture
TICK = 0.001  # seconds between checks for a blocked event loop


def pillow_painter() -> Painter:
    """Return the bot's painter: Pillow, with cards made once by resvg."""
    from bot.pictures.painter import paint  # noqa: PLC0415 - imported when it is measured, like the others

    return paint


PAINTERS: dict[str, Callable[[], Painter]] = {
    "Pillow, cards made once (the bot's)": pillow_painter,
    "resvg, the whole table each time": resvg_painter,
    "pyvips, cards made once": vips_painter,
}


def tables_of(game: str) -> Iterator[tuple[Table, int]]:
    """Yield a table at each turn of a deal, with the seat to move."""
    random, kind = Random(game), GAMES[game]
    sits = [Sit(seat, f"p:{seat}", NAMES[seat]) for seat in range(kind.seats)]
    rules = resolve(kind.rules, {}).model_dump()
    start: list[Entry] = [Open(game, "p:0", NAMES[0]), *sits, FirstDeal(random.randbytes(32), RELEASE, rules)]
    table = Table("BENCH").with_entries(start, "u")
    greedy = make_robot("greedy", random)
    while table.game and not table.game.needs_deal and (seat := table.game.turn) is not None:
        yield table, seat
        move = greedy.choose(table.game.view(seat), table.game.history(seat))
        assert move
        table = table.with_entries([Move(seat, move)], "u")


def scenes_of(game: str, style: CardStyle) -> list[Scene]:
    """Return the hands of a deal, each as its player sees it at a turn."""
    scenes = (hand_scene(take_snapshot(table, seat), "en", "italian", style) for table, seat in tables_of(game))
    return [scene for scene in scenes if scene]


def measure(name: str, paint: Painter, scenes: Sequence[Scene]) -> None:
    start = time.process_time()
    for scene in scenes:
        paint(scene)
    first = time.process_time() - start
    times, sizes = [], []
    for scene in scenes:
        start = time.process_time()
        png = paint(scene)
        times.append(1000 * (time.process_time() - start))
        sizes.append(len(png) / 1000)
    times.sort()
    typer.echo(
        f"  {name:38} {statistics.median(times):6.1f} ms of CPU, p90 {times[len(times) * 9 // 10]:6.1f} ms,"
        f" {statistics.median(sizes):5.1f} kB, at most {max(sizes):5.1f} kB; the first time {first:.1f} s for all"
    )


async def measure_pool(scenes: Sequence[Scene]) -> None:
    """Print how long pictures take in the pool, and the load on the bot's own process."""
    pictures = PicturePool()
    panels = [Panel((Span("text"),), picture=Picture(scene, "")) for scene in scenes]
    try:
        async with within(PATIENCE, "the first picture"):
            while not (await pictures.paint_panel(panels[0])).picture:
                typer.echo(f"  the pool is not ready after {pool.MAX_WAIT_SECONDS:g} s")
                await asyncio.sleep(1)
        start = time.process_time()
        times = await _time_pictures(pictures, panels[1::2])
        own = 1000 * (time.process_time() - start) / len(times)
        ticking = asyncio.create_task(_longest_wait())
        await _time_pictures(pictures, panels[2::2])
        ticking.cancel()
        longest = await ticking
    finally:
        pictures.stop()
        for process in multiprocessing.active_children():
            process.join(PATIENCE)
    times.sort()
    typer.echo(
        f"in the pool, one after the other: median {statistics.median(times):.1f} ms,"
        f" p90 {times[len(times) * 9 // 10]:.1f} ms, of these {own:.2f} ms of the bot's own CPU;"
        f" its event loop was held up for {1000 * longest:.1f} ms at most"
    )


async def _time_pictures(pictures: PicturePool, panels: Sequence[Panel]) -> list[float]:
    """Return the milliseconds until each picture was ready."""
    times = []
    async with within(PATIENCE, "the pictures"):
        for panel in panels:
            start = time.perf_counter()
            await pictures.paint_panel(panel)
            times.append(1000 * (time.perf_counter() - start))
    return times


async def _longest_wait() -> float:
    """Return the longest delay of the event loop in seconds, until cancelled."""
    longest = 0.0
    while True:
        start = time.perf_counter()
        try:
            await asyncio.sleep(TICK)
        except asyncio.CancelledError:
            return longest
        longest = max(longest, time.perf_counter() - start - TICK)


def command(
    game: Annotated[list[str] | None, typer.Option(help="Only this game. Can be repeated.")] = None,
    easy: Annotated[bool, typer.Option("--easy", help="Cards with large signs.")] = False,
) -> None:
    """Measure painters of hands: CPU, bytes, and delays of the event loop."""
    scenes = [scene for game_id in game or GAMES for scene in scenes_of(game_id, "easy" if easy else "classic")]
    typer.echo(f"{len(scenes)} hands, one deal of each game")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    asyncio.run(measure_pool(scenes))
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    own_memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    typer.echo(
        f"memory at most: {child / 1024:.0f} MB for the pool's process, {own_memory / 1024:.0f} MB more for the bot's"
    )
    for number, (name, make) in enumerate(PAINTERS.items()):
        try:
            paint = make()
        except ImportError as error:
            typer.echo(f"  {name:38} is not installed: {error.name}")
            continue
        measure(name, paint, scenes[:: EACH if number else 1])
