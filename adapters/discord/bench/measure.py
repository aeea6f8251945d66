"""The whole bot on Discord, against a bare handler of the same library that makes as many calls.

Discord with its people is in another process, and the store in a third. The bare handler answers a press by changing
the presser's message, changes the other player's, and now and then a board's: as often as the whole bot does.
"""

import asyncio
import logging
import random
import sys
from typing import Any

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.adapter import Discord
from bot import logs
from bot.bench.limits import PATIENCE, within
from bot.bench.platforms import (
    IDLE_TABLES,
    TABLES,
    Server,
    hold,
    measured,
    resident,
    server,
    tell_failures,
    tell_ratios,
    whole_bot,
)
from bot.platform import CardRoom
from bot.running import collect_seldom
from bot.settings import Settings

TOKEN = "bench"  # noqa: S105
SERVER = "adapters.discord.bench.server"
ROUNDS, PRESSES, RATE = 11, 1500, 200
CALM_PRESSES = 3000
NO_LIMIT = 10**6
BOARDS = 10_000_000


def unhindered(card_room: CardRoom) -> Discord:
    """The adapter. Discord's own limit is not what is measured; the rate limits of channels stay."""
    adapter = Discord(card_room, TOKEN)
    adapter.per_second = NO_LIMIT
    return adapter


class Bare(discord.Client):
    """What a bot does that only answers: it shows panels like the whole bot's, built anew each time by the library."""

    def __init__(self, like: dict[str, Any]) -> None:
        super().__init__(intents=discord.Intents(guilds=True), max_messages=None)
        self._panels: dict[str, Any] = like["samples"]
        self._boards, self._chance = like["calls_a_press"] - 2, random.Random(1)
        self.failures: list[str] = []

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        if interaction.type is not discord.InteractionType.component:
            return
        person = interaction.user.id
        edits = [
            interaction.response.edit_message(view=self._view("waiting")),
            self.get_partial_messageable(person ^ 1).get_partial_message(person).edit(view=self._view("hand")),
        ]
        if self._chance.random() < self._boards:
            channel = self.get_partial_messageable(BOARDS + person // 2)
            edits.append(channel.get_partial_message(1).edit(view=self._view("board")))
        await asyncio.gather(*edits)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """The library would print a traceback for each."""
        self.failures.append(type(sys.exception()).__name__)

    def _view(self, kind: str) -> discord.ui.LayoutView:
        view = discord.ui.LayoutView(timeout=None)
        # It need not be remembered: presses are read from their interactions.
        view.stop()
        into: Any = view
        for component in self._panels[kind]["components"]:
            if component["type"] == 17:
                into = discord.ui.Container()
                view.add_item(into)
        components = self._panels[kind]["components"]
        for component in components[0]["components"] if components[0]["type"] == 17 else components:
            if component["type"] == 10:
                into.add_item(discord.ui.TextDisplay(component["content"]))
            else:
                into.add_item(discord.ui.ActionRow(*map(self._button, component["components"])))
        return view

    @staticmethod
    def _button(button: dict[str, Any]) -> discord.ui.Button[Any]:
        name = "bare" if button["custom_id"].startswith("1m") else button["custom_id"]
        return discord.ui.Button(label=button["label"], custom_id=f"{name}{button['label']}")


def _point_at(there: Server) -> None:
    """The library keeps addresses for the whole process."""
    Route.BASE = f"{there.url}/api/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"{there.url}/api/v10/gateway".replace("http", "ws", 1))


async def bare(there: Server, like: dict[str, Any]) -> dict[str, Any]:
    _point_at(there)
    async with Bare(like) as client:
        running = asyncio.create_task(client.start(TOKEN))
        async with within(PATIENCE, "the bare library to connect"):
            await client.wait_until_ready()
        await there.ask(do="bare", tables=TABLES, like=like["samples"])
        result = await measured(there, "bare library", PRESSES)
        async with within(PATIENCE, "the bare library to end"):
            await client.close()
            await asyncio.wait([running])
    tell_failures("bare library", client.failures)
    return result


async def measure(idle: int) -> None:
    name = f"whole bot, {TABLES} tables"
    wholes, bares = [], []
    async with server(SERVER) as there, server(SERVER) as other:
        settings = Settings(_env_file=None, discord_api_url=f"{there.url}/api/v10", playground=False, rate_limits=False)
        async with whole_bot(settings, unhindered):
            before = resident()
            await there.open(1, TABLES + 1)
            await there.until_ready(TABLES)
            await measured(there, name, CALM_PRESSES, RATE)
            for _ in range(ROUNDS):
                _point_at(there)
                whole = await measured(there, name, PRESSES)
                whole["samples"] = await there.ask(do="samples")
                # The library's addresses change for the bot too.
                await there.settled()
                wholes.append(whole)
                bares.append(await bare(other, whole))
            _point_at(there)
            tell_ratios(wholes, bares)
            await hold(there, max(idle, TABLES), before)


def run(tables: tuple[int, ...] = ()) -> None:
    """The command's body; ``tables`` are how many stand idle while memory is looked at."""
    logs.set_up("warning")
    # A server on the same machine answers heartbeats faster than the library expects, and it complains.
    logging.getLogger("discord.gateway").setLevel(logging.ERROR)
    collect_seldom()
    asyncio.run(measure(max(tables, default=IDLE_TABLES)))
