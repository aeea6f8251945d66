"""Only members with the permission *Manage Server* can change a server's settings on Discord."""

import pytest

from bot.store import Store
from tests.discord.players import BAR, CHANNEL, Person, on_discord, text_of, until
from tests.discord.server import GROUP, DiscordServer

MANAGE_SERVER, ADMINISTRATOR = 1 << 5, 1 << 3


@pytest.mark.parametrize("permission", [MANAGE_SERVER, ADMINISTRATOR])
async def test_server_managers_change_the_servers_settings(
    store: Store, server: DiscordServer, permission: int
) -> None:
    async with on_discord(store, server) as adapter:
        anna, bruno = Person(server, 1, "Anna"), Person(server, 2, "Bruno")
        channel, place = server.channels[CHANNEL], f"discord:{BAR}/{CHANNEL}"
        server.permissions_by_user[1] = permission
        await bruno.slash("settings")
        answer = await bruno.press("⏱ 1 min", channel)
        assert answer == "Only this group’s administrators can change its settings: ask one of them."
        assert (await adapter.worker.people.chat(place)).clock == 300
        assert await anna.press("⏱ 1 min", channel) == ""
        assert (await adapter.worker.people.chat(place)).clock == 60


async def test_everyone_in_a_group_chat_changes_settings(store: Store, server: DiscordServer) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        friends = server.add_channel(300, kind=GROUP, users=(1, 2))
        await anna.slash("settings", friends)
        assert await anna.press("⏱ 1 min", friends) == ""
        assert (await adapter.worker.people.chat(f"discord:guest{friends.id}")).clock == 60


@pytest.mark.parametrize("word", ["find", "nickname"])
async def test_ephemeral_page_does_not_point_to_the_private_chat(
    store: Store, server: DiscordServer, word: str
) -> None:
    async with on_discord(store, server) as adapter:
        anna = Person(server, 1, "Anna")
        await anna.slash("help", anna.private)
        await anna.slash(word)
        await until(lambda: bool(server.channels[CHANNEL].ephemerals[1]))
        await adapter.worker.wait_until_idle()
        texts = [text_of(message) for message in server.channels[CHANNEL].ephemerals[1].values()]
        assert len(texts) == 1
        assert "private chat" not in texts[0]
