"""Results that people forward: messages without buttons in their private chat."""

from typing import Any

from bot.features.daily.feature import DailyFeature
from bot.store import Store
from bot.tables.snapshot import isolate_name
from tests.discord.players import Person, buttons_of, on_discord, seat_people, text_of
from tests.discord.server import CHANNEL, DiscordServer


def newest_message(person: Person) -> dict[str, Any]:
    """Return the newest message that the person can forward. Ephemeral messages cannot be forwarded."""
    return list(person.private.messages.values())[-1]


async def test_game_is_shared_from_the_private_chat(store: Store, server: DiscordServer) -> None:
    channel = server.channels[CHANNEL]
    async with on_discord(store, server) as adapter:
        anna, bruno = await seat_people(server, "testa")
        await anna.slash("resign", anna.private)
        await anna.press("Yes")
        await adapter.worker.wait_until_idle()
        await bruno.press("Share")
        shared = newest_message(bruno)
        assert text_of(shared) == f"🏆 {isolate_name('Bruno')} wins: {isolate_name('Anna')} resigned\nTesta a Testa"
        assert not buttons_of(shared)
        # In the server everyone reads the result.
        assert not any(
            button["label"] == "Share" for message in channel.messages.values() for button in buttons_of(message)
        )


async def test_deal_of_the_day_is_shared_from_the_private_chat(store: Store, server: DiscordServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_discord(store, server) as adapter:
        await anna.slash("daily", anna.private)
        await anna.press("Play")
        await adapter.worker.wait_until_idle()
        await anna.slash("resign", anna.private)
        await anna.press("Yes")
        await adapter.worker.wait_until_idle()
        await adapter.worker.feature(DailyFeature).days.wait_for_par()
        await anna.press("Share")
        shared = newest_message(anna)
        assert text_of(shared).startswith("Buongioco ")
        assert text_of(shared).endswith("given up")
        assert not buttons_of(shared)
