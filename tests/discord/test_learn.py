"""Courses on Discord. In a server only the presser sees them."""

from bot.store import Store
from tests.discord.players import on_discord, picture_of, seat_people, text_of, until
from tests.discord.server import CHANNEL, DiscordServer
from tests.discord.test_pictures import _fast_pictures

__all__ = ["_fast_pictures"]


async def test_taps_go_through_a_course_in_an_ephemeral_message(store: Store, server: DiscordServer) -> None:
    channel = server.channels[CHANNEL]
    async with on_discord(store, server, pictures=True):
        [anna, bruno] = await seat_people(server, "testa")
        await anna.slash("learn")
        await until(lambda: any("🎓" in text_of(message) for message in anna.visible_messages(channel)))
        await anna.press("Spades", channel)
        await until(lambda: any("Spades · 1 of 9" in text_of(message) for message in anna.visible_messages(channel)))
        await anna.press("Throw it away", channel)
        await until(lambda: any("❌" in text_of(message) for message in anna.visible_messages(channel)))
        await anna.press("Keep it", channel)
        await until(lambda: any("Spades · 2 of 9" in text_of(message) for message in anna.visible_messages(channel)))
        [message] = [message for message in anna.visible_messages(channel) if "Spades · " in text_of(message)]
        assert picture_of(message)
        assert not any("Spades · " in text_of(message) for message in bruno.visible_messages(channel))
