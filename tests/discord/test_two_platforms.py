"""One table, one player on Telegram and one on Discord, each with the real adapter and library."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest

from adapters.discord.adapter import Discord
from adapters.telegram.adapter import Telegram
from bot.features.daily.days import Days
from bot.features.daily.feature import DailyFeature
from bot.features.daily.games import unstored_game
from bot.features.find import matching
from bot.features.find.feature import FindFeature
from bot.handlers import Dispatcher
from bot.running.supervisor import Supervisor
from bot.settings import Settings
from bot.store import Store
from bot.store.log import strip_stamp
from bot.tables.errors import NoSuchTable
from bot.tables.table import Table
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
from tests.telegram.test_inline import chat_without_bot, only_text, send_offer
from tests.telegram.test_two_platforms import find_boards


@asynccontextmanager
async def on_both_platforms(
    store: Store, server: DiscordServer, running: TelegramServer | None = None, **settings: Any
) -> AsyncIterator[tuple[Worker, TelegramServer]]:
    """Run a worker with both adapters against the fake servers. ``running`` is a Telegram that keeps running."""
    telegram_server = running or TelegramServer()
    if not running:
        await telegram_server.start()
    settings |= {"telegram_api_url": telegram_server.url, "discord_api_url": server.url}
    worker = Worker(store, Settings(_env_file=None, **settings), robot_pause=0.0)
    dispatcher = Dispatcher(worker)
    telegram, discord = Telegram(dispatcher, TELEGRAM_TOKEN), Discord(dispatcher, DISCORD_TOKEN)
    telegram.shows_pictures = discord.shows_pictures = False
    for adapter in (telegram, discord):
        adapter.rate_limit = lambda place: None  # type: ignore[method-assign]
        worker.add_adapter(adapter)
    serving = asyncio.create_task(Supervisor(worker).run())
    await worker.start()
    try:
        await until(lambda: discord.healthy)
        yield worker, telegram_server
    finally:
        serving.cancel()
        await asyncio.wait([serving])
        await worker.stop()
        if not running:
            await telegram_server.stop()


async def test_both_groups_see_the_same_tricks(store: Store, server: DiscordServer) -> None:
    async with on_both_platforms(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), DiscordPerson(server, 2, "Bruno")
        group, channel = telegram_server.group(GROUP), server.channels[CHANNEL]
        anna.say("/challenge testa 11")
        await until(lambda: anna.button("Play", group) is not None)
        [table] = await worker.room.lists.tables_of("telegram:1")
        assert "You’re at table" in await bruno.slash("join", table=table.code)
        random = Random(1)
        seen: list[bool] = []
        for _ in range(400):
            await anna.play(random)
            await bruno.play(random)
            await worker.settled()
            on_telegram = find_boards([message["text"] for message in group.messages.values()])
            on_discord = find_boards([text_of(message) for message in channel.messages.values()])
            seen.append(bool(on_telegram) and on_telegram == on_discord)
            if await worker.archive.count():
                break
        assert all(seen)
        assert len(seen) > 10
        [game] = [game async for game in worker.archive.games()]
        verify(game.record)
        assert set(game.people) == {"telegram:1", "discord:2"}
        assert any("won by" in text_of(message) for message in channel.messages.values())
        assert any("won by" in message["text"] for message in group.messages.values())


async def test_chat_without_bot_and_channel_see_the_same_tricks(store: Store, server: DiscordServer) -> None:
    """Anna plays by inline message in a chat without the bot, Bruno in a channel."""
    async with on_both_platforms(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), DiscordPerson(server, 2, "Bruno")
        chat, channel = chat_without_bot(), server.channels[CHANNEL]
        await send_offer(telegram_server, anna, chat, "testa", typed="11 testa")
        await anna.press("Play", chat)
        [table] = await worker.room.lists.tables_of("telegram:1")
        assert "You’re at table" in await bruno.slash("join", table=table.code)
        random = Random(1)
        seen: list[bool] = []
        for _ in range(400):
            await anna.play(random)
            await bruno.play(random)
            await worker.settled()
            on_discord = find_boards([text_of(message) for message in channel.messages.values()])
            seen.append(bool(on_discord) and only_text(chat) == on_discord[-1])
            if await worker.archive.count():
                break
        # The inline message shows the current tricks, and the result at the end.
        assert all(seen[:-1])
        assert len(seen) > 10
        [game] = [game async for game in worker.archive.games()]
        verify(game.record)
        assert set(game.people) == {"telegram:1", "discord:2"}
        assert any("won by" in text_of(message) for message in channel.messages.values())
        assert "won by" in only_text(chat)


class DailyPlayer:
    """A person who plays the deal of the day with the buttons of the newest panel.

    They play the first card by its code. Once, after ``errs_at`` moves, they choose the last of several cards instead.
    """

    def __init__(self, person: TelegramPerson | DiscordPerson, id: str, errs_at: int = -1) -> None:
        self.person, self.id, self.errs_at = person, id, errs_at
        self.has_erred = errs_at < 0
        self.pressed: list[str] = []

    async def start(self) -> None:
        if isinstance(self.person, TelegramPerson):
            self.person.say("/daily", self.person.private)
        else:
            await self.person.slash("daily", self.person.private)
        await self.person.press("Play")

    @staticmethod
    async def _is_played(worker: Worker, table: Table, move: str) -> bool:
        """Return whether a move was played or the table is gone after its last deal. An expired press plays nothing."""
        try:
            entries = (await worker.room.table(table.code)).log.entries
        except NoSuchTable:
            return True
        return any(strip_stamp(entry).decode() == f"0 {move}" for entry in entries)

    async def play(self, worker: Worker, cards: int) -> None:
        """Play until the person has played ``cards`` cards, or the deal is over."""
        while len(self.pressed) < cards:
            await until(lambda: bool(self._offered()) or self.is_over)
            if self.is_over:
                return
            offered = self._offered()
            errs = not self.has_erred and len(self.pressed) >= self.errs_at and len(offered) > 1
            message, payload = offered[-1 if errs else 0]
            [table] = await worker.room.lists.tables_of(self.id)
            await self.person.send_press(self.person.private, message, payload)  # type: ignore[arg-type]
            if await self._is_played(worker, table, payload.rpartition(":")[2]):
                self.pressed.append(payload.rpartition(" ")[2])
                self.has_erred = self.has_erred or errs
            await worker.alarms.settled()
            await worker.settled()

    @property
    def texts(self) -> list[str]:
        messages = self.person.private.messages.values()
        if isinstance(self.person, DiscordPerson):
            return [text_of(message) for message in messages]
        return [message.get("text", "") for message in messages]

    @property
    def is_over(self) -> bool:
        return any("\nYou " in text for text in self.texts)

    def _offered(self) -> list[tuple[dict[str, Any], str]]:
        message = list(self.person.private.messages.values())[-1]
        if isinstance(self.person, DiscordPerson):
            payloads = [button["custom_id"] for button in buttons_of(message)]
        else:
            rows = message.get("reply_markup", {}).get("inline_keyboard", ())
            payloads = [button["callback_data"] for row in rows for button in row if "callback_data" in button]
        cards = [payload for payload in payloads if payload.startswith("1m") and ":play " in payload]
        return [(message, payload) for payload in sorted(cards, key=lambda payload: payload.rpartition(" ")[2])]


@pytest.mark.long
async def test_same_daily_moves_give_same_result_on_both_platforms(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A game played with cards only, without declarations, packets or bids.
    day = next(
        day for day in (date(2026, 11, 24) + timedelta(days=n) for n in range(7)) if unstored_game(day) == "tressette"
    )
    monkeypatch.setattr(Days, "today", lambda _days: day)
    # Some presses change nothing on their panel. Their answer must not take long.
    monkeypatch.setattr("adapters.discord.adapter.DELIVERY_SECONDS", 0.2)
    telegram_server = TelegramServer()
    await telegram_server.start()
    anna = DailyPlayer(TelegramPerson(telegram_server, 1, "Anna"), "telegram:1")
    bruno = DailyPlayer(DiscordPerson(server, 2, "Bruno"), "discord:2")
    carla = DailyPlayer(DiscordPerson(server, 3, "Carla"), "discord:3", errs_at=2)
    try:
        async with on_both_platforms(store, server, telegram_server) as (worker, _server):
            for script in (anna, bruno, carla):
                await script.start()
            # When the bot stops, Carla is behind Anna, and Bruno has not moved.
            await anna.play(worker, 4)
            await carla.play(worker, 3)
        async with on_both_platforms(store, server, telegram_server) as (worker, _server):
            for script in (bruno, anna, carla):
                await script.play(worker, 99)
            await worker.settled()
            held = {
                game.people[0]: game for _day, game in await worker.feature(DailyFeature).days.results.pending_games()
            }
            for game in held.values():
                verify(game.record)
            hers, his, others = (held[script.id].record.deals[0] for script in (anna, bruno, carla))
            assert hers.pack == his.pack == others.pack
            assert [entry[:2] for entry in hers.moves] == [entry[:2] for entry in his.moves]
            played = [[entry[:2] for entry in deal.moves] for deal in (hers, others)]
            difference = next(at for at, (hers_at, carlas) in enumerate(zip(*played, strict=True)) if hers_at != carlas)
            # The first different move is by the erring seat, after at least two of its own cards.
            assert hers.moves[difference][0] == 0
            assert sum(entry[0] == 0 for entry in hers.moves[:difference]) >= 2
            assert anna.pressed == bruno.pressed != carla.pressed
            results = {
                script.id: await worker.feature(DailyFeature).days.results.get(day, script.id)
                for script in (anna, bruno)
            }
            assert results["telegram:1"] == results["discord:2"]
            shown = [next(text for text in script.texts if "🟩" in text) for script in (anna, bruno)]
            assert len({text.replace("*", "") for text in shown}) == 1
    finally:
        await telegram_server.stop()


async def test_strangers_find_each_other_across_platforms(store: Store, server: DiscordServer) -> None:
    async with on_both_platforms(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Annamaria"), DiscordPerson(server, 2, "Brunello")
        anna.say("/find testa", anna.private)
        await bruno.slash("find", bruno.private, game="testa")
        await anna.press("Ready")
        await bruno.press("Ready")
        await until(lambda: any("deal 1" in text_of(message) for message in bruno.private.messages.values()))
        [table] = await worker.room.lists.tables_of("telegram:1")
        random = Random(1)
        while (table := await worker.room.table(table.code)).version < 20:
            await anna.play(random)
            await bruno.play(random)
            await worker.settled()
        assert {chair.person for chair in table.chairs if chair} == {"telegram:1", "discord:2"}
        theirs = [text_of(message) for message in bruno.private.messages.values()]
        hers = [message.get("text", "") for message in anna.private.messages.values() if message["from"]["is_bot"]]
        assert not [text for text in theirs if "annamaria" in text.lower() or "telegram" in text.lower()]
        assert not [text for text in hers if "brunello" in text.lower() or "discord" in text.lower()]


async def test_four_strangers_of_two_platforms_fill_a_table(store: Store, server: DiscordServer) -> None:
    async with on_both_platforms(store, server) as (worker, telegram_server):
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
        [table] = await worker.room.lists.tables_of("telegram:1")
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


async def test_strangers_on_two_platforms_can_greet_report_and_block(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A first game moves the ratings far apart.
    monkeypatch.setattr(matching, "RATING_BOUND", 10_000)
    async with on_both_platforms(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Annamaria"), DiscordPerson(server, 2, "Brunello")
        olga = TelegramPerson(telegram_server, 9, "Olga")

        def read_by_anna() -> list[str]:
            return [message.get("text", "") for message in anna.private.messages.values() if message["from"]["is_bot"]]

        def read_by_bruno() -> list[str]:
            return [text_of(message) for message in bruno.private.messages.values()]

        async def both_search() -> None:
            before = sum("I look for somebody" in text for text in read_by_anna())
            anna.say("/find testa", anna.private)
            await bruno.slash("find", bruno.private, game="testa")
            await until(lambda: sum("I look for somebody" in text for text in read_by_anna()) > before)

        await both_search()
        await anna.press("Ready")
        await bruno.press("Ready")
        await until(lambda: any("deal 1" in text for text in read_by_anna()))
        await until(lambda: any("deal 1" in text for text in read_by_bruno()))
        [table] = await worker.room.lists.tables_of("telegram:1")

        await worker.people.update_person("discord:2", language="it")
        await anna.press("💬 Say")
        assert await anna.press("Good luck!") == "💬 Good luck!"
        await until(lambda: any("Buona fortuna!" in text for text in read_by_bruno()))

        olga.say("/help", olga.private)
        await until(lambda: len(olga.private.messages) > 1)
        await bruno.press("🚩 Segnala")
        await bruno.press("Sì, segnala")
        await until(lambda: any("🚩 Segnala" in button["label"] for button in buttons_of(last_message(bruno))))
        await worker.feature(FindFeature).report_sender.send_unsent("telegram:9")
        [report] = [
            message["text"] for message in olga.private.messages.values() if message["text"].startswith("A report")
        ]
        assert "telegram:1" in report
        assert "discord:2" in report

        await anna.press("🚫 Block")
        assert "matched with them no more" in await anna.press("Yes, block")
        seat = table.seat_of("telegram:1")
        assert seat is not None
        version = (await worker.room.table(table.code)).oldest_panel(seat)
        await worker.room.make_move(table.code, "telegram:1", version, "resign", "r")
        await until(lambda: any("Rematch" in str(message) for message in anna.private.messages.values()))
        await worker.people.update_person("discord:2", language="en")
        # A pairing lasts until a second after the game starts, and this game was short.
        await worker.feature(FindFeature).finder.run_round()
        await both_search()
        for _ in range(2):
            await worker.feature(FindFeature).finder.run_round()
        queue = worker.feature(FindFeature).finder.queue
        assert sorted(entry.searcher.person for entry in await queue.entries()) == ["discord:2", "telegram:1"]
        anna.say("/block", anna.private)
        await anna.press("Unblock")
        await worker.feature(FindFeature).finder.run_round()
        assert await queue.entries() == []
        everything = "\n".join([*read_by_anna(), *read_by_bruno()]).lower()
        assert not [secret for secret in ("annamaria", "brunello", "telegram:1", "discord:2") if secret in everything]


def last_message(person: DiscordPerson) -> dict[str, Any]:
    return list(person.private.messages.values())[-1]
