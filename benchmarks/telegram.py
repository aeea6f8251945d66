"""The whole bot on Telegram, compared with bare handlers of the same library that make as many calls.

The Bot API server and the people run in a second process, the store in a third. The bare handlers answer a press and
edit the messages of both players. They also edit a group's message as often as the whole bot.
"""

import asyncio
import base64
import random
import time
from typing import Any

import typer
from telegram import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InlineQueryResultArticle,
    InputMediaPhoto,
    InputTextMessageContent,
    MessageEntity,
    Update,
)
from telegram.ext import Application, CallbackContext, CallbackQueryHandler, InlineQueryHandler

from adapters.telegram.adapter import Telegram
from adapters.telegram.transport import AiohttpRequest
from benchmarks.limits import PATIENCE, within
from benchmarks.platforms import (
    AT_ONCE,
    IDLE_TABLES,
    SLOWEST,
    TABLES,
    Server,
    connect_to,
    format_percentiles,
    measure_memory,
    measure_presses,
    play_presses,
    print_failures,
    print_ratios,
    print_result,
    resident_bytes,
    run_in_process,
    start_bot,
    start_server,
)
from bot.card_room import CardRoom
from bot.running import logs
from bot.running.run import tune_garbage_collector
from bot.settings import Settings

TOKEN = "1:bench"  # noqa: S105
SERVER = "benchmarks.telegram_server"
ROUNDS, PRESSES, RATE = 3, 3000, 100
CALM_PRESSES = 1500
# The library's default client is slow, and fails if more calls wait for a connection.
DEFAULT_PRESSES, DEFAULT_AT_ONCE = 300, 32

# Pictures take time to paint. With more presses at once, each would wait too long for its picture.
PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_RATE, PICTURE_AT_ONCE = 3, 400, 20, 32

QUERIES, QUERY_RATE = 1500, 100
NO_LIMIT = 10**6


def make_adapter(card_room: CardRoom) -> Telegram:
    """Return the adapter without Telegram's overall limit, which is not measured.

    Chats and groups keep their limits.
    """
    adapter = Telegram(card_room, TOKEN)
    adapter.per_second = NO_LIMIT
    adapter.shows_pictures = False
    return adapter


def make_picture_adapter(card_room: CardRoom) -> Telegram:
    adapter = make_adapter(card_room)
    adapter.shows_pictures = True
    return adapter


async def measure_bare(
    url: str, over_aiohttp: bool, like: dict[str, Any], tables: int, presses: int, at_once: int, rate: float
) -> dict[str, Any]:
    """Measure a bare handler with as many calls a press as the bot. ``failures`` are the names of its errors."""
    hand, waiting, board = (SampleMessage(like["samples"][kind]) for kind in ("hand", "waiting", "board"))
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

    failures: list[str] = []

    async def failed(_update: object, context: CallbackContext[Any, Any, Any, Any]) -> None:
        failures.append(type(context.error).__name__)

    builder = Application.builder().token(TOKEN).base_url(f"{url}/bot").concurrent_updates(AT_ONCE)
    if over_aiohttp:
        builder = builder.request(AiohttpRequest()).get_updates_request(AiohttpRequest(connections=1, read_timeout=40))
    application = builder.build()
    application.add_handler(CallbackQueryHandler(pressed))
    # Otherwise the library prints a traceback for each error.
    application.add_error_handler(failed)
    async with connect_to(url) as server, application:
        await application.start()
        assert application.updater
        await application.updater.start_polling(
            timeout=30, error_callback=lambda error: failures.append(type(error).__name__)
        )
        await server.ask(do="bare", tables=tables, like=like["samples"])
        result = await play_presses(server, presses, rate, at_once)
        async with within(PATIENCE, "the bare library to end"):
            await application.updater.stop()
            await application.stop()
    return result | {"failures": failures}


