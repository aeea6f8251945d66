"""The whole bot on Telegram, against bare handlers of the same library that make as many calls.

The Bot API server and the people are in another process, and the store in a third. The bare handlers answer a press,
change the presser's message and the other player's, and now and then a group's: as often as the whole bot does.
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
from bot import logs
from bot.card_room import CardRoom
from bot.running import tune_garbage_collector
from bot.settings import Settings

TOKEN = "1:bench"  # noqa: S105
SERVER = "benchmarks.telegram_server"
ROUNDS, PRESSES, RATE = 3, 3000, 100
CALM_PRESSES = 1500
DEFAULT_PRESSES, DEFAULT_AT_ONCE = 300, 32
"""For the library's default client: it is slow, and gives up where more of its calls wait for a connection."""

PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_RATE, PICTURE_AT_ONCE = 3, 400, 20, 32
"""The same with pictures, which take more time: with more at once each would wait too long for its picture."""

QUERIES, QUERY_RATE = 1500, 100
NO_LIMIT = 10**6


def make_adapter(card_room: CardRoom) -> Telegram:
    """The adapter. Telegram's own limit is not what is measured; the rate limits of chats and groups stay."""
    adapter = Telegram(card_room, TOKEN)
    adapter.per_second = NO_LIMIT
    adapter.shows_pictures = False
    return adapter


def make_picture_adapter(card_room: CardRoom) -> Telegram:
    """The same, with pictures."""
    adapter = make_adapter(card_room)
    adapter.shows_pictures = True
    return adapter


async def measure_bare(
    url: str, over_aiohttp: bool, like: dict[str, Any], tables: int, presses: int, at_once: int, rate: float
) -> dict[str, Any]:
    """A handler of the library's, with as many calls a press, of messages like the bot's; and the names of the errors
    that it met.
    """
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
    # The library would print a traceback for each.
    application.add_error_handler(failed)
    async with connect_to(url) as there, application:
        await application.start()
        assert application.updater
        await application.updater.start_polling(
            timeout=30, error_callback=lambda error: failures.append(type(error).__name__)
        )
        await there.ask(do="bare", tables=tables, like=like["samples"])
        result = await play_presses(there, presses, rate, at_once)
        async with within(PATIENCE, "the bare library to end"):
            await application.updater.stop()
            await application.stop()
    return result | {"failures": failures}


class SampleMessage:
    """A message like one of the bot's, built anew for each call as the bot does."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._png = base64.b64decode(fields.get("png", ""))
        self._text = fields["caption" if self._png else "text"]
        self._entities = fields.get("caption_entities" if self._png else "entities", [])
        self._rows = fields.get("reply_markup", {"inline_keyboard": []})["inline_keyboard"]

    async def edit(self, bot: Any, chat: int) -> None:
        rows = [[InlineKeyboardButton(one["text"], callback_data="bare") for one in row] for row in self._rows]
        entities = [MessageEntity(one["type"], one["offset"], one["length"]) for one in self._entities]
        keyboard = InlineKeyboardMarkup(rows) if rows else None
        if self._png:
            photo = InputMediaPhoto(self._png, self._text, caption_entities=entities)
            await bot.edit_message_media(photo, chat, 1, reply_markup=keyboard)
            return
        await bot.edit_message_text(self._text, chat, 1, entities=entities, reply_markup=keyboard)


def _settings(there: Server) -> Settings:
    return Settings(
        _env_file=None, telegram_api_url=there.url, playground=False, rate_limits=False, analyse_results=False
    )


async def measure(idle: int) -> None:
    name = f"whole bot, {TABLES} tables"
    async with start_server(SERVER) as there, start_bot(_settings(there), make_adapter):
        before = resident_bytes()
        await there.open_tables(1, TABLES + 1)
        await there.wait_until_ready(TABLES)
        await measure_presses(there, name, CALM_PRESSES, RATE)
        whole = await compare_in_turn(there, name, ROUNDS, PRESSES, AT_ONCE)
        default = await run_bare("bare library over its default client", whole, DEFAULT_PRESSES, DEFAULT_AT_ONCE)
        print_ratios([whole], [default], " over its default client")
        await measure_memory(there, max(idle, TABLES), before)


async def run_bare(
    name: str, like: dict[str, Any], presses: int, at_once: int, rate: float = 0, *, over_aiohttp: bool = False
) -> dict[str, Any]:
    """The bare library with a server of its own, with its figures printed."""
    async with start_server(SERVER) as there:
        result = await run_in_process(measure_bare, there.url, over_aiohttp, like, TABLES, presses, at_once, rate)
    print_result(name, result)
    print_failures(name, result["failures"])
    return result


async def compare_in_turn(
    there: Server, name: str, rounds: int, presses: int, at_once: int, rate: float = 0
) -> dict[str, Any]:
    """The whole bot and the bare library over our transport in turn; returns the whole bot's last round."""
    wholes, bares = [], []
    for _ in range(rounds):
        whole = await measure_presses(there, name, presses, rate, at_once)
        whole["samples"] = await there.ask(do="samples")
        await there.wait_until_settled()
        wholes.append(whole)
        as_many = presses if rate else presses // 2
        bares.append(await run_bare("bare library over aiohttp", whole, as_many, at_once, rate, over_aiohttp=True))
    print_ratios(wholes, bares, " over aiohttp")
    return wholes[-1]


