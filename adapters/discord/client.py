"""The gateway: the library's client, set up with few intents and small caches."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import discord
import orjson
import structlog
import yarl
from discord import shard
from discord.backoff import ExponentialBackoff
from discord.gateway import DiscordWebSocket

from adapters.discord import reading
from adapters.discord.events import reduce_server, repair_interaction, writable_server
from adapters.discord.pictures import trace_config
from adapters.discord.unread import UnreadableInteraction
from bot.concurrency.background import TaskSet
from bot.settings import GatewayShards

LONGEST_WAIT = 30.0  # seconds the library can wait for a rate limit; for longer ones delivery waits


# The bot uses no voice, so the host needs no warning about missing libraries.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class Backoff(ExponentialBackoff[Any]):
    """Pauses between attempts to connect a shard: at most a minute, instead of the library's quarter of an hour."""

    def __init__(self, *about: Any, **more: Any) -> None:
        super().__init__(*about, **more)
        self._max = 6


shard.ExponentialBackoff = Backoff  # type: ignore[attr-defined]


def _from_json(text: str | bytes | bytearray | memoryview) -> Any:
    """Parse JSON as the library does, but accept a lone surrogate, which orjson refuses.

    One in a person's name would otherwise end the connection, and Discord limits how often a bot reconnects.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(bytes(text) if isinstance(text, memoryview) else text)


discord.utils._from_json = _from_json


SESSION = {"READY", "RESUMED"}  # events that a session needs
INTERACTION = "INTERACTION_CREATE"

SERVERS = {"GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"}  # events about the servers that the bot is in

# Events after which the bot might be able to write in a server again: permissions changed or a thread was opened.
OPENING = {"CHANNEL_UPDATE", "GUILD_ROLE_UPDATE", "THREAD_UPDATE"}

COMMANDS = (discord.InteractionType.application_command, discord.InteractionType.autocomplete)

log = structlog.get_logger()


class Client(discord.AutoShardedClient):
    """Receives interactions and the list of servers.

    ``pressed`` receives each press of a button, ``unread`` each interaction that cannot be read. ``chat_back`` receives
    a server that the bot can write in, perhaps again.
    """

    def __init__(
        self,
        pressed: Callable[[discord.Interaction[Any]], Awaitable[None]],
        unread: Callable[[UnreadableInteraction], Coroutine[Any, Any, None]],
        chat_back: Callable[[int], Coroutine[Any, Any, None]],
        shards: GatewayShards | None,
        proxy: str | None,
    ) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            enable_debug_events=False,
            max_ratelimit_timeout=LONGEST_WAIT,
            proxy=proxy,
            http_trace=trace_config(),
        )
        self._pressed, self._unread, self._chat_back, self._range = pressed, unread, chat_back, shards
        self._answering = TaskSet()
        self._up: set[int] = set()
        parsers = self._connection.parsers
        for event in parsers.keys() - SESSION:
            parsers[event] = self._guard(event, parsers[event])

    @property
    def has_all_shards(self) -> bool:
        """True if all of this worker's shards are connected."""
        return bool(self._up) and len(self._up) == len(self.shard_ids or ())

    async def launch_shards(self) -> None:
        # The library asks for the gateway's address only if it chooses the shards, and then forgets it.
        count, address, _limits = await self.http.get_bot_gateway()
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(address)
        self.shard_count = self._range.total if self._range else count
        self.shard_ids = list(self._range.ids) if self._range else list(range(self.shard_count))
        await super().launch_shards()

    async def run_gateway(self) -> None:
        """Receive events until the connection ends for good or the task is cancelled."""
        connected = asyncio.create_task(self.connect())
        try:
            await asyncio.wait([connected])
            connected.result()
        finally:
            # Cancel repeatedly: the library loses a cancellation that comes while it reconnects.
            while not connected.done():
                connected.cancel()
                await asyncio.wait([connected], timeout=0.1)
            self._up.clear()
            for shard in self.shards.values():
                await shard.disconnect()

    def _guard(self, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
        """Wrap a parser so that an unreadable event is skipped. It would end the connection otherwise.

        Events that the bot does not use are not parsed.
        """

        def read(data: Any) -> None:
            try:
                if event == INTERACTION:
                    parse(repair_interaction(data))
                elif event in SERVERS:
                    parse(reduce_server(data))
                elif event in OPENING and (opened := writable_server(data)) is not None:
                    self._answering.start(self._chat_back(opened))
            except Exception as error:  # noqa: BLE001 - the library can raise anything
                log.warning("discord_event_unreadable", what=event, why=type(error).__name__)
                bare = UnreadableInteraction.from_event(data) if event == INTERACTION else None
                if bare:
                    self._answering.start(self._unread(bare))

        return read

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        """Handle presses. Commands go through the library's command tree."""
        if interaction.type is discord.InteractionType.component and reading.is_complete(interaction):
            await self._pressed(interaction)
        elif interaction.type not in COMMANDS:
            log.warning("discord_event_unreadable", what=INTERACTION, why=str(interaction.type))
            await self._unread(UnreadableInteraction.from_interaction(interaction))

    async def on_shard_connect(self, shard_id: int) -> None:
        self._up.add(shard_id)

    async def on_shard_resumed(self, shard_id: int) -> None:
        self._up.add(shard_id)

    async def on_shard_disconnect(self, shard_id: int) -> None:
        self._up.discard(shard_id)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._chat_back(guild.id)
