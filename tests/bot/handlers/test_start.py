"""The greeting of newcomers and groups."""

import pytest

from bot.store import Store
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker


@pytest.mark.parametrize(
    ("language", "text", "labels"),
    [
        ("en", "Hi! I deal Tressette and Spades.", ["Play a robot", "Challenge a friend", "Today's deal"]),
        ("it", "Ciao! Qui si gioca", ["Gioca con un robot", "Sfida qualcuno", "La smazzata di oggi"]),
    ],
)
async def test_start_greets_with_ways_to_play(store: Store, language: str, text: str, labels: list[str]) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1, language)
        await anna.say("/start", anna.private)
        greeting = fake.last(anna.private)
        assert text in greeting.plain
        assert [button.label for row in greeting.rows for button in row][:3] == labels


@pytest.mark.parametrize("label", ["Play a robot", "Challenge a friend"])
async def test_greeting_opens_a_table_in_private(store: Store, label: str) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/start", anna.private)
        await anna.press(label)
        assert (await worker.room.table(await code_of(worker, anna))).hosts == (anna.private,)


async def test_greeting_of_a_group_offers_no_robot_but_a_challenge(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna = Player(worker, fake, "Anna", 1)
        await anna.say("/start")
        labels = [button.label for row in fake.last(GROUP).rows for button in row]
        assert "Play a robot" not in labels
        await anna.press("Challenge a friend", GROUP)
        assert (await worker.room.table(await code_of(worker, anna))).hosts == (GROUP,)
