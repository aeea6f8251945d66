"""Every game on Discord, from challenge to leaderboard, with the real adapter, library, HTTP and WebSocket."""

from random import Random

import pytest

from bot.parsing.games import targets
from bot.store import Store
from engine import GAMES, verify
from tests.discord.players import on_discord, seat_people, text_of
from tests.discord.server import CHANNEL, DiscordServer
from tests.long import mostly_long


@pytest.mark.parametrize("game", mostly_long(GAMES, "testa"))
async def test_whole_game_can_be_played(store: Store, server: DiscordServer, game: str) -> None:
    random = Random(game)
    channel = server.channels[CHANNEL]
    async with on_discord(store, server) as adapter:
        people = await seat_people(server, game, min(targets(game)))

        def is_over() -> bool:
            return any(" beat" in text_of(message) for message in channel.messages.values())

        for _ in range(3000):
            if is_over():
                break
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
        assert is_over(), f"{game} did not end: its moves or its players in tests/discord/players.py are stuck"
        [finished] = [game async for game in adapter.worker.archive.games()]
        verify(finished.record)
        for person in people:
            panels = list(person.private.messages.values())
            assert len(panels) == 1
            assert "You " in text_of(panels[0])
        await people[0].slash("leaderboard")
        assert "Leaderboard" in text_of(list(channel.messages.values())[-1])
