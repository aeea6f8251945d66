"""A real bot on a full disk answers each press and loses no acknowledged one. It continues when there is room again.

With `appendfsync always` Valkey exits if it cannot write its log (aof.c, flushAppendOnlyFile: "Can't recover from AOF
write error ... Exiting..."), so the bot starts it again and again.
"""

import asyncio
import json
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from bot.store import EmbeddedStore, open_store
from tests.kills.bot_process import Bot
from tests.kills.harness import Harness
from tests.kills.pages import Page
from tests.kills.players import Players
from tests.long import long

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a full disk needs prlimit(2) or tmpfs")

Release = Callable[[], None]


@asynccontextmanager
async def small_disk(folder: Path) -> AsyncIterator[None]:
    """Mount a small file system for the data, with room for about a hundred pictures, or skip the test."""
    (folder / "data").mkdir(mode=0o700)
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(folder / "data")]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("mounting a file system is not permitted here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder / "data")], check=True)


def fill_disk(bot: Bot) -> Release:
    filler = bot.folder / "data" / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 512)
        except OSError:
            return filler.unlink


def limit_file_size(bot: Bot) -> Release:
    """Limit the files that the bot, its store and its new processes write, to about the size of the store's log."""
    assert sys.platform == "linux"
    assert bot.process
    data = bot.folder / "data"
    limit = max(file.stat().st_size for file in (data / "appendonlydir").iterdir()) + 100
    _soft, hard = resource.prlimit(bot.process.pid, resource.RLIMIT_FSIZE)
    for process in (bot.process.pid, int((data / "valkey.pid").read_text())):
        resource.prlimit(process, resource.RLIMIT_FSIZE, (limit, hard))

    def free() -> None:
        assert bot.process
        resource.prlimit(bot.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        # A Valkey that started with the limit keeps it, reaches it and exits.

    return free


@pytest.mark.long
@pytest.mark.parametrize("cause", ["files cannot grow", long("no room")])
async def test_full_disk_loses_no_acknowledged_press(tmp_path: Path, cause: str) -> None:
    if cause == "no room":
        async with small_disk(tmp_path):
            await check_full_disk(tmp_path, fill_disk)
    else:
        await check_full_disk(tmp_path, limit_file_size)


async def read_health(bot: Bot, session: aiohttp.ClientSession) -> dict[str, Any]:
    async with session.get(f"{bot.url}/healthz") as answer:
        health: dict[str, Any] = await answer.json()
        assert answer.status == (200 if health["healthy"] else 503)
        return health


async def check_full_disk(folder: Path, fill: Callable[[Bot], Release]) -> None:
    bot = Bot(folder, BUONGIOCO_LOG_LEVEL="warning")
    harness = Harness(Page(bot), 1)
    page, players = harness.page, harness.players
    async with aiohttp.ClientSession() as session:
        try:
            await bot.start()
            await page.connect(session)
            listener = asyncio.create_task(page.listen())
            await players.fill_tables(2)
            await players.fill_tables(2)
            async with asyncio.timeout(60):
                while len(page.accepted) <= 20:
                    await press_randomly(players, 1)

            free = fill(bot)
            before = len(page.refused)
            async with asyncio.timeout(60):
                while len(page.refused) < before + 20:
                    await press_randomly(players, 1)

            # No press waits for an answer.
            assert not page.futures

            # The store can delete a file of its own, which leaves room for a moment.
            async with asyncio.timeout(60):
                while (await read_health(bot, session))["store"]:
                    await press_randomly(players, 1)

            # The store is restarted after longer and longer pauses, and only its first death is logged.
            await asyncio.sleep(3)
            events = count_events(bot)
            assert events["store_died"] == 1, events
            assert events["store_failed"] <= 2, events
            assert sum(events.values()) < 15, events

            free()
            await wait_until_healthy(session, bot)
            before = len(page.accepted)
            async with asyncio.timeout(60):
                while len(page.accepted) < before + 20:
                    await press_randomly(players, 1)
            assert bot.process
            assert bot.process.returncode is None
            await players.repeat_unanswered()

            store = EmbeddedStore(folder / "data")
            async with open_store(store.url) as opened_store:
                await harness.wait_until_idle(opened_store)
            await bot.stop()
            await listener
            await store.start()
            async with open_store(store.url) as opened_store:
                await harness.check_state(opened_store)
            await store.stop()
        finally:
            await bot.kill()
            bot.kill_store()


async def press_randomly(players: Players, presses: int) -> None:
    people = [person["id"] for person in players.page.people]
    for _ in range(presses):
        await players.fill_tables(1)
        async with asyncio.timeout(20):
            await players.press_something(players.random.choice(people))


async def wait_until_healthy(session: aiohttp.ClientSession, bot: Bot) -> None:
    async with asyncio.timeout(60):
        while True:
            async with session.get(f"{bot.url}/healthz") as answer:
                if answer.status == 200:
                    return
            await asyncio.sleep(0.2)


def count_events(bot: Bot) -> Counter[str]:
    log_lines = (bot.folder / "bot.log").read_text().splitlines()
    return Counter(json.loads(line)["event"] for line in log_lines if line.startswith("{"))
