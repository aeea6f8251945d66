"""Tables with players on Telegram and on Discord, each with the real adapter and library."""

import asyncio
import re
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
from bot.features.daily.game_of_day import unstored_game
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
from tests.telegram.content import payloads_of
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
    """Run a worker with both adapters and fake servers. ``running`` is a Telegram server that keeps running."""
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


@pytest.mark.long
async def test_both_groups_see_the_same_tricks(store: Store, server: DiscordServer) -> None:
    async with on_both_platforms(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), DiscordPerson(server, 2, "Bruno")
        group, channel = telegram_server.group(GROUP), server.channels[CHANNEL]
        anna.say("/challenge testa 11")
        await until(lambda: anna.button("Join", group) is not None)
        [table] = await worker.room.lists.tables_of("telegram:1")
        assert "You’re at table" in await bruno.slash("join", table=table.code)
        random = Random(1)
        matches: list[bool] = []
        for _ in range(400):
            await anna.play(random)
            await bruno.play(random)
            await worker.wait_until_idle()
            on_telegram = find_boards([message["text"] for message in group.messages.values()])
            on_discord = find_boards([text_of(message) for message in channel.messages.values()])
            matches.append(bool(on_telegram) and on_telegram == on_discord)
            if await worker.archive.count():
                break
        assert all(matches)
        assert len(matches) > 10
        [game] = [game async for game in worker.archive.games()]
        verify(game.record)
        assert set(game.people) == {"telegram:1", "discord:2"}
        assert any(" beat" in text_of(message) for message in channel.messages.values())
        assert any(" beat" in message["text"] for message in group.messages.values())


