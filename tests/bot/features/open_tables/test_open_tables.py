"""Tables at which anyone can sit down: who sees them, and when they leave the list."""

from datetime import date

import pytest

from bot.feature import Feature, Forgetting
from bot.features.open_tables.feature import OpenTablesFeature
from bot.platform import Person
from bot.site.hand_page import hand_page
from bot.store import Store
from bot.tables.errors import NotYoursToDecide
from bot.tables.table import Table
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker

ANNA, BRUNO, CARLA = (Person(f"web:{number}", name, "en") for number, name in enumerate(("Anna", "Bruno", "Carla"), 1))
TODAY = date(2026, 11, 27)


@pytest.fixture(autouse=True)
def always_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.open_tables.open_tables.FRESH_SECONDS", -1.0)


async def open_table(worker: Worker, person: Person = ANNA, game: str = "testa", *, host: str = "") -> Table:
    table = await worker.challenges.open_table(game, person.id, person.name, f"open {person.id} {game}", host=host)
    worker.presence.note(person.id)
    await worker.presence.exchange()
    return table


async def codes_for(worker: Worker, person: str = CARLA.id) -> list[str]:
    return [line.code for line in await worker.feature(OpenTablesFeature).site.table_lines(person, "en")]


async def choose(worker: Worker, table: Table, person: Person = ANNA, *, is_open: bool = True) -> str:
    return await worker.feature(OpenTablesFeature).site.choose(table.code, person.id, "en", is_open=is_open)


async def test_table_is_listed_only_while_it_is_open_to_anyone(worker: Worker) -> None:
    site, table = worker.feature(OpenTablesFeature).site, await open_table(worker)
    assert await site.choice(table.code, ANNA.id) is False
    assert await codes_for(worker) == []
    assert await choose(worker, table) == ""
    assert await site.choice(table.code, ANNA.id) is True
    [line] = await site.table_lines(CARLA.id, "en")
    assert (line.code, line.game, line.about) == (table.code, "Testa a Testa", "to 21 · 1 seat free")
    assert "Anna" in line.name
    assert await codes_for(worker, "") == [table.code]
    # Its players find it among their own tables instead.
    assert await codes_for(worker, ANNA.id) == []
    assert await choose(worker, table, is_open=False) == ""
    assert await codes_for(worker) == []


async def test_unlisted_and_unknown_codes_get_the_same_answer(worker: Worker) -> None:
    table = await open_table(worker)
    answer = await choose(worker, table, BRUNO)
    assert answer.replace(table.code, "QQQQQQ") == await worker.feature(OpenTablesFeature).site.choose(
        "QQQQQQ", BRUNO.id, "en", is_open=True
    )
    assert "Anna" not in answer


@pytest.mark.parametrize("closes", [False, True])
async def test_strangers_can_block_and_report_each_other(worker: Worker, closes: bool) -> None:
    table = await open_table(worker)
    await choose(worker, table)
    if closes:
        await choose(worker, table, is_open=False)
    table = await worker.challenges.sit(table.code, BRUNO.id, "Bruno", "sit")
    assert table.are_strangers
    assert await worker.watching.watch_id(table) == ""
    for person, name in ((ANNA, "Bruno"), (BRUNO, "Anna")):
        page = hand_page(await worker.room.table(table.code), person.id, await worker.people.person(person.id), "", "")
        labels = [button.label for row in page.rows for button in row]
        assert any("Block" in label for label in labels), name
        assert any("Report" in label for label in labels), name


async def test_group_cannot_show_a_table_that_was_listed(worker: Worker) -> None:
    table = await open_table(worker)
    await choose(worker, table)
    with pytest.raises(NotYoursToDecide):
        await worker.challenges.add_host(table.code, GROUP, "host")


async def test_people_of_chats_see_no_open_tables(worker: Worker) -> None:
    await choose(worker, await open_table(worker))
    assert await codes_for(worker, "telegram:1") == []


async def test_list_has_one_table_of_each_opener(worker: Worker) -> None:
    for game in ("testa", "tressette", "metamazzo"):
        assert await choose(worker, await open_table(worker, ANNA, game)) == ""
    table = await open_table(worker, BRUNO)
    assert await choose(worker, table, BRUNO) == ""
    codes = await codes_for(worker)
    assert len(codes) == 2
    assert table.code in codes


