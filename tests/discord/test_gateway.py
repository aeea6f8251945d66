"""The gateway: lost connections, and shards shared among workers."""

import asyncio
import time
from collections.abc import Iterable
from itertools import count
from random import Random

import pytest
from discord.http import Ratelimit

from bot.delivery import surface_waits
from bot.store import Store
from tests.discord.players import ObservedDiscord, Person, on_discord, seat_people, text_of, until
from tests.discord.server import BAR, CHANNEL, PATIENCE, DiscordServer
from tests.tricks import has_reached_trick


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface_waits, "FIRST_RETRY_SECONDS", 0.01)
    # Skip the seconds that the library waits before it reconnects.
    monkeypatch.setattr("discord.backoff.ExponentialBackoff.delay", lambda _self: 0.05)
    # Skip the five seconds before each further session, which Discord's limits require.
    monkeypatch.setattr("discord.Client.before_identify_hook", skip_pause)


async def skip_pause(_self: object, _shard: int | None, *, initial: bool) -> None:
    """Return without the library's pause."""


async def play_one_trick(
    adapters: Iterable[ObservedDiscord], server: DiscordServer, people: list[Person], seconds: float = 60.0
) -> None:
    """Play until one more trick is taken and every message shows it."""
    channel, random = server.channels[CHANNEL], Random(1)

    def is_reached(trick: int) -> bool:
        return has_reached_trick(trick, map(text_of, channel.messages.values()))

    trick, deadline = next(number for number in count(1) if not is_reached(number)), time.monotonic() + seconds
    while not is_reached(trick):
        assert time.monotonic() < deadline, f"trick {trick} was not reached within {seconds} seconds"
        for person in people:
            await person.play(random)
        await asyncio.sleep(0.02)
    for adapter in adapters:
        await adapter.worker.wait_until_idle()


@pytest.mark.parametrize(("seconds", "are_kept"), [(3600.0, True), (0.0, False)])
async def test_new_channel_seldom_searches_all_rate_limits(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch, seconds: float, are_kept: bool
) -> None:
    # Each search forgets all limits.
    monkeypatch.setattr(Ratelimit, "is_inactive", lambda _limit: True)
    monkeypatch.setattr("adapters.discord.client.CLEARING_SECONDS", seconds)
    async with on_discord(store, server) as adapter:
        for number in range(1000):
            adapter.client.http.get_ratelimit(f"channel {number}")
        assert (len(adapter.client.http._buckets) >= 1000) is are_kept


async def test_lost_connection_resumes_without_missing_events(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await play_one_trick([adapter], server, people)
        await server.gateway.drop()
        # Missed events come with the resumed session.
        await play_one_trick([adapter], server, people)
        assert (server.gateway.resumed, len(server.gateway.identified)) == (1, 1)
        await server.gateway.ask_to_reconnect()
        await until(lambda: server.gateway.resumed == 2)
        await play_one_trick([adapter], server, people)
        await until(lambda: adapter.healthy)


async def test_invalid_session_is_replaced(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await server.gateway.invalidate()
        await until(lambda: len(server.gateway.identified) == 2)
        await until(lambda: adapter.healthy)
        await play_one_trick([adapter], server, people)


async def test_lost_connection_makes_the_bot_unhealthy(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, "metamazzo")
        await server.stop()
        await until(lambda: not adapter.healthy)
        await server.start(server.port)
        await until(lambda: adapter.healthy)
        await play_one_trick([adapter], server, people)


async def test_bot_stops_while_reconnecting(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        await server.stop()
        await until(lambda: not adapter.healthy)


# One worker receives a press and another shows its result, so presses are deferred. The usual timeouts keep this short.
@pytest.mark.long
@pytest.mark.usefixtures("real_timeouts")
async def test_shards_are_split_among_workers(store: Store) -> None:
    server = DiscordServer(shards=4, seconds=PATIENCE)
    await server.start()
    server.add_channel(CHANNEL, server.add_server(BAR))
    try:
        async with (
            on_discord(store, server, alone=False, discord_shards="0-1/4") as first,
            on_discord(store, server, alone=False, discord_shards="2-3/4") as second,
        ):
            assert sorted(server.gateway.identified) == [(0, 4), (1, 4), (2, 4), (3, 4)]
            people = await seat_people(server, "metamazzo")
            # The server is on shard 3, private chats on shard 0, so each worker receives some of the events.
            await play_one_trick([first, second], server, people)
            await play_one_trick([first, second], server, people)
            assert second.client.get_guild(BAR)
    finally:
        await server.stop()


async def test_game_continues_after_a_restart(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server):
        people = await seat_people(server, "metamazzo")
    async with on_discord(store, server) as adapter:
        await play_one_trick([adapter], server, people)