@pytest.mark.long
async def test_chat_without_bot_and_channel_see_the_same_tricks(store: Store, server: DiscordServer) -> None:
    """Anna plays by inline message in a chat without the bot, Bruno in a channel."""
    async with on_both_platforms(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Anna"), DiscordPerson(server, 2, "Bruno")
        chat, channel = chat_without_bot(), server.channels[CHANNEL]
        await send_offer(telegram_server, anna, chat, "testa", typed="11 testa")
        await anna.press("Join", chat)
        [table] = await worker.room.lists.tables_of("telegram:1")
        assert "You’re at table" in await bruno.slash("join", table=table.code)
        random = Random(1)
        matches: list[bool] = []
        for _ in range(400):
            await anna.play(random)
            await bruno.play(random)
            await worker.wait_until_idle()
            on_discord = find_boards([text_of(message) for message in channel.messages.values()])
            matches.append(bool(on_discord) and only_text(chat) == on_discord[-1])
            if await worker.archive.count():
                break
        # The inline message shows the current tricks, and the result at the end.
        assert all(matches[:-1])
        assert len(matches) > 10
        [game] = [game async for game in worker.archive.games()]
        verify(game.record)
        assert set(game.people) == {"telegram:1", "discord:2"}
        assert any(" beat" in text_of(message) for message in channel.messages.values())
        assert " beat" in only_text(chat)


class DailyPlayer:
    """A person who plays the deal of the day with the buttons of the newest panel.

    They play the card whose code comes first. After ``mistake_at`` cards, they once play the last of several cards
    instead. With a negative ``mistake_at``, they make no mistake.
    """

    def __init__(self, person: TelegramPerson | DiscordPerson, id: str, mistake_at: int = -1) -> None:
        self.person, self.id, self.mistake_at = person, id, mistake_at
        self.has_made_mistake = mistake_at < 0
        self.pressed: list[str] = []

    async def start(self) -> None:
        if isinstance(self.person, TelegramPerson):
            self.person.say("/daily", self.person.private)
        else:
            await self.person.slash("daily", self.person.private)
        await self.person.press("Play")

    @staticmethod
    async def _is_played(worker: Worker, table: Table, move: str) -> bool:
        """Return whether a move was played, or the table was closed after its last deal."""
        try:
            entries = (await worker.room.table(table.code)).log.entries
        except NoSuchTable:
            return True
        return any(strip_stamp(entry).decode() == f"0 {move}" for entry in entries)

    async def play(self, worker: Worker, cards: int) -> None:
        """Play until the person has played ``cards`` cards, or the deal is over."""
        while len(self.pressed) < cards:
            await until(lambda: bool(self._playable_cards()) or self.is_over)
            if self.is_over:
                return
            playable = self._playable_cards()
            makes_mistake = not self.has_made_mistake and len(self.pressed) >= self.mistake_at and len(playable) > 1
            message, payload = playable[-1 if makes_mistake else 0]
            [table] = await worker.room.lists.tables_of(self.id)
            await self.person.send_press(self.person.private, message, payload)  # type: ignore[arg-type]
            if await self._is_played(worker, table, payload.rpartition(":")[2]):
                self.pressed.append(payload.rpartition(" ")[2])
                self.has_made_mistake = self.has_made_mistake or makes_mistake
            await worker.alarms.wait_until_idle()
            await worker.wait_until_idle()

    @property
    def texts(self) -> list[str]:
        messages = self.person.private.messages.values()
        if isinstance(self.person, DiscordPerson):
            return [text_of(message) for message in messages]
        return [message.get("text", "") for message in messages]

    @property
    def is_over(self) -> bool:
        # A board also says "You lose the deal", without a score.
        return any(
            re.search(r"^(You gave up|(You win|You lose|A draw,) [0-9])", text, re.MULTILINE) for text in self.texts
        )

    def _playable_cards(self) -> list[tuple[dict[str, Any], str]]:
        message = list(self.person.private.messages.values())[-1]
        if isinstance(self.person, DiscordPerson):
            payloads = [button["custom_id"] for button in buttons_of(message)]
        else:
            payloads = payloads_of(message)
        cards = [payload for payload in payloads if payload.startswith("1m") and ":play " in payload]
        return [(message, payload) for payload in sorted(cards, key=lambda payload: payload.rpartition(" ")[2])]


@pytest.mark.long
async def test_same_daily_moves_give_same_result_on_both_platforms(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In this game a deal can be played with cards only. Declarations are optional, and there are no packets or bids.
    day = next(
        day for day in (date(2026, 11, 24) + timedelta(days=n) for n in range(7)) if unstored_game(day) == "tressette"
    )
    monkeypatch.setattr(Days, "today", lambda _days: day)
    # The answer to a press that changes nothing on its panel must not take long.
    monkeypatch.setattr("adapters.discord.adapter.DELIVERY_SECONDS", 0.2)
    telegram_server = TelegramServer()
    await telegram_server.start()
    anna = DailyPlayer(TelegramPerson(telegram_server, 1, "Anna"), "telegram:1")
    bruno = DailyPlayer(DiscordPerson(server, 2, "Bruno"), "discord:2")
    carla = DailyPlayer(DiscordPerson(server, 3, "Carla"), "discord:3", mistake_at=2)
    try:
        async with on_both_platforms(store, server, telegram_server) as (worker, _server):
            for player in (anna, bruno, carla):
                await player.start()
            # When the bot stops, Carla has played fewer cards than Anna, and Bruno none.
            await anna.play(worker, 4)
            await carla.play(worker, 3)
        async with on_both_platforms(store, server, telegram_server) as (worker, _server):
            for player in (bruno, anna, carla):
                await player.play(worker, 99)
            await worker.wait_until_idle()
            games = {
                game.people[0]: game for _day, game in await worker.feature(DailyFeature).days.results.pending_games()
            }
            for game in games.values():
                verify(game.record)
            annas, brunos, carlas = (games[player.id].record.deals[0] for player in (anna, bruno, carla))
            assert annas.pack == brunos.pack == carlas.pack
            assert [entry[:2] for entry in annas.moves] == [entry[:2] for entry in brunos.moves]
            moves = [[entry[:2] for entry in deal.moves] for deal in (annas, carlas)]
            difference = next(
                index
                for index, (annas_move, carlas_move) in enumerate(zip(*moves, strict=True))
                if annas_move != carlas_move
            )
            # The first different move is Carla's mistake, after at least two of her own cards.
            assert annas.moves[difference][0] == 0
            assert sum(entry[0] == 0 for entry in annas.moves[:difference]) >= 2
            assert anna.pressed == bruno.pressed != carla.pressed
            results = {
                player.id: await worker.feature(DailyFeature).days.results.get(day, player.id)
                for player in (anna, bruno)
            }
            assert results["telegram:1"] == results["discord:2"]
            results_texts = [next(text for text in player.texts if "🟩" in text) for player in (anna, bruno)]
            assert len({text.replace("*", "") for text in results_texts}) == 1
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
            await worker.wait_until_idle()
        assert {chair.person for chair in table.chairs if chair} == {"telegram:1", "discord:2"}
        brunos_texts = [text_of(message) for message in bruno.private.messages.values()]
        annas_texts = [
            message.get("text", "") for message in anna.private.messages.values() if message["from"]["is_bot"]
        ]
        assert not [text for text in brunos_texts if "annamaria" in text.lower() or "telegram" in text.lower()]
        assert not [text for text in annas_texts if "brunello" in text.lower() or "discord" in text.lower()]


@pytest.mark.long
async def test_four_strangers_of_two_platforms_fill_a_table(store: Store, server: DiscordServer) -> None:
    async with on_both_platforms(store, server) as (worker, telegram_server):
        telegram_people = [
            TelegramPerson(telegram_server, number, name) for number, name in ((1, "Annamaria"), (3, "Carlotta"))
        ]
        discord_people = [DiscordPerson(server, number, name) for number, name in ((2, "Brunello"), (4, "Dinamite"))]
        people: list[TelegramPerson | DiscordPerson] = [*telegram_people, *discord_people]
        for person in telegram_people:
            person.say("/find tressette", person.private)
        for discord_person in discord_people:
            await discord_person.slash("find", discord_person.private, game="tressette")
        for player in people:
            await player.press("Ready")
        await until(
            lambda: any("deal 1" in text_of(message) for message in discord_people[0].private.messages.values())
        )
        [table] = await worker.room.lists.tables_of("telegram:1")
        random = Random(1)
        while (table := await worker.room.table(table.code)).version < 30:
            for player in people:
                await player.play(random)
            await worker.wait_until_idle()
        assert {chair.person for chair in table.chairs if chair} == {
            "telegram:1",
            "telegram:3",
            "discord:2",
            "discord:4",
        }
        texts = [
            text_of(message)
            for discord_person in discord_people
            for message in discord_person.private.messages.values()
        ]
        assert not [text for text in texts if "annamaria" in text.lower() or "carlotta" in text.lower()]


async def test_strangers_on_two_platforms_can_greet_report_and_block(
    store: Store, server: DiscordServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first game moves the ratings far apart. The two must still meet again.
    monkeypatch.setattr(matching, "RATING_BOUND", 10_000)
    async with on_both_platforms(store, server) as (worker, telegram_server):
        anna, bruno = TelegramPerson(telegram_server, 1, "Annamaria"), DiscordPerson(server, 2, "Brunello")
        olga = TelegramPerson(telegram_server, 9, "Olga")

        def annas_texts() -> list[str]:
            return [message.get("text", "") for message in anna.private.messages.values() if message["from"]["is_bot"]]

        def brunos_texts() -> list[str]:
            return [text_of(message) for message in bruno.private.messages.values()]

        async def search() -> None:
            before = sum("Looking for " in text for text in annas_texts())
            anna.say("/find testa", anna.private)
            await bruno.slash("find", bruno.private, game="testa")
            await until(lambda: sum("Looking for " in text for text in annas_texts()) > before)

        await search()
        await anna.press("Ready")
        await bruno.press("Ready")
        await until(lambda: any("deal 1" in text for text in annas_texts()))
        await until(lambda: any("deal 1" in text for text in brunos_texts()))
        [table] = await worker.room.lists.tables_of("telegram:1")

        await worker.people.update_person("discord:2", language="it")
        await anna.press("💬 Say")
        assert await anna.press("Good luck!") == "💬 Good luck!"
        await until(lambda: any("Buona fortuna!" in text for text in brunos_texts()))

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
        assert "I won’t match you again" in await anna.press("Yes, block")
        seat = table.seat_of("telegram:1")
        assert seat is not None
        version = (await worker.room.table(table.code)).oldest_panel(seat)
        await worker.room.make_move(table.code, "telegram:1", version, "resign", "r")
        await until(lambda: any("Rematch" in str(message) for message in anna.private.messages.values()))
        await worker.people.update_person("discord:2", language="en")
        # A pairing lasts until a second after the game starts, and this game was short.
        await worker.feature(FindFeature).finder.run_round()
        await search()
        for _ in range(2):
            await worker.feature(FindFeature).finder.run_round()
        queue = worker.feature(FindFeature).finder.queue
        assert sorted(entry.searcher.person for entry in await queue.entries()) == ["discord:2", "telegram:1"]
        anna.say("/block", anna.private)
        await anna.press("Unblock")
        await worker.feature(FindFeature).finder.run_round()
        assert await queue.entries() == []
        all_texts = "\n".join([*annas_texts(), *brunos_texts()]).lower()
        assert not [secret for secret in ("annamaria", "brunello", "telegram:1", "discord:2") if secret in all_texts]


def last_message(person: DiscordPerson) -> dict[str, Any]:
    return list(person.private.messages.values())[-1]
