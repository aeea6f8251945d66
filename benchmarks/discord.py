"""The whole bot on Discord, compared with a bare handler of the same library that makes as many calls.

Discord and its people run in a second process, the store in a third. The bare handler answers a press with an edit of
the presser's message. It also edits the other player's message and, as often as the whole bot, a board.
"""

import asyncio
import base64
import logging
import random
import sys
from io import BytesIO
from typing import Any

import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from adapters.discord.adapter import Discord
from benchmarks.limits import PATIENCE, within
from benchmarks.platforms import (
    AT_ONCE,
    IDLE_TABLES,
    TABLES,
    Server,
    connect_to,
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

TOKEN = "bench"  # noqa: S105
SERVER = "benchmarks.discord_server"
ROUNDS, PRESSES, RATE = 11, 1500, 200
CALM_PRESSES = 3000
# Tables of each pair of people, pairs, presses per second and in all. Each second a person gets one edit for their own
# press and one for the other player's, which is the limit of a private chat.
TOGETHER, PAIRS, TOGETHER_RATE, TOGETHER_PRESSES = 7, 10, 20, 600

# Pictures take time to paint. With more presses at once, each would wait too long for its picture.
PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_RATE, PICTURE_AT_ONCE = 3, 400, 20, 32
NO_LIMIT = 10**6
BOARDS = 10_000_000


def make_adapter(card_room: CardRoom) -> Discord:
    """Return the adapter without Discord's overall limit, which is not measured. Channels keep their limits."""
    adapter = Discord(card_room, TOKEN)
    adapter.per_second = NO_LIMIT
    adapter.shows_pictures = False
    return adapter


def make_picture_adapter(card_room: CardRoom) -> Discord:
    adapter = make_adapter(card_room)
    adapter.shows_pictures = True
    return adapter


class BareClient(discord.Client):
    """A bot that only answers. It shows panels like the whole bot's, built by the library each time."""

    def __init__(self, like: dict[str, Any]) -> None:
        super().__init__(intents=discord.Intents(guilds=True), max_messages=None)
        self._panels: dict[str, Any] = like["samples"]
        self._pngs = {kind: base64.b64decode(panel["png"]) for kind, panel in self._panels.items() if "png" in panel}
        self._boards, self._chance = like["calls_a_press"] - 2, random.Random(1)
        self.failures: list[str] = []

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        if interaction.type is not discord.InteractionType.component:
            return
        person = interaction.user.id
        edits = [
            interaction.response.edit_message(**self._shown("waiting")),
            self.get_partial_messageable(person ^ 1).get_partial_message(person).edit(**self._shown("hand")),
        ]
        if self._chance.random() < self._boards:
            channel = self.get_partial_messageable(BOARDS + person // 2)
            edits.append(channel.get_partial_message(1).edit(**self._shown("board")))
        await asyncio.gather(*edits)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        """Count errors. The library would print a traceback for each."""
        self.failures.append(type(sys.exception()).__name__)

    def _shown(self, kind: str) -> dict[str, Any]:
        view, panel = self._view(kind), self._panels[kind]
        if kind not in self._pngs:
            return {"view": view}
        picture = discord.File(BytesIO(self._pngs[kind]), panel["attachments"][0]["filename"])
        return {"view": view, "attachments": [picture]}

    def _view(self, kind: str) -> discord.ui.LayoutView:
        view = discord.ui.LayoutView(timeout=None)
        # The library does not have to remember the view, because presses are read from their interactions.
        view.stop()
        parent_view: Any = view
        for component in self._panels[kind]["components"]:
            if component["type"] == 17:
                parent_view = discord.ui.Container()
                view.add_item(parent_view)
        components = self._panels[kind]["components"]
        for component in components[0]["components"] if components[0]["type"] == 17 else components:
            if component["type"] == 12:
                [item] = component["items"]
                name = f"attachment://{self._panels[kind]['attachments'][0]['filename']}"
                parent_view.add_item(
                    discord.ui.MediaGallery(discord.MediaGalleryItem(name, description=item["description"]))
                )
            elif component["type"] == 10:
                parent_view.add_item(discord.ui.TextDisplay(component["content"]))
            else:
                parent_view.add_item(discord.ui.ActionRow(*map(self._button, component["components"])))
        return view

    @staticmethod
    def _button(button: dict[str, Any]) -> discord.ui.Button[Any]:
        name = "bare" if button["custom_id"].startswith("1m") else button["custom_id"]
        return discord.ui.Button(label=button["label"], custom_id=f"{name}{button['label']}")


def _use_server(server: Server) -> None:
    """Set the library's addresses, which apply to the whole process."""
    Route.BASE = f"{server.url}/api/v10"
    DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"{server.url}/api/v10/gateway".replace("http", "ws", 1))


async def measure_bare(
    url: str, like: dict[str, Any], tables: int, presses: int, at_once: int, rate: float
) -> dict[str, Any]:
    """Measure the bare library at ``tables`` tables. ``failures`` are the names of its handler's errors."""
    async with connect_to(url) as server, BareClient(like) as client:
        _use_server(server)
        running = asyncio.create_task(client.start(TOKEN))
        async with within(PATIENCE, "the bare library to connect"):
            await client.wait_until_ready()
        await server.ask(do="bare", tables=tables, like=like["samples"])
        result = await play_presses(server, presses, rate, at_once)
        async with within(PATIENCE, "the bare library to end"):
            await client.close()
            await asyncio.wait([running])
    return result | {"failures": client.failures}


def _settings(server: Server) -> Settings:
    return Settings(
        _env_file=None,
        discord_api_url=f"{server.url}/api/v10",
        playground=False,
        rate_limits=False,
        analyse_results=False,
    )


async def measure_shared_chats() -> None:
    """Measure people with many tables in one private chat, which limits the edits."""
    async with start_server(SERVER) as server, start_bot(_settings(server), make_adapter):
        await server.open_tables(TOGETHER, TOGETHER * (PAIRS + 1), together=TOGETHER)
        await server.wait_until_ready(TOGETHER * PAIRS)
        await measure_presses(server, f"whole bot, people at {TOGETHER} tables", TOGETHER_PRESSES, TOGETHER_RATE)


async def compare_in_turn(
    server: Server, other: Server, name: str, rounds: int, presses: int, at_once: int = AT_ONCE, rate: float = 0
) -> None:
    """Measure the whole bot and the bare library in alternation, each with its own server."""
    wholes, bares = [], []
    for _ in range(rounds):
        whole = await measure_presses(server, name, presses, rate, at_once)
        whole["samples"] = await server.ask(do="samples")
        await server.wait_until_settled()
        wholes.append(whole)
        bares.append(await run_in_process(measure_bare, other.url, whole, TABLES, presses, at_once, rate))
        print_result("bare library", bares[-1])
        print_failures("bare library", bares[-1]["failures"])
    print_ratios(wholes, bares)


async def measure(idle: int) -> None:
    name = f"whole bot, {TABLES} tables"
    await measure_shared_chats()
    async with (
        start_server(SERVER) as server,
        start_server(SERVER) as other,
        start_bot(_settings(server), make_adapter),
    ):
        before = resident_bytes()
        await server.open_tables(1, TABLES + 1)
        await server.wait_until_ready(TABLES)
        await measure_presses(server, name, CALM_PRESSES, RATE)
        await compare_in_turn(server, other, name, ROUNDS, PRESSES)
        await measure_memory(server, max(idle, TABLES), before)


async def measure_with_pictures() -> None:
    """Measure panels with pictures, painted in another process. The bare library sends the same bytes."""
    name = f"whole bot with pictures, {TABLES} tables"
    async with (
        start_server(SERVER) as server,
        start_server(SERVER) as other,
        start_bot(_settings(server), make_picture_adapter),
    ):
        await server.open_tables(1, TABLES + 1)
        await server.wait_until_ready(TABLES)
        await server.wait_until_settled()
        await compare_in_turn(server, other, name, PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_AT_ONCE, PICTURE_RATE)
        await compare_in_turn(server, other, name, PICTURE_ROUNDS, PICTURE_PRESSES, PICTURE_AT_ONCE)


def run(tables: tuple[int, ...] = (), pictures: bool = False) -> None:
    """Run the benchmark.

    Without ``pictures``, also measure memory with as many idle tables as the largest of ``tables``.
    """
    logs.set_up("warning")
    # A local server answers heartbeats faster than the library expects, so it would log warnings.
    logging.getLogger("discord.gateway").setLevel(logging.ERROR)
    tune_garbage_collector()
    asyncio.run(measure_with_pictures() if pictures else measure(max(tables, default=IDLE_TABLES)))
