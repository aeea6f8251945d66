"""The kill harness on Telegram: the bot is killed, the paper server and its people live on.

python -m tests.telegram.kills --kills 100 --seed 1
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

from tests.bot.kills import Bot, Page, main
from tests.telegram.players import Person
from tests.telegram.server import TOKEN, Chat, TelegramServer

PATIENCE = 3.0
"""Seconds after which a person gives up a button that turns: a bot that is killed may have taken a press along."""

NAMES = ("Anna", "Bruno", "Carla", "Dino", "Elsa", "Furio")


class TelegramPage(Page):
    """What six people see on Telegram. Each challenge is made in a group of its own, for groups are slow."""

    platform = "telegram"
    knows_doubles = False

    def __init__(self, bot: Bot, server: TelegramServer) -> None:
        self.bot, self.server = bot, server
        self.persons = {str(number): Person(server, number, name) for number, name in enumerate(NAMES, 1)}
        self.people = [{"id": number, "name": one.name} for number, one in self.persons.items()]
        self.done: set[str] = set()
        self.refused: set[str] = set()
        self.asked: dict[str, dict[str, Any]] = {}
        self.queries: dict[str, str] = {}
        self._groups = count(1)
        self._names = count(1)

    @property
    def messages(self) -> dict[str, dict[int, dict[str, Any]]]:  # type: ignore[override]
        """As the playground's page has them: by chat, all groups in one."""
        seen: dict[str, dict[int, dict[str, Any]]] = {}
        for chat in self.server.chats.values():
            name = f"@{chat.id}" if chat.type == "private" else "1"
            seen.setdefault(name, {}).update({number: self._shown(one) for number, one in chat.messages.items()})
        return seen

    @staticmethod
    def _shown(message: dict[str, Any]) -> dict[str, Any]:
        rows = message.get("reply_markup", {}).get("inline_keyboard", ())
        return {
            "id": message["message_id"],
            "by": "bot" if message["from"]["is_bot"] else "person",
            "text": message["text"],
            "rows": [
                [{"payload": button["callback_data"], "kind": "press"} for button in row if "callback_data" in button]
                for row in rows
            ],
        }

    def panels(self, person: str, code: str) -> list[dict[str, Any]]:
        found = self.messages.get(f"@{person}", {}).values()
        return [one for one in found if one["by"] == "bot" and code in one["text"]]

    async def connect(self, session: aiohttp.ClientSession) -> None:
        deadline = time.monotonic() + 40
        while True:
            try:
                async with session.get(f"{self.bot.url}/healthz") as answer:
                    if answer.status == 200:
                        return
            except (aiohttp.ClientError, OSError):
                pass
            if time.monotonic() > deadline:
                raise AssertionError("the bot does not come back")
            await asyncio.sleep(0.05)

    async def listen(self) -> None:
        """Until the bot is no more."""
        assert self.bot.process
        await self.bot.process.wait()

    async def ask(self, name: str = "", **wish: Any) -> str:
        """A press waits for its answer; asked again it is the same press, which Telegram delivers until it is taken."""
        name = name or f"t{next(self._names):07}"
        self.asked[name] = wish
        if wish["do"] == "say":
            group = self.server.group(-2000 - next(self._groups))
            self.persons[wish["as"]].say(wish["text"], group)
            return "done"
        if name not in self.queries:
            found = self._message(wish["message"])
            if found is None:
                return "lost"
            self.queries[name] = self.server.press(*found, int(wish["as"]), wish["payload"])
        return await self._answer(name)

    async def _answer(self, name: str) -> str:
        answer = self.server.answers[self.queries[name]]
        deadline = time.monotonic() + PATIENCE
        while not answer:
            gone = self.bot.process is None or self.bot.process.returncode is not None
            if gone or time.monotonic() > deadline:
                return "lost"
            await asyncio.sleep(0.005)
            answer = self.server.answers[self.queries[name]]
        (self.refused if answer["text"] else self.done).add(name)
        return "toast" if answer["text"] else "done"

    def _message(self, number: int) -> tuple[Chat, dict[str, Any]] | None:
        for chat in self.server.chats.values():
            if number in chat.messages:
                return chat, chat.messages[number]
        return None


@asynccontextmanager
async def on_telegram(folder: Path) -> AsyncIterator[TelegramPage]:
    server = TelegramServer()
    await server.start()
    try:
        settings = {"BUONGIOCO_TELEGRAM_TOKEN": TOKEN, "BUONGIOCO_TELEGRAM_API_URL": server.url}
        yield TelegramPage(Bot(folder, **settings), server)
    finally:
        await server.stop()


if __name__ == "__main__":
    main(on_telegram)
