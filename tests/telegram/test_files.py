"""Files for one person go only to the private chat, as documents."""

import json

from bot.store import Store
from tests.telegram.players import GROUP, Person, on_telegram, until
from tests.telegram.server import TelegramServer


async def test_mydata_document_goes_to_the_private_chat(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna")
    async with on_telegram(store, server):
        group = server.group(GROUP)
        anna.say("/mydata", group)
        await until(lambda: any("document" in message for message in anna.private.messages.values()))
        document = json.loads(server.files["buongioco-mydata.json"])
        assert document["person"] == "telegram:1"
        assert document["profile"]["name"] == "Anna"
        assert not any("document" in message for message in group.messages.values())


async def test_mydata_without_private_chat_asks_to_open_it(store: Store, server: TelegramServer) -> None:
    anna = Person(server, 1, "Anna", has_started=False)
    async with on_telegram(store, server):
        group = server.group(GROUP)
        anna.say("/mydata", group)
        await until(
            lambda: any("Open our private chat" in message.get("text", "") for message in group.messages.values())
        )
        assert not any("document" in message for chat in server.chats.values() for message in chat.messages.values())
