"""Announcements on boards: once on each, despite kills, and until they are withdrawn."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import aiohttp
import pytest

from bot.platform import Command, chat_of
from bot.store import EmbeddedStore, Store, keys, open_store
from bot.worker import Worker
from tests.bot.command import run_command
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker, seat_players
from tests.bot.worker.fleet import GROUPS, PEOPLE, Fleet
from tests.kills.bot_process import Bot
from tests.kills.pages import Page

TEXT = "A restart at 22:00, your games stay."
LINE = f"📢 {TEXT}"


async def follow(worker: Worker) -> None:
    """Let a worker do what its loops do every second."""
    await worker.store.levers.refresh()
    await worker.announcements.work()
    await worker.wait_until_idle()


def boards_with_line(fake: FakePlatform) -> int:
    return sum(text.count(LINE) for place in fake.messages for text in fake.texts(place))


async def test_boards_and_cards_show_the_announcement_until_it_ends(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = await seat_players(worker, fake, "metamazzo")
        await Player(worker, fake, "Carla", 3).say("/challenge testa", "paper:200")
        await worker.store.levers.announce(TEXT, "root")
        fake.calls.clear()
        await follow(worker)
        last_messages = {place: list(fake.messages[place])[-1] for place in (GROUP, "paper:200")}
        assert sorted(fake.calls) == [("edit", place, message) for place, message in last_messages.items()]
        assert fake.last(GROUP).plain.count(LINE) == 1
        assert fake.last("paper:200").plain.count(LINE) == 1
        # Private chats have no board.
        assert not any(LINE in text for player in players for text in fake.texts(player.private))
        await follow(worker)
        assert len(fake.calls) == 2
        # A new board shows the announcement, too.
        await Player(worker, fake, "Dino", 4).say("/challenge testa", "paper:300")
        assert LINE in fake.last("paper:300").plain
        await worker.store.levers.end_announcement("root")
        await follow(worker)
        assert boards_with_line(fake) == 0


async def test_new_announcement_replaces_the_last(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        await seat_players(worker, fake, "metamazzo")
        for text in ("Old news", TEXT):
            await worker.store.levers.announce(text, "root")
            await follow(worker)
        assert "Old news" not in fake.last(GROUP).plain
        assert LINE in fake.last(GROUP).plain


async def test_result_does_not_keep_the_announcement(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, _bruno = await seat_players(worker, fake, "metamazzo")
        await worker.store.levers.announce(TEXT, "root")
        await follow(worker)
        await anna.say("/resign")
        await anna.press("Yes")
        assert "resigned" in fake.last(GROUP).plain
        assert boards_with_line(fake) == 0


async def test_restarted_worker_does_not_edit_boards_again(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        await seat_players(worker, fake, "metamazzo")
        await worker.store.levers.announce(TEXT, "root")
        await follow(worker)
    fake.calls.clear()
    async with open_worker(store, fake) as worker:
        await follow(worker)
    assert fake.calls == []


class Killed(BaseException):
    """The process was killed."""


async def test_kill_between_marks_repeats_no_board_and_loses_none(store: Store) -> None:
    fake, count = FakePlatform(), 6
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        for number in range(count):
            await anna.say("/challenge testa", f"paper:{200 + number}")
        await worker.store.levers.announce(TEXT, "root")
        await worker.store.levers.refresh()
        half = count // 2
        touch = worker.announcements._touch

        def touch_until_killed(code: str) -> None:
            nonlocal half
            if not half:
                raise Killed
            half -= 1
            touch(code)

        worker.announcements._touch = touch_until_killed
        with pytest.raises(Killed):
            await worker.announcements.work()
        # Nothing after the kill reaches the platform.
        for shard in range(keys.SHARDS):
            worker.delivery.drop_shard(shard)
    async with open_worker(store, fake) as worker:
        await follow(worker)
    assert [sum(text.count(LINE) for text in fake.texts(f"paper:{200 + number}")) for number in range(count)] == [
        1
    ] * count
    assert all(len(fake.messages[f"paper:{200 + number}"]) == 1 for number in range(count))


@pytest.fixture
async def fleet(empty_valkey: EmbeddedStore) -> AsyncIterator[Fleet]:
    """Two workers on one store."""
    async with open_store(empty_valkey.url) as store:
        fleet = Fleet(store, [empty_valkey.url] * 2)
        await fleet.open()
        try:
            yield fleet
        finally:
            await fleet.close()


async def test_two_workers_announce_once_on_each_board(fleet: Fleet) -> None:
    for number in range(8):
        command = Command(f"c{number}", PEOPLE[number % 4], GROUPS[number % 2], "challenge", ("testa",))
        assert not (await fleet.deliver(number, command)).toast
    await fleet.wait_until_idle()
    owners = {code: [worker.shards.owns(code) for worker in fleet.workers].index(True) for code in await fleet.logs()}
    assert set(owners.values()) == {0, 1}
    await fleet.workers[0].store.levers.announce(TEXT, "root")
    fleet.fake.calls.clear()
    for worker in fleet.workers:
        await follow(worker)
    await fleet.wait_until_idle()
    assert boards_with_line(fleet.fake) == 8
    assert [call for call, place, _ in fleet.fake.calls if chat_of(place) in GROUPS] == ["edit"] * 8


async def test_two_workers_follow_a_ban_and_maintenance(fleet: Fleet) -> None:
    anna, bruno = PEOPLE[:2]
    await fleet.deliver(0, Command("c1", anna, GROUPS[0], "challenge", ("testa",)))
    await fleet.wait_until_idle()
    await fleet.workers[0].store.levers.ban(anna.id, "root")
    await fleet.workers[0].store.levers.begin_maintenance("back at 22:00", "root")
    for worker in fleet.workers:
        await worker.store.levers.refresh()
    for worker in fleet.workers:
        await worker.bans.work()
    await fleet.wait_until_idle()
    assert not await fleet.workers[1].room.lists.tables_of(anna.id)
    for index in (0, 1):
        banned = await fleet.deliver(index, Command(f"b{index}", anna, GROUPS[0], "challenge", ("testa",)))
        assert banned.toast.startswith("You’re banned from this bot")
        refusal = await fleet.deliver(index, Command(f"m{index}", bruno, GROUPS[0], "challenge", ("testa",)))
        assert refusal.toast == "No new tables for now (running games go on): back at 22:00"


@pytest.mark.long
async def test_killed_bots_announce_once_on_each_card(tmp_path: Path) -> None:
    """Real processes: the bot is killed again and again while it brings the announcement to its boards."""
    bot, random, count = Bot(tmp_path), Random(7), 12
    page = Page(bot)
    async with aiohttp.ClientSession() as session:
        try:
            await bot.start()
            await bot.wait_until_healthy(session)
            await page.connect(session)
            listening = asyncio.create_task(page.listen())
            for _ in range(count):
                assert await page.ask(do="say", chat="1", text="/challenge testa", **{"as": "1"}) == "done"
            listening.cancel()
            announced = await asyncio.to_thread(run_command, tmp_path, "announce", TEXT)
            assert announced.returncode == 0, announced.stderr
            for _ in range(4):
                await asyncio.sleep(random.uniform(0, 1.5))
                await bot.kill()
                await bot.start()
                await bot.wait_until_healthy(session)
            async with asyncio.timeout(60):
                while sum(LINE in text for text in await _read_cards(page, session)) < count:
                    await asyncio.sleep(0.2)
            texts = await _read_cards(page, session)
            assert [text.count(LINE) for text in texts if "Testa a Testa" in text] == [1] * count
        finally:
            await bot.kill()
            bot.kill_store()


async def _read_cards(page: Page, session: aiohttp.ClientSession) -> list[str]:
    """Return the texts of the bot's messages in the group, as a page that opens now gets them."""
    await page.connect(session)
    return [
        "".join(span[0] for span in message["spans"]) for message in page.chat("1").values() if message["by"] == "bot"
    ]
