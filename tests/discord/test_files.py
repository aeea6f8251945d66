"""Files in ephemeral answers on Discord."""

import json

from bot.store import Store
from tests.discord.players import CHANNEL, Person, iter_components, on_discord
from tests.discord.server import DiscordServer


async def test_mydata_file_comes_in_an_ephemeral_answer(store: Store, server: DiscordServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_discord(store, server):
        assert "This file has everything I keep about you" in await anna.slash("mydata")
        channel = server.channels[CHANNEL]
        [message] = channel.ephemerals[anna.number].values()
        assert [
            component["file"]["url"] for component in iter_components(message["components"]) if component["type"] == 13
        ] == ["attachment://buongioco-mydata.json"]
        assert json.loads(server.files["buongioco-mydata.json"])["person"] == "discord:1"
        assert not channel.messages
