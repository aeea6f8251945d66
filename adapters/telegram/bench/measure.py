"""The whole bot on Telegram, against bare handlers of the same library that make as many calls.

The Bot API server and the people are in another process, and the store in a third. The bare handlers answer a press,
change the presser's message and the other player's, and now and then a group's: as often as the whole bot does.
"""

import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import typer
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, Update
from telegram.ext import Application, CallbackQueryHandler

from adapters.telegram.adapter import Telegram
from adapters.telegram.transport import AiohttpRequest
from bot import logs
from bot.desk import Desk
from bot.house import House
from bot.running import collect_seldom
from bot.settings import Settings
from bot.store import EmbeddedStore, opened

TOKEN = "1:bench"  # noqa: S105
TABLES, IDLE_TABLES = 200, 5000
ROUNDS, PRESSES, RATE, AT_ONCE = 3, 3000, 100, 256
CALM_PRESSES = 1500
NO_LIMIT = 10**6


class Server:
    """The other process."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url, self._session = url, session

    async def ask(self, **wish: Any) -> Any:
        timeout = aiohttp.ClientTimeout(total=600)
        async with self._session.post(f"{self.url}/control", json=wish, timeout=timeout) as answer:
            return (await answer.json())["result"]

    async def until_ready(self, people: int) -> None:
        """Until so many people have something to press."""
        while await self.ask(do="ready") < people:
            await asyncio.sleep(0.1)


@asynccontextmanager
async def server() -> AsyncIterator[Server]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "adapters.telegram.bench.server",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    assert process.stdin
    port = int(await process.stdout.readline())
    async with aiohttp.ClientSession() as session:
        yield Server(f"http://127.0.0.1:{port}", session)
    process.stdin.close()
    await process.wait()


async def measured(there: Server, name: str, presses: int, rate: float = 0) -> dict[str, Any]:
    """So many presses, with their figures printed."""
    cpu = time.process_time()
    result: dict[str, Any] = await there.ask(do="play", presses=presses, rate=rate, at_once=AT_ONCE)
    spent = (time.process_time() - cpu) / presses
    times = statistics.quantiles(result["times"], n=100)
    result["speed"], result["calls_a_press"] = presses / result["seconds"], result["calls"] / presses
    pace = f"{rate:g} presses/s asked for" if rate else f"{result['speed']:,.0f} presses/s"
    typer.echo(
        f"{name}: {pace}, {1000 * spent:.2f} ms of CPU a press, {result['calls_a_press']:.2f} API calls a press, "
        f"update to panel p50 {1000 * times[49]:.1f}, p99 {1000 * times[98]:.1f} ms"
    )
    return result


@asynccontextmanager
async def whole_bot(there: Server) -> AsyncIterator[None]:
    """The bot, in this process, with a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        embedded = EmbeddedStore(Path(folder))
        await embedded.start()
        try:
            async with opened(embedded.url) as store:
                house = House(store, Settings(_env_file=None, telegram_api_url=there.url, playground=False))
                adapter = Telegram(Desk(house), TOKEN)
                # Telegram's own limit is not what is measured; the paces of chats and groups stay.
                adapter.per_second = NO_LIMIT
                house.add(adapter)
                serving = asyncio.create_task(adapter.serve())
                await house.start()
                try:
                    yield
                finally:
                    serving.cancel()
                    await asyncio.wait([serving])
                    await house.stop()
        finally:
            await embedded.stop()


async def hold(there: Server, tables: int, before: int) -> None:
    """So many tables, and nobody plays: what that takes in memory. ``before`` is bytes without any table."""
    await there.ask(do="open", **{"from": TABLES + 1, "to": tables + 1})
    await there.until_ready(tables - TABLES // 10)
    await asyncio.sleep(5.0)
    typer.echo(
        f"whole bot: {tables:,} live tables in {resident() / 1e6:.0f} MB of memory ({before / 1e6:.0f} before any)"
    )


async def bare(there: Server, name: str, request: AiohttpRequest | None, like: dict[str, Any]) -> dict[str, Any]:
    """A handler of the library's, with as many calls a press, of messages like the bot's."""
    hand, waiting, board = (Message(like["samples"][kind]) for kind in ("hand", "waiting", "board"))
    boards, chance = like["calls_a_press"] - 3, random.Random(1)

    async def pressed(update: Update, _context: object) -> None:
        query = update.callback_query
        assert query
        person = query.from_user.id
        await query.answer()
        edits = [hand.edit(query.get_bot(), person ^ 1), waiting.edit(query.get_bot(), person)]
        if chance.random() < boards:
            edits.append(board.edit(query.get_bot(), -(person // 2)))
        await asyncio.gather(*edits)

    builder = Application.builder().token(TOKEN).base_url(f"{there.url}/bot").concurrent_updates(AT_ONCE)
    if request:
        builder = builder.request(request).get_updates_request(AiohttpRequest(connections=1, read_timeout=40))
    application = builder.build()
    application.add_handler(CallbackQueryHandler(pressed))
    async with application:
        await application.start()
        assert application.updater
        await application.updater.start_polling(timeout=30)
        await there.ask(do="bare", tables=TABLES)
        result = await measured(there, name, PRESSES // 2)
        await application.updater.stop()
        await application.stop()
    return result


class Message:
    """A message like one of the bot's, built anew for each call as the bot does."""

    def __init__(self, fields: dict[str, str]) -> None:
        self._text = fields["text"]
        self._entities = json.loads(fields.get("entities", "[]"))
        self._rows = json.loads(fields.get("reply_markup", '{"inline_keyboard": []}'))["inline_keyboard"]

    async def edit(self, bot: Any, chat: int) -> None:
        rows = [[InlineKeyboardButton(one["text"], callback_data="bare") for one in row] for row in self._rows]
        entities = [MessageEntity(one["type"], one["offset"], one["length"]) for one in self._entities]
        keyboard = InlineKeyboardMarkup(rows) if rows else None
        await bot.edit_message_text(self._text, chat, 1, entities=entities, reply_markup=keyboard)


def resident() -> int:
    """Bytes of memory that this process holds (Linux); 0 where that cannot be asked."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except OSError:
        return 0


async def measure(idle: int) -> None:
    name, ratios = f"whole bot, {TABLES} tables", []
    async with server() as there, whole_bot(there):
        before = resident()
        await there.ask(do="open", **{"from": 1, "to": TABLES + 1})
        await there.until_ready(TABLES)
        await measured(there, name, CALM_PRESSES, RATE)
        for _ in range(ROUNDS):
            whole = await measured(there, name, PRESSES)
            whole["samples"] = await there.ask(do="samples")
            async with server() as other:
                floor = await bare(other, "bare library over aiohttp", AiohttpRequest(), whole)
            ratios.append(whole["speed"] / floor["speed"])
        async with server() as other:
            default = await bare(other, "bare library over its default client", None, whole)
        typer.echo(
            f"presses/s, whole bot to bare library: {statistics.median(ratios):.2f} x over aiohttp (median of {ROUNDS} "
            f"rounds in turn), {whole['speed'] / default['speed']:.2f} x over its default client"
        )
        await hold(there, max(idle, TABLES), before)


def run(tables: tuple[int, ...] = ()) -> None:
    """The command's body; ``tables`` are how many stand idle while memory is looked at."""
    logs.set_up("warning")
    collect_seldom()
    asyncio.run(measure(max(tables, default=IDLE_TABLES)))
