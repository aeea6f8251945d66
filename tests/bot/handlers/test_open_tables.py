"""/tables in a group: open challenges with seat buttons, and the number of people who look for an opponent."""

import pytest

from bot.features.find.feature import FindFeature
from bot.platform import Reply
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player


@pytest.fixture(autouse=True)
def _no_matching(monkeypatch: pytest.MonkeyPatch) -> None:
    """Match no searching players during a test."""
    monkeypatch.setattr("bot.features.find.feature.POLL_SECONDS", 1e6)


def make_players(worker: Worker, fake: FakePlatform, *names: str) -> list[Player]:
    return [Player(worker, fake, name, number) for number, name in enumerate(names, 1)]


def list_labels(reply: Reply) -> list[str]:
    assert reply.panel
    return [button.label for row in reply.panel.rows for button in row]


async def test_group_lists_challenges_open_to_all(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla, dino = make_players(worker, fake, "Anna", "Bruno", "Carla", "Dino")
    await anna.say("/challenge spades")
    await bruno.say("/challenge tressette")
    await carla.say("/challenge testa @dino", about=(dino.person,))
    await dino.say("/challenge testa", "paper:200")
    codes = {
        table.game_id: table.code
        for player in (anna, bruno)
        for table in await worker.room.lists.tables_of(player.person.id)
    }
    reply = await carla.say("/tables")
    assert not reply.private
    assert reply.panel
    assert f"{codes['spades']}: Spades with \u2068Anna\u2069, 1 seat free" in reply.panel.plain
    assert f"{codes['tressette']}: Tressette in Quattro with \u2068Bruno\u2069, 3 seats free" in reply.panel.plain
    seats = sorted(f"Sit down: {code}" for code in codes.values())
    assert list_labels(reply) == [*seats, "Find an opponent"]


async def test_sit_down_button_seats_the_presser(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla = make_players(worker, fake, "Anna", "Bruno", "Carla")
    await anna.say("/challenge spades")
    [table] = await worker.room.lists.tables_of(anna.person.id)
    await carla.say("/tables")
    message, button = carla.button("Sit down", GROUP)
    await bruno.press("Sit down", GROUP)
    assert (await worker.room.table(table.code)).phase == "playing"
    text = fake.messages[GROUP][message].plain
    assert "There’s no open challenge here" in text
    reply = await carla.send(button.payload, GROUP, message)
    assert reply.toast, "the pressed button is gone from the message, so the press must be refused"
    assert (await worker.room.table(table.code)).seat_of(carla.person.id) is None


async def test_made_up_press_cannot_reach_another_chats_table(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno = make_players(worker, fake, "Anna", "Bruno")
    await anna.say("/challenge spades", "paper:200")
    [table] = await worker.room.lists.tables_of(anna.person.id)
    reply = await bruno.send(f"1ptables sit {table.code}", GROUP)
    assert reply.toast
    assert (await worker.room.table(table.code)).phase == "open"


async def test_list_counts_searchers_and_offers_to_join_them(worker: Worker, fake: FakePlatform) -> None:
    anna, bruno, carla = make_players(worker, fake, "Anna", "Bruno", "Carla")
    await anna.say("/tables")
    assert "Nobody is looking" in fake.last(GROUP).plain
    await bruno.say("/find", bruno.private)
    reply = await anna.say("/tables")
    assert reply.panel
    assert "1 player is looking for an opponent." in reply.panel.plain
    refusal = await anna.press("Find an opponent", GROUP)
    assert (refusal.start_word, refusal.has_private_chat) == ("find", False)
    assert "private chat" in refusal.toast, "not every platform has a button that opens the private chat"
    assert await worker.feature(FindFeature).finder.queue.count() == 1
    await anna.say("/start find", anna.private)
    assert "Looking for " in fake.last(anna.private).plain
    await carla.say("/help", carla.private)
    page = await carla.press("Find an opponent", GROUP)
    assert page.private
    assert "Looking for " in fake.last(carla.private).plain
    assert await worker.feature(FindFeature).finder.queue.count() == 3


async def test_private_list_shows_own_tables(worker: Worker, fake: FakePlatform) -> None:
    [anna] = make_players(worker, fake, "Anna")
    await anna.say("/challenge spades")
    reply = await anna.say("/tables", anna.private)
    assert reply.private
    assert reply.panel
    assert "Your tables" in reply.panel.plain
    ivo = Player(worker, fake, "Ivo", 3, "it")
    await ivo.say("/tavoli", ivo.private)
    assert "Non sei a nessun tavolo: aprine uno con /sfida." in fake.last(ivo.private).plain