async def test_readers_own_table_takes_no_place_in_the_list(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bot.features.open_tables.site.MAX_LISTED", 1)
    tables = [await open_table(worker, person) for person in (ANNA, BRUNO)]
    for table, person in zip(tables, (ANNA, BRUNO), strict=True):
        await choose(worker, table, person)
    assert await codes_for(worker, ANNA.id) == [tables[1].code]
    assert await codes_for(worker, BRUNO.id) == [tables[0].code]


async def test_only_the_opener_opens_a_table_to_anyone(worker: Worker) -> None:
    table = await open_table(worker)
    assert await choose(worker, table, BRUNO)
    assert await worker.feature(OpenTablesFeature).site.choice(table.code, BRUNO.id) is None
    assert await codes_for(worker) == []


async def test_opener_from_a_chat_cannot_list_a_table(worker: Worker) -> None:
    player = Person("telegram:1", "Anna Rossi", "en")
    table = await open_table(worker, player)
    assert await worker.feature(OpenTablesFeature).site.choice(table.code, player.id) is None
    assert await choose(worker, table, player)


async def test_full_table_leaves_the_list(worker: Worker) -> None:
    table = await open_table(worker, game="tressette")
    await choose(worker, table)
    await worker.challenges.sit(table.code, BRUNO.id, "Bruno", "sit")
    [line] = await worker.feature(OpenTablesFeature).site.table_lines(CARLA.id, "en")
    assert "2 seats free" in line.about
    for name in ("Carla", "Dino"):
        await worker.challenges.sit(table.code, f"web:{name}", name, f"sit {name}")
    assert await codes_for(worker, "web:5") == []
    feature = worker.feature(OpenTablesFeature)
    await feature.tables.remove_begun()
    assert not await feature.tables.is_open(table.code)


async def test_table_of_an_opener_who_is_gone_leaves_the_list(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    await choose(worker, await open_table(worker))
    assert len(await codes_for(worker)) == 1
    monkeypatch.setattr("bot.presence.HERE_SECONDS", 0)
    assert await codes_for(worker) == []
    await worker.feature(OpenTablesFeature).tables.remove_begun()
    monkeypatch.undo()
    monkeypatch.setattr("bot.features.open_tables.open_tables.FRESH_SECONDS", -1.0)
    # The table comes back with its opener.
    assert len(await codes_for(worker)) == 1


@pytest.mark.parametrize(("blocker", "blocked"), [(ANNA, CARLA), (CARLA, ANNA), (BRUNO, CARLA)])
async def test_blocks_keep_people_apart(worker: Worker, blocker: Person, blocked: Person) -> None:
    table = await open_table(worker, game="tressette")
    await worker.challenges.sit(table.code, BRUNO.id, "Bruno", "sit")
    await choose(worker, table)
    assert await codes_for(worker) == [table.code]
    await worker.blocks.add(blocker.id, blocked.id, blocked.name)
    assert await codes_for(worker) == []
    assert await codes_for(worker, "web:9") == [table.code]


async def test_forget_and_mydata_cover_open_tables(worker: Worker) -> None:
    feature: Feature = worker.feature(OpenTablesFeature)
    table = await open_table(worker)
    await choose(worker, table)
    assert await feature.mydata(ANNA.id, 0.0) == {"open_to_anyone": [table.code]}
    for step in feature.steps_before_leaving(Forgetting(ANNA.id, "somebody:12345678", TODAY)):
        await step()
    assert await feature.mydata(ANNA.id, 0.0) == {"open_to_anyone": []}
    assert await codes_for(worker) == []


async def test_another_worker_lists_the_table(store: Store, worker: Worker) -> None:
    table = await open_table(worker)
    await choose(worker, table)
    async with open_worker(store, FakePlatform()) as other:
        assert await codes_for(other) == [table.code]


async def test_person_of_a_chat_has_a_nickname_at_an_open_table(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        dino = Player(worker, fake, "Dino", 7)
        table = await open_table(worker, game="tressette")
        await dino.say("/start", dino.private)
        await dino.say(f"/start {table.code}", dino.private)
        assert "The others see you as" not in fake.last(dino.private).plain
        assert await choose(worker, table) == ""
        await dino.say(f"/start {table.code}", dino.private)
        nickname = (await worker.people.person(dino.person.id)).nickname
        assert f"The others see you as \u2068{nickname}\u2069." in fake.last(dino.private).plain
        await dino.press("Sit down")
        names = [chair.name for chair in (await worker.room.table(table.code)).chairs if chair]
        assert names == ["Anna", nickname]
        assert nickname != "Dino"


async def test_player_from_a_chat_keeps_a_table_unlisted(worker: Worker) -> None:
    table = await open_table(worker, game="tressette")
    await worker.challenges.sit(table.code, "paper:7", "Dino", "sit")
    assert await choose(worker, table) != ""
    assert await worker.feature(OpenTablesFeature).site.choice(table.code, ANNA.id) is None
    assert await codes_for(worker) == []
