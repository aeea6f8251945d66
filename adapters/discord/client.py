"""The gateway: the library's client, set up with few intents and small caches."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import discord
import structlog
import yarl
from discord import shard
from discord.backoff import ExponentialBackoff
from discord.gateway import DiscordWebSocket

from adapters.discord.interactions import Interaction, Unreadable, read_interaction
from adapters.discord.limits import LONGEST_WAIT_SECONDS
from adapters.discord.pictures import trace_config
from adapters.discord.raw_events import reduce_server, writable_server
from bot.concurrency.background import TaskSet
from bot.http.bodies import load_json
from bot.settings import GatewayShards

# The bot uses no voice, so the host needs no warning about missing libraries.
discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False


class Backoff(ExponentialBackoff[Any]):
    """Pauses of at most 64 seconds between attempts to connect a shard. The library's own reach 17 minutes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._max = 6


shard.ExponentialBackoff = Backoff  # type: ignore[attr-defined]


# With the library's parser, a lone surrogate in a person's name would end the connection, and Discord limits how often
# a bot reconnects.
discord.utils._from_json = load_json

# Gateway events, grouped by how the bot uses them.
SESSION = {"READY", "RESUMED"}
INTERACTION = "INTERACTION_CREATE"
SERVERS = {"GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"}
# After these events the bot might be able to write in a server again: permissions changed, or a thread was opened.
OPENING = {"CHANNEL_UPDATE", "GUILD_ROLE_UPDATE", "THREAD_UPDATE"}

# The library looks through the rate limits of all channels each time it meets a channel, which takes a millisecond for
# some thousands. It forgets channels after five idle minutes, so this pause delays little.
CLEARING_SECONDS = 60.0

log = structlog.get_logger()


def _at_most_once_in(seconds: float, call: Callable[[], None]) -> Callable[[], None]:
    """Return a function that calls ``call``, and then ignores further calls for some seconds."""
    next_at = 0.0

    def call_if_due() -> None:
        nonlocal next_at
        if (now := time.monotonic()) >= next_at:
            next_at = now + seconds
            call()

    return call_if_due


class Client(discord.AutoShardedClient):
    """Receives interactions and the list of servers.

    ``handle`` gets each interaction with its event. ``answer_unreadable`` gets the event of an interaction that cannot
    be read, and the reason. ``refresh_server`` gets a server in which the bot might have regained permission to write.
    ``greet_server`` gets a server that the bot has just joined.
    """

    def __init__(
        self,
        handle: Callable[[Interaction, object], Coroutine[Any, Any, None]],
        answer_unreadable: Callable[[object, str], Coroutine[Any, Any, None]],
        refresh_server: Callable[[int], None],
        greet_server: Callable[[discord.Guild], Awaitable[None]],
        shards: GatewayShards | None,
        proxy: str | None,
    ) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            enable_debug_events=False,
            max_ratelimit_timeout=LONGEST_WAIT_SECONDS,
            proxy=proxy,
            http_trace=trace_config(),
        )
        http: Any = self.http
        http._try_clear_expired_ratelimits = _at_most_once_in(CLEARING_SECONDS, http._try_clear_expired_ratelimits)
        self._handle, self._answer_unreadable = handle, answer_unreadable
        self._refresh_server, self._greet_server, self._shards = refresh_server, greet_server, shards
        self._answering = TaskSet()
        self._connected_shards: set[int] = set()
        parsers = self._connection.parsers
        for event in parsers.keys() - SESSION:
            parsers[event] = self._guard(event, parsers[event])

    @property
    def has_all_shards(self) -> bool:
        return bool(self._connected_shards) and len(self._connected_shards) == len(self.shard_ids or ())

    async def launch_shards(self) -> None:
        # The library requests the gateway's address only if it chooses the shards itself, and then forgets the address.
        count, address, _limits = await self.http.get_bot_gateway()
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(address)
        self.shard_count = self._shards.total if self._shards else count
        self.shard_ids = list(self._shards.ids if self._shards else range(count))
        await super().launch_shards()

    async def run_gateway(self) -> None:
        """Receive events until the connection ends permanently or the task is cancelled."""
        connected = asyncio.create_task(self.connect())
        try:
            await asyncio.wait([connected])
            connected.result()
        finally:
            # Cancel repeatedly: the library loses a cancellation that comes while it reconnects.
            while not connected.done():
                connected.cancel()
                await asyncio.wait([connected], timeout=0.1)
            self._connected_shards.clear()
            for shard in self.shards.values():
                await shard.disconnect()

    def _guard(self, event: str, parse: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a parser that skips unused and unreadable events. An unreadable one would end the connection."""

        def read_event(data: Any) -> None:
            try:
                if event == INTERACTION:
                    self._read_interaction(data)
                elif event in SERVERS:
                    parse(reduce_server(data))
                elif event in OPENING and (server := writable_server(data)) is not None:
                    self._refresh_server(server)
            except Exception as error:  # noqa: BLE001 - the library can raise anything
                log.warning("discord_event_unreadable", what=event, why=type(error).__name__)

        return read_event

    def _read_interaction(self, data: object) -> None:
        try:
            interaction = read_interaction(data, self._find_server)
        except Unreadable as error:
            self._answering.start(self._answer_unreadable(data, str(error)))
        else:
            self._answering.start(self._handle(interaction, data))

    def _find_server(self, number: int) -> str | None:
        server = self.get_guild(number)
        return None if server is None else str(server.name or "")

    async def on_shard_connect(self, shard_id: int) -> None:
        self._connected_shards.add(shard_id)

    on_shard_resumed = on_shard_connect

    async def on_shard_disconnect(self, shard_id: int) -> None:
        self._connected_shards.discard(shard_id)

    async def on_guild_join(self, guild: discord.Guild) -> None:
        self._refresh_server(guild.id)
        await self._greet_server(guild)
