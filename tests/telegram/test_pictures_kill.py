"""A bot with pictures that is killed: what stands there in the end is of one state, each message once."""

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest

from tests.kills.bot_process import Bot
from tests.telegram.content import words_of
from tests.telegram.players import GROUP, Person, until
from tests.telegram.server import BOT, TOKEN, Failure, TelegramServer

PATIENCE = 60.0


def panels(person: Person) -> list[dict[str, Any]]:
    """The bot's messages in somebody's private chat, oldest first."""
    return [one for one in person.private.messages.values() if one["from"] == BOT]


def hand(person: Person) -> dict[str, Any]:
    return panels(person)[-1]


async def settled(server: TelegramServer) -> None:
    """Until nothing has been shown for a while."""
    before = -1
    while before != (shown := sum(method != "getUpdates" for method, _fields in server.calls)):
        before = shown
        await asyncio.sleep(2.0)


@pytest.mark.long
@pytest.mark.parametrize("failure", [Failure(silent=True), Failure(silent=True, done_first=True)], ids=["lost", "made"])
async def test_a_kill_in_the_middle_of_an_upload(server: TelegramServer, tmp_path: Path, failure: Failure) -> None:
    bot = Bot(tmp_path, BUONGIOCO_TELEGRAM_TOKEN=TOKEN, BUONGIOCO_TELEGRAM_API_URL=server.url)
    people = [Person(server, number, name) for number, name in enumerate(("Anna", "Bruno"), 1)]
    random = Random(1)
    async with aiohttp.ClientSession() as session:
        try:
            await bot.start()
            await bot.until_healthy(session)
            people[0].say("/challenge testa")
            await people[1].press("Accept", server.group(GROUP))
            await until(lambda: all(panels(person) for person in people), PATIENCE)
            while not all("photo" in hand(person) for person in people):
                for person in people:
                    await person.play(random)
                await settled(server)
            before = [words_of(hand(person)) for person in people]
            server.order("editMessageMedia", failure, failure, failure)
            mover = next(person for person in people if "Your turn" in words_of(hand(person)))
            uploads = server.photos.uploads
            await mover.play(random)
            await until(lambda: server.photos.uploads > uploads, PATIENCE)
            await bot.kill()
            server.forget_orders()
            await bot.start()
            await bot.until_healthy(session)
            await until(lambda: any(words_of(hand(person)) not in before for person in people), PATIENCE)
            # The painter may take a while to start: then the text comes first, and its picture as another message.
            await until(lambda: all(len(panels(one)) == 1 and "photo" in hand(one) for one in people), PATIENCE)
            await until(lambda: sum("Your turn" in words_of(hand(one)) for one in people) == 1, PATIENCE)
        finally:
            await bot.kill()
            bot.kill_store()
