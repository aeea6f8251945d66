"""People on the fake Telegram, who read messages and press buttons."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from adapters.telegram.adapter import Telegram
from bot.actions import is_page
from bot.handlers import Dispatcher
from bot.rate_limiter import RateLimit
from bot.running.supervisor import Supervisor
from bot.settings import Settings
from bot.store import Store
from bot.worker import Worker
from engine import GAMES
from tests.bot.fake_platform import ACCEPT, NAMES
from tests.telegram.content import buttons_of, payloads_of
from tests.telegram.server import TOKEN, Chat, TelegramServer

GROUP = -1001


class Person:
    def __init__(
        self, server: TelegramServer, number: int, name: str, language: str = "en", *, has_started: bool = True
    ) -> None:
        self.server, self.number, self.name = server, number, name
        server.users[number] = {
            "id": number,
            "is_bot": False,
            "first_name": name,
            "username": name.lower(),
            "language_code": language,
        }
        self.private = server.private(number)
        if has_started:
            server.started_users.add(number)

    def say(self, text: str, chat: Chat | None = None, **fields: Any) -> dict[str, Any]:
        """Write a message; ``fields`` are other fields of it."""
        return self.server.write(chat or self.server.group(GROUP), self.number, text, **fields)

    def start(self, code: str = "") -> None:
        """Press Start, or open a deep link with a code."""
        self.server.started_users.add(self.number)
        self.say(f"/start {code}".strip(), self.private)

    def visible_messages(self, chat: Chat) -> list[dict[str, Any]]:
        """Return a chat's messages, oldest first, then the ephemeral ones for this person."""
        return [*chat.messages.values(), *chat.ephemerals[self.number].values()]

    def button(self, label: str, chat: Chat) -> tuple[dict[str, Any], dict[str, Any]] | None:
        for message in reversed(self.visible_messages(chat)):
            for button in buttons_of(message):
                if label in button["text"]:
                    return message, button
        return None

    async def press(self, label: str, chat: Chat | None = None) -> str:
        """Wait for a button and press it; return the toast."""
        chat = chat or self.private
        await until(lambda: self.button(label, chat) is not None)
        match = self.button(label, chat)
        assert match
        message, button = match
        return await self.send_press(chat, message, button["callback_data"])

    async def send_press(self, chat: Chat, message: dict[str, Any], data: str) -> str:
        query = self.server.press(chat, message, self.number, data)
        await until(lambda: "answered" in self.server.answers[query])
        return str(self.server.answers[query]["text"])

    async def play(self, random: Random) -> bool:
        """Press a random move on the last panel; return whether there was one. Bids other than 4 and 5 are too risky."""
        panels = [message for message in self.private.messages.values() if message["from"]["is_bot"]]
        if not panels:
            return False
        payloads = payloads_of(panels[-1])
        bids = [data for data in payloads if data.endswith((":bid 4", ":bid 5"))]
        payloads = [
            data
            for data in bids or payloads
            if not is_page(data) and not data.endswith(("claim", "blind", "resign", "browser"))
        ]
        if not payloads:
            return False
        await self.send_press(self.private, panels[-1], random.choice(payloads))
        return True


def bot_text(chat: Chat) -> str:
    """Return the texts of the bot's messages in a chat."""
    return "\n".join(message["text"] for message in chat.messages.values() if message["from"]["is_bot"])


async def until(is_done: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition is met."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not is_done():
        if asyncio.get_running_loop().time() > deadline:
            raise AssertionError(f"the condition was not met within {seconds:.0f} seconds")
        await asyncio.sleep(0.005)


class ObservedTelegram(Telegram):
    """The adapter with its worker, which tests can reach."""

    worker: Worker


@asynccontextmanager
async def on_telegram(
    store: Store,
    server: TelegramServer,
    *,
    quick: bool = True,
    alone: bool = True,
    pictures: bool = False,
    **other_settings: Any,
) -> AsyncIterator[ObservedTelegram]:
    """Run a worker with the real adapter and library on the fake server.

    ``quick`` removes the adapter's rate limits.
    """
    settings = Settings(_env_file=None, telegram_token=TOKEN, telegram_api_url=server.url, **other_settings)
    worker = Worker(store, settings, alone=alone, robot_pause=0.0)
    worker.room.new_secret = Random(0).randbytes
    adapter = ObservedTelegram(Dispatcher(worker), TOKEN)
    adapter.worker = worker
    adapter.shows_pictures = pictures
    if quick:
        adapter.rate_limit = lambda place: RateLimit()  # type: ignore[method-assign]
        adapter.overall_rate_limit = RateLimit  # type: ignore[method-assign]
    worker.add_adapter(adapter)
    serving = asyncio.create_task(Supervisor(worker).run())
    await worker.start()
    try:
        yield adapter
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await worker.stop()


async def seat_people(server: TelegramServer, game: str, *options: str) -> list[Person]:
    """Seat people at a new table; return them by seat."""
    group = server.group(GROUP)
    people = [Person(server, number, name) for number, name in enumerate(NAMES[: GAMES[game].seats], 1)]
    people[0].say(f"/challenge {game}")
    for option in options:
        for label in ("Change", option, "Done"):
            await people[0].press(label, group)
    for person, label in zip(people[1:], ACCEPT[len(people)], strict=True):
        toast = await person.press(label, group)
        if "asked" in toast:
            partner = people[0] if label == "Sit North" else people[1]
            await partner.press("Accept")
    return people
