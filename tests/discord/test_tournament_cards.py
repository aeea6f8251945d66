"""A tournament's card in a Discord channel."""

import pytest

from bot.store import Store
from tests.discord.players import Person, on_discord, text_of, until
from tests.discord.server import CHANNEL, Channel, DiscordServer


@pytest.fixture(autouse=True)
def _frequent_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.tournaments.feature.POLL_SECONDS", 0.05)


def cards(channel: Channel) -> list[str]:
    return [text for message in channel.messages.values() if "🏆" in (text := text_of(message))]


async def test_card_answers_command_and_pages_are_ephemeral(store: Store, server: DiscordServer) -> None:
    anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
    async with on_discord(store, server):
        channel = server.channels[CHANNEL]
        await anna.slash("tournament", channel, game="testa", target=11)
        assert "Not started yet" in await bruno.press("Sign up", channel)
        await until(lambda: "2 players:" in cards(channel)[-1])
        await bruno.press("How it works", channel)
        await bruno.press("A match", channel)
        await until(lambda: bruno.button("Ties", channel) is None)
        await anna.press("Options", channel)
        await anna.press("Points to win", channel)
        await anna.press("21", channel)
        await until(lambda: "To 21 points" in cards(channel)[-1])
        for label in ("Done", "◀ Back", "Start"):
            await anna.press(label, channel)
        await until(lambda: "Final" in cards(channel)[-1])
        assert len(cards(channel)) == 1
