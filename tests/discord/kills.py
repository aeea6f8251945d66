"""The kill harness on Discord: the bot is killed while the fake server and its people continue.

python -m tests.discord.kills --kills 100 --seed 1
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.discord.players import Person, buttons_of, picture_of, text_of
from tests.discord.server import BAR, BOT, PRIVATE, TOKEN, DiscordServer, Interaction
from tests.kills.bot_process import Bot
from tests.kills.harness import main
from tests.kills.pages import PlatformPage
from tests.telegram.kills import NAMES

DEFERRED = 6  # type of an answer that only acknowledges a press


class DiscordPage(PlatformPage):
    """The messages that six people see on Discord.

    Discord recognizes a repeated message by its nonce. A challenge card can appear twice, because as a command's answer
    it has no nonce.
    """

    platform = "discord"
    can_be_duplicated = frozenset({"cards"})
    redelivers = False

    def __init__(self, bot: Bot, server: DiscordServer) -> None:
        super().__init__(bot)
        self.server = server
        self.persons = {str(number): Person(server, number, name) for number, name in enumerate(NAMES, 1)}
        self.people = [{"id": number, "name": person.name} for number, person in self.persons.items()]
        self._server = server.add_server(BAR)
        self._channels = count(1000)

    def chats(self) -> Iterator[tuple[str, dict[int, dict[str, Any]]]]:
        for channel in self.server.channels.values():
            yield f"@{channel.users[0]}" if channel.type == PRIVATE else "1", channel.messages

    def editable_parts(self, message: dict[str, Any]) -> tuple[object, ...]:
        return message["components"], message["content"]

    def convert(self, message: dict[str, Any]) -> dict[str, Any]:
        rows = [[{"payload": button["custom_id"], "kind": "press"} for button in buttons_of(message)]]
        by = "bot" if message["author"] == BOT else "person"
        shown_picture = picture_of(message)
        picture = {"name": shown_picture[0].removesuffix(".png"), "alt": shown_picture[1]} if shown_picture else None
        return {"id": int(message["id"]), "by": by, "text": text_of(message), "rows": rows, "picture": picture}

    def say(self, person: str, text: str) -> None:
        word, *words = text.removeprefix("/").split(" ")
        options = {"game": words[0]} if word == "challenge" else {}
        if any(command["name"] == word for command in self.server.commands):
            channel = self.server.add_channel(next(self._channels), self._server)
            self.persons[person].start_command(word, channel, **options)

    def press_button(self, person: str, message: int, payload: str) -> Interaction | None:
        for channel in self.server.channels.values():
            if message in channel.messages:
                return self.persons[person].start_press(channel, channel.messages[message], payload)
        return None

    def answer_text(self, press: Interaction) -> str | None:
        if not press.answer:
            return None
        if press.answer == DEFERRED:
            return "deferred"
        message = press.channel.ephemerals[press.user].get(press.original)
        return text_of(message) if message and press.original != press.message else ""


@asynccontextmanager
async def on_discord(folder: Path) -> AsyncIterator[DiscordPage]:
    server = DiscordServer()
    await server.start()
    try:
        settings = {"BUONGIOCO_DISCORD_TOKEN": TOKEN, "BUONGIOCO_DISCORD_API_URL": server.url}
        yield DiscordPage(Bot(folder, **settings), server)
    finally:
        await server.stop()


if __name__ == "__main__":
    main(on_discord)
