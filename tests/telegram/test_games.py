"""Every game on Telegram, from the challenge to the leaderboard, with the real adapter, library and HTTP."""

from random import Random

import pytest

from bot.store import Store
from engine import GAMES, verify
from tests.bot.worker.test_games import shortest_target
from tests.long import mostly_long
from tests.telegram.players import GROUP, on_telegram, seat_people, until
from tests.telegram.server import TelegramServer


@pytest.mark.parametrize("game", mostly_long(GAMES, "testa"))
async def test_whole_game_can_be_played(store: Store, server: TelegramServer, game: str) -> None:
    random = Random(game)
    async with on_telegram(store, server) as adapter:
        people = await seat_people(server, game, *shortest_target(game))
        group = server.group(GROUP)

        def is_over() -> bool:
            return any(" beat" in message["text"] for message in group.messages.values())

        for _ in range(3000):
            if is_over():
                break
            for person in people:
                await person.play(random)
            await adapter.worker.wait_until_idle()
        assert is_over(), f"{game} did not end: its moves or its players in tests/telegram/players.py are stuck"
        [finished] = [game async for game in adapter.worker.archive.games()]
        verify(finished.record)
        for person in people:
            panels = [message for message in person.private.messages.values() if message["from"]["is_bot"]]
            assert len(panels) == 1
            assert "You " in panels[0]["text"]
        people[0].say("/leaderboard@buongioco_bot")
        await until(lambda: any("Leaderboard" in message["text"] for message in group.messages.values()))
