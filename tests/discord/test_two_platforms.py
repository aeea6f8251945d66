"""One table, one player on Telegram and one on Discord, each with the real adapter and library."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import pytest

from adapters.discord.adapter import Discord
from adapters.telegram.adapter import Telegram
from bot.find import matching
from bot.handlers import Dispatcher
from bot.settings import Settings
from bot.store import Store
from bot.supervisor import Supervisor
from bot.worker import Worker
from engine import verify
from tests.discord.players import Person as DiscordPerson
from tests.discord.players import buttons_of, text_of
from tests.discord.server import CHANNEL, DiscordServer
from tests.discord.server import TOKEN as DISCORD_TOKEN
from tests.telegram.players import GROUP, until
from tests.telegram.players import Person as TelegramPerson
from tests.telegram.server import TOKEN as TELEGRAM_TOKEN
from tests.telegram.server import TelegramServer
from tests.telegram.test_inline import elsewhere, sent, words_of
from tests.telegram.test_two_platforms import boards


@asynccontextmanager
async def both(store: Store, server: DiscordServer, **settings: Any) -> AsyncIterator[tuple[Worker, TelegramServer]]:
    """A worker with both adapters, speaking to the two fake servers."""
    telegram_server = TelegramServer()
    await telegram_server.start()
    settings |= {"telegram_api_url": telegram_server.url, "discord_api_url": server.url}
    worker = Worker(store, Settings(_env_file=None, **settings), robot_pause=0.0)
    dispatcher = Dispatcher(worker)
    telegram, discord = Telegram(dispatcher, TELEGRAM_TOKEN), Discord(dispatcher, DISCORD_TOKEN)
    telegram.shows_pictures = discord.shows_pictures = False
    for adapter in (telegram, discord):
        adapter.rate_limit = lambda place: None  # type: ignore[method-assign]
        worker.add(adapter)
    serving = asyncio.create_task(Supervisor(worker).run())
    await worker.start()
    try:
        await until(lambda: discord.healthy)
        yield worker, telegram_server
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await worker.stop()
        await telegram_server.stop()


async def test_both_groups_see_the_same_tricks(store: Store, server: DiscordServer) -> None:
    async with both(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), DiscordPerson(server, 2, "Bruno")
        group, channel = telegram_server.group(GROUP), server.channels[CHANNEL]
        anna.say("/challenge testa 11")
        await until(lambda: anna.button("Accept", group) is not None)
        [table] = await worker.tables_of("telegram:1")
        assert "You sit at table" in await bruno.slash("join", table=table.code)
        random = Random(1)
        seen: list[bool] = []
        for _ in range(400):
            await anna.play(random)
            await bruno.play(random)
            await worker.settled()
            on_telegram = boards([message["text"] for message in group.messages.values()])
            on_discord = boards([text_of(message) for message in channel.messages.values()])
            seen.append(bool(on_telegram) and on_telegram == on_discord)
            if await worker.archive.count():
                break
        assert all(seen)
        assert len(seen) > 10
        [game] = [game async for game in worker.archive.all()]
        verify(game.record)
        assert set(game.people) == {"telegram:1", "discord:2"}
        assert any("won by" in text_of(message) for message in channel.messages.values())
        assert any("won by" in message["text"] for message in group.messages.values())


async def test_a_chat_without_the_bot_and_a_channel_see_the_same_tricks(store: Store, server: DiscordServer) -> None:
    """One sits in a chat of which Telegram tells nothing, at a table by inline message; the other in a channel."""
    async with both(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), DiscordPerson(server, 2, "Bruno")
        chat, channel = elsewhere(), server.channels[CHANNEL]
        await sent(telegram_server, anna, chat, "testa", typed="11 testa")
        await anna.press("Play", chat)
        [table] = await worker.tables_of("telegram:1")
        assert "You sit at table" in await bruno.slash("join", table=table.code)
        random = Random(1)
        seen: list[bool] = []
        for _ in range(400):
            await anna.play(random)
            await bruno.play(random)
            await worker.settled()
            on_discord = boards([text_of(message) for message in channel.messages.values()])
            seen.append(bool(on_discord) and words_of(chat) == on_discord[-1])
            if await worker.archive.count():
                break
        # The one message shows what is played now, and its result at the end.
        assert all(seen[:-1])
        assert len(seen) > 10
        [game] = [game async for game in worker.archive.all()]
        verify(game.record)
        assert set(game.people) == {"telegram:1", "discord:2"}
        assert any("won by" in text_of(message) for message in channel.messages.values())
        assert "won by" in words_of(chat)


async def test_the_deal_of_the_day_is_the_same_on_both_platforms(store: Store, server: DiscordServer) -> None:
    async with both(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), DiscordPerson(server, 2, "Bruno")
        anna.say("/daily", anna.private)
        await until(lambda: anna.button("Play", anna.private) is not None)
        await anna.press("Play")
        await bruno.slash("daily", bruno.private)
        await bruno.press("Play")
        for person in ("telegram:1", "discord:2"):
            while not await worker.days.results.of(worker.days.today(), person):
                [table] = await worker.tables_of(person)
                if table.phase == "playing" and table.game and table.game.turn == 0:
                    legal = [one for one in table.game.legal_moves(0) if one not in ("resign", "claim")]
                    version = table.oldest_panel(0)
                    await worker.room.press(table.code, person, version, legal[0], f"{person} {table.version}")
                await worker.settled()
                await asyncio.sleep(0.01)
        one, other = [game.record.deals[0] for _day, game in await worker.days.results.held()]
        assert [entry[:2] for entry in one.moves] == [entry[:2] for entry in other.moves]
        await worker.settled()
        await until(
            lambda: any(
                "Deal of the day" in text_of(message) and "You:" in text_of(message)
                for message in bruno.private.messages.values()
            )
        )
        await until(lambda: any("To send to friends" in one.get("text", "") for one in anna.private.messages.values()))


async def test_strangers_find_each_other_across_platforms(store: Store, server: DiscordServer) -> None:
    async with both(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Annamaria"), DiscordPerson(server, 2, "Brunello")
        anna.say("/find testa", anna.private)
        await bruno.slash("find", bruno.private, game="testa")
        await anna.press("Ready")
        await bruno.press("Ready")
        await until(lambda: any("deal 1" in text_of(message) for message in bruno.private.messages.values()))
        [table] = await worker.tables_of("telegram:1")
        random = Random(1)
        while (table := await worker.room.table(table.code)).version < 20:
            await anna.play(random)
            await bruno.play(random)
            await worker.settled()
        assert {chair.person for chair in table.chairs if chair} == {"telegram:1", "discord:2"}
        theirs = [text_of(message) for message in bruno.private.messages.values()]
        hers = [one.get("text", "") for one in anna.private.messages.values() if one["from"]["is_bot"]]
        assert not [text for text in theirs if "annamaria" in text.lower() or "telegram" in text.lower()]
        assert not [text for text in hers if "brunello" in text.lower() or "discord" in text.lower()]


async def test_four_strangers_of_two_platforms_fill_the_chairs_of_a_table(store: Store, server: DiscordServer) -> None:
    async with both(store, server) as (worker, telegram_server):
        hers = [TelegramPerson(telegram_server, number, name) for number, name in ((1, "Annamaria"), (3, "Carlotta"))]
        his = [DiscordPerson(server, number, name) for number, name in ((2, "Brunello"), (4, "Dinamite"))]
        everybody: list[TelegramPerson | DiscordPerson] = [*hers, *his]
        for woman in hers:
            woman.say("/find tressette", woman.private)
        for man in his:
            await man.slash("find", man.private, game="tressette")
        for each in everybody:
            await each.press("Ready")
        await until(lambda: any("deal 1" in text_of(message) for message in his[0].private.messages.values()))
        [table] = await worker.tables_of("telegram:1")
        random = Random(1)
        while (table := await worker.room.table(table.code)).version < 30:
            for each in everybody:
                await each.play(random)
            await worker.settled()
        assert {chair.person for chair in table.chairs if chair} == {
            "telegram:1",
            "telegram:3",
            "discord:2",
            "discord:4",
        }
        read = [text_of(message) for man in his for message in man.private.messages.values()]
        assert not [text for text in read if "annamaria" in text.lower() or "carlotta" in text.lower()]


async def test_strangers_of_two_platforms_greet_report_and_block_each_other(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A first game moves ratings far apart.
    monkeypatch.setattr(matching, "RATING_BOUND", 10_000)
    async with both(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Annamaria"), DiscordPerson(server, 2, "Brunello")
        olga = TelegramPerson(telegram_server, 9, "Olga")

        def read_by_anna() -> list[str]:
            return [one.get("text", "") for one in anna.private.messages.values() if one["from"]["is_bot"]]

        def read_by_bruno() -> list[str]:
            return [text_of(message) for message in bruno.private.messages.values()]

        async def both_look() -> None:
            before = sum("I look for somebody" in text for text in read_by_anna())
            anna.say("/find testa", anna.private)
            await bruno.slash("find", bruno.private, game="testa")
            await until(lambda: sum("I look for somebody" in text for text in read_by_anna()) > before)

        await both_look()
        await anna.press("Ready")
        await bruno.press("Ready")
        await until(lambda: any("deal 1" in text for text in read_by_anna()))
        await until(lambda: any("deal 1" in text for text in read_by_bruno()))
        [table] = await worker.tables_of("telegram:1")

        await worker.people.choose("discord:2", language="it")
        await anna.press("💬 Say")
        assert await anna.press("Good luck!") == "💬 Good luck!"
        await until(lambda: any("Buona fortuna!" in text for text in read_by_bruno()))

        olga.say("/help", olga.private)
        await until(lambda: len(olga.private.messages) > 1)
        await bruno.press("🚩 Segnala")
        await bruno.press("Sì, segnala")
        await until(lambda: any("🚩 Segnala" in button["label"] for button in buttons_of(_last(bruno))))
        await worker.teller.tell("telegram:9")
        [told] = [one["text"] for one in olga.private.messages.values() if one["text"].startswith("A report")]
        assert "telegram:1" in told
        assert "discord:2" in told

        await anna.press("🚫 Block")
        assert "matched with them no more" in await anna.press("Yes, block")
        seat = table.seat_of("telegram:1")
        assert seat is not None
        version = (await worker.room.table(table.code)).oldest_panel(seat)
        await worker.room.press(table.code, "telegram:1", version, "resign", "r")
        await until(lambda: any("Rematch" in str(one) for one in anna.private.messages.values()))
        await worker.people.choose("discord:2", language="en")
        # The pairing ends a second after the game has begun, and this one was short.
        await worker.finder.tend()
        await both_look()
        for _ in range(2):
            await worker.finder.tend()
        queue = worker.finder.queue
        assert sorted(one.waiting.person for one in await queue.waiting()) == ["discord:2", "telegram:1"]
        anna.say("/block", anna.private)
        await anna.press("Unblock")
        await worker.finder.tend()
        assert await queue.waiting() == []
        everything = "\n".join([*read_by_anna(), *read_by_bruno()]).lower()
        assert not [secret for secret in ("annamaria", "brunello", "telegram:1", "discord:2") if secret in everything]


def _last(person: DiscordPerson) -> dict[str, Any]:
    return list(person.private.messages.values())[-1]
