"""One table with a player on Telegram and one in the playground, both with their real adapters."""

import asyncio
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import aiohttp

from adapters.telegram.adapter import Telegram
from bot.handlers import Dispatcher
from bot.rate_limiter import RateLimit
from tests.kills.pages import Page
from tests.open_playground import OpenPlayground
from tests.telegram.players import GROUP, Person, until
from tests.telegram.server import TOKEN, TelegramServer


def find_boards(messages: list[str]) -> list[str]:
    """Return the texts that are boards."""
    return [text for text in messages if " · deal " in text]


async def test_both_groups_see_the_same_tricks(tmp_path: Path, server: TelegramServer) -> None:
    playground = OpenPlayground(tmp_path / "data")
    await playground.start()
    worker = playground.worker
    worker.settings = worker.settings.model_copy(update={"telegram_api_url": server.url})
    telegram = Telegram(Dispatcher(worker), TOKEN)
    # Without pictures, a board's text names each card when it is played.
    telegram.shows_pictures = playground.playground.shows_pictures = False
    telegram.rate_limit = lambda place: RateLimit()  # type: ignore[method-assign]
    worker.add_adapter(telegram)
    serving = asyncio.create_task(telegram.serve())
    url: Any = SimpleNamespace(url=playground.url.rstrip("/"), is_running=True)
    page = Page(url)
    try:
        async with aiohttp.ClientSession() as session:
            await page.connect(session)
            listening = asyncio.create_task(page.listen())
            anna = Person(server, 1, "Anna")
            group = server.group(GROUP)
            anna.say("/challenge metamazzo")
            await until(lambda: anna.button("Join", group) is not None)
            [table] = await worker.room.lists.tables_of("telegram:1")
            await page.ask(do="say", chat="1", text=f"/join {table.code}", **{"as": "1"})
            random = Random(1)

            def telegram_boards() -> list[str]:
                return find_boards([message["text"] for message in group.messages.values()])

            def playground_boards() -> list[str]:
                messages = page.messages["1"].values()
                return find_boards(["".join(span[0] for span in message.get("spans", ())) for message in messages])

            for _ in range(40):
                await anna.play(random)
                for message, payload in [button for button in page.buttons("1") if ":play " in button[1]][:1]:
                    await page.ask(do="press", chat="@1", message=message, payload=payload, **{"as": "1"})
                await asyncio.sleep(0.01)
            await until(lambda: bool(telegram_boards()) and telegram_boards() == playground_boards())
            listening.cancel()
            await asyncio.wait([listening])
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await playground.stop()
