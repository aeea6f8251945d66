"""The whole bot on Telegram, against bare handlers of the same library that make as many calls.

The Bot API server and the people are in another process, and the store in a third. The bare handlers answer a press,
change the presser's message and the other player's, and now and then a group's: as often as the whole bot does.
"""

import asyncio
import json
import random
import statistics
from typing import Any

import typer
from telegram import InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity, Update
from telegram.ext import Application, CallbackQueryHandler

from adapters.telegram.adapter import Telegram
from adapters.telegram.transport import AiohttpRequest
from bot import logs
from bot.bench.platforms import AT_ONCE, IDLE_TABLES, TABLES, Server, hold, measured, resident, server, whole_bot
from bot.platform import CardRoom
from bot.running import collect_seldom
from bot.settings import Settings

TOKEN = "1:bench"  # noqa: S105
SERVER = "adapters.telegram.bench.server"
ROUNDS, PRESSES, RATE = 3, 3000, 100
CALM_PRESSES = 1500
NO_LIMIT = 10**6


def unhindered(card_room: CardRoom) -> Telegram:
    """The adapter. Telegram's own limit is not what is measured; the rate limits of chats and groups stay."""
    adapter = Telegram(card_room, TOKEN)
    adapter.per_second = NO_LIMIT
    return adapter


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


def _settings(there: Server) -> Settings:
    return Settings(_env_file=None, telegram_api_url=there.url, playground=False, rate_limits=False)


async def measure(idle: int) -> None:
    name, ratios = f"whole bot, {TABLES} tables", []
    async with server(SERVER) as there, whole_bot(_settings(there), unhindered):
        before = resident()
        await there.ask(do="open", **{"from": 1, "to": TABLES + 1})
        await there.until_ready(TABLES)
        await measured(there, name, CALM_PRESSES, RATE)
        for _ in range(ROUNDS):
            whole = await measured(there, name, PRESSES)
            whole["samples"] = await there.ask(do="samples")
            async with server(SERVER) as other:
                floor = await bare(other, "bare library over aiohttp", AiohttpRequest(), whole)
            ratios.append(whole["speed"] / floor["speed"])
        async with server(SERVER) as other:
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
