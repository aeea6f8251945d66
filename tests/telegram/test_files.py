"""Files for one person go to the private chat as documents, and nowhere else."""

import json

from bot.store import Store
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import TelegramServer


async def test_mydata_document_goes_to_the_private_chat(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server):
        group = server.group(GROUP)
        anna.say("/mydata", group)
        await until(lambda: any("document" in one for one in anna.private.messages.values()))
        document = json.loads(server.files["buongioco-mydata.json"])
        assert document["person"] == "telegram:1"
        assert document["profile"]["name"] == "Anna"
        assert not any("document" in one for one in group.messages.values())


async def test_mydata_without_private_chat_asks_to_open_it(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna", started=False)
    async with on_telegram(store, server):
        group = server.group(GROUP)
        anna.say("/mydata", group)
        await until(lambda: any("Open our private chat" in one.get("text", "") for one in group.messages.values()))
        assert not any("document" in one for chat in server.chats.values() for one in chat.messages.values())