class SampleMessage:
    """A message like one of the bot's, built for each call as the bot does."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._png = base64.b64decode(fields.get("png", ""))
        self._text = fields["caption" if self._png else "text"]
        self._entities = fields.get("caption_entities" if self._png else "entities", [])
        self._rows = fields.get("reply_markup", {"inline_keyboard": []})["inline_keyboard"]

    async def edit(self, bot: Any, chat: int) -> None:
        rows = [[InlineKeyboardButton(button["text"], callback_data="bare") for button in row] for row in self._rows]
        entities = [MessageEntity(item["type"], item["offset"], item["length"]) for item in self._entities]
        keyboard = InlineKeyboardMarkup(rows) if rows else None
        if self._png:
            photo = InputMediaPhoto(self._png, self._text, caption_entities=entities)
            await bot.edit_message_media(photo, chat, 1, reply_markup=keyboard)
            return
        await bot.edit_message_text(self._text, chat, 1, entities=entities, reply_markup=keyboard)


def settings_for(server: Server, *, telegram_widgets: bool = False) -> Settings:
    return Settings(
        _env_file=None,
        telegram_api_url=server.url,
        telegram_widgets=telegram_widgets,
        playground=False,
        rate_limits=False,
        analyse_results=False,
    )


async def measure(idle: int) -> None:
    name = f"whole bot, {TABLES} tables"
    async with start_server(SERVER) as server, start_bot(settings_for(server), make_adapter):
        before = resident_bytes()
        await server.open_tables(1, TABLES + 1)
        await server.wait_until_ready(TABLES)
        await measure_presses(server, name, CALM_PRESSES, RATE)
        whole = await compare_in_turn(server, name, ROUNDS, PRESSES, AT_ONCE)
        default = await run_bare("bare library over its default client", whole, DEFAULT_PRESSES, DEFAULT_AT_ONCE)
        print_ratios([whole], [default], " over its default client")
        await measure_memory(server, max(idle, TABLES), before)


async def run_bare(
    name: str, like: dict[str, Any], presses: int, at_once: int, rate: float = 0, *, over_aiohttp: bool = False
) -> dict[str, Any]:
    """Measure the bare library with its own server, and print the figures."""
    async with start_server(SERVER) as server:
        result = await run_in_process(measure_bare, server.url, over_aiohttp, like, TABLES, presses, at_once, rate)
    print_result(name, result)
    print_failures(name, result["failures"])
    return result


async def compare_in_turn(
    server: Server, name: str, rounds: int, presses: int, at_once: int, rate: float = 0
) -> dict[str, Any]:
    """Measure the whole bot, and the bare library over our transport, in alternation. Return the bot's last round."""
    wholes, bares = [], []
    for _ in range(rounds):
        whole = await measure_presses(server, name, presses, rate, at_once)
        whole["samples"] = await server.ask(do="samples")
        await server.wait_until_settled()
        wholes.append(whole)
        as_many = presses if rate else presses // 2
        bares.append(await run_bare("bare library over aiohttp", whole, as_many, at_once, rate, over_aiohttp=True))
    print_ratios(wholes, bares, " over aiohttp")
    return wholes[-1]


async def measure_with_pictures() -> None:
    """Measure panels with pictures, painted in another process. The bare library sends the same bytes."""
    name = f"whole bot with pictures, {TABLES} tables"
    async with start_server(SERVER) as server, start_bot(settings_for(server), make_picture_adapter):
        await server.open_tables(1, TABLES + 1)
        await server.wait_until_ready(TABLES)
        await server.wait_until_settled()
        await compare_in_turn(server, name, PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_AT_ONCE, PICTURE_RATE)
        await compare_in_turn(server, name, PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_AT_ONCE)


async def measure_inline() -> None:
    """Measure inline queries with tables open, next to a bare handler with the same answer."""
    async with start_server(SERVER) as server, start_bot(settings_for(server), make_adapter):
        await server.open_tables(1, TABLES + 1)
        await server.wait_until_ready(TABLES)
        await server.wait_until_settled()
        whole = await type_queries(server, f"whole bot, {TABLES} tables")
    async with start_server(SERVER) as server:
        await measure_bare_inline(server, whole["answer"])


async def type_queries(server: Server, name: str) -> dict[str, Any]:
    """Send inline queries at a fixed rate, and print the figures."""
    cpu = time.process_time()
    seconds = PATIENCE + QUERIES / SLOWEST
    result: dict[str, Any] = await server.ask(seconds, do="type", queries=QUERIES, rate=QUERY_RATE)
    spent = (time.process_time() - cpu) / QUERIES
    typer.echo(
        f"{name}: {QUERY_RATE} inline queries/s, {1000 * spent:.2f} ms of CPU a query, "
        f"query to answer {format_percentiles(result['times'])}"
    )
    return result


async def measure_bare_inline(server: Server, answer: dict[str, Any]) -> None:
    """Measure a bare handler that returns as many results as the bot does for an empty query."""

    async def answer_inline_query(update: Update, _context: object) -> None:
        assert update.inline_query
        await update.inline_query.answer(
            [_article(result) for result in answer["results"]], cache_time=0, is_personal=True
        )

    application = (
        Application.builder()
        .token(TOKEN)
        .base_url(f"{server.url}/bot")
        .concurrent_updates(AT_ONCE)
        .request(AiohttpRequest())
        .get_updates_request(AiohttpRequest(connections=1, read_timeout=40))
        .build()
    )
    application.add_handler(InlineQueryHandler(answer_inline_query))
    async with application:
        await application.start()
        assert application.updater
        await application.updater.start_polling(timeout=30)
        await type_queries(server, "bare library over aiohttp")
        async with within(PATIENCE, "the bare library to end"):
            await application.updater.stop()
            await application.stop()


def _article(fields: dict[str, Any]) -> InlineQueryResultArticle:
    text = InputTextMessageContent(fields["input_message_content"]["message_text"])
    keyboard = InlineKeyboardMarkup.de_json(fields["reply_markup"]) if "reply_markup" in fields else None
    return InlineQueryResultArticle(fields["id"], fields["title"], text, keyboard, description=fields["description"])


def run(tables: tuple[int, ...] = (), pictures: bool = False, inline: bool = False) -> None:
    """Run the benchmark. ``inline`` measures inline queries instead of presses.

    Without ``pictures``, also measure memory with as many idle tables as the largest of ``tables``.
    """
    logs.set_up("warning")
    tune_garbage_collector()
    if inline:
        asyncio.run(measure_inline())
    else:
        asyncio.run(measure_with_pictures() if pictures else measure(max(tables, default=IDLE_TABLES)))