async def measure_with_pictures() -> None:
    """Panels with pictures, painted in a process of their own; the bare library sends the same bytes."""
    name = f"whole bot with pictures, {TABLES} tables"
    async with start_server(SERVER) as there, start_bot(_settings(there), make_picture_adapter):
        await there.open_tables(1, TABLES + 1)
        await there.wait_until_ready(TABLES)
        await there.wait_until_settled()
        await compare_in_turn(there, name, PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_AT_ONCE, PICTURE_RATE)
        await compare_in_turn(there, name, PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_AT_ONCE)


async def measure_inline() -> None:
    """Inline queries while tables stand there, beside a bare handler of the library's that gives the same answer."""
    async with start_server(SERVER) as there, start_bot(_settings(there), make_adapter):
        await there.open_tables(1, TABLES + 1)
        await there.wait_until_ready(TABLES)
        await there.wait_until_settled()
        whole = await type_queries(there, f"whole bot, {TABLES} tables")
    async with start_server(SERVER) as there:
        await measure_bare_inline(there, whole["answer"])


async def type_queries(there: Server, name: str) -> dict[str, Any]:
    """So many inline queries at a rate, with their figures printed."""
    cpu = time.process_time()
    seconds = PATIENCE + QUERIES / SLOWEST
    result: dict[str, Any] = await there.ask(seconds, do="type", queries=QUERIES, rate=QUERY_RATE)
    spent = (time.process_time() - cpu) / QUERIES
    typer.echo(
        f"{name}: {QUERY_RATE} inline queries/s, {1000 * spent:.2f} ms of CPU a query, "
        f"query to answer {format_percentiles(result['times'])}"
    )
    return result


async def measure_bare_inline(there: Server, answer: dict[str, Any]) -> None:
    """The library's own handler, with as many results to each query as the bot gives to who has typed nothing."""

    async def asked(update: Update, _context: object) -> None:
        assert update.inline_query
        await update.inline_query.answer([_article(one) for one in answer["results"]], cache_time=0, is_personal=True)

    application = (
        Application.builder()
        .token(TOKEN)
        .base_url(f"{there.url}/bot")
        .concurrent_updates(AT_ONCE)
        .request(AiohttpRequest())
        .get_updates_request(AiohttpRequest(connections=1, read_timeout=40))
        .build()
    )
    application.add_handler(InlineQueryHandler(asked))
    async with application:
        await application.start()
        assert application.updater
        await application.updater.start_polling(timeout=30)
        await type_queries(there, "bare library over aiohttp")
        async with within(PATIENCE, "the bare library to end"):
            await application.updater.stop()
            await application.stop()


def _article(one: dict[str, Any]) -> InlineQueryResultArticle:
    text = InputTextMessageContent(one["input_message_content"]["message_text"])
    keyboard = InlineKeyboardMarkup.de_json(one["reply_markup"]) if "reply_markup" in one else None
    return InlineQueryResultArticle(one["id"], one["title"], text, keyboard, description=one["description"])


def run(tables: tuple[int, ...] = (), pictures: bool = False, inline: bool = False) -> None:
    """The command's body; ``tables`` are how many stand idle while memory is looked at, which is without pictures.
    ``inline`` is what people type, in place of what they press.
    """
    logs.set_up("warning")
    tune_garbage_collector()
    if inline:
        asyncio.run(measure_inline())
    else:
        asyncio.run(measure_with_pictures() if pictures else measure(max(tables, default=IDLE_TABLES)))
