"""Namesakes have numbers at tables and in lists."""

from bot.site.hand_page import hand_page
from bot.store import Store
from bot.tables.chairs import Chair
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player, code_of, open_worker


def create_players(worker: Worker, fake: FakePlatform, *names: str) -> list[Player]:
    players = [Player(worker, fake, name, number) for number, name in enumerate(names, 1)]
    for player in players:
        player.person = player.person._replace(handle=f"handle{player.person.id[-1]}")
    return players


async def test_namesakes_at_a_table_are_numbered(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        players = create_players(worker, fake, "Marco", "Marco", "marco", "Marco 2")
        await players[0].say("/challenge tressette")
        for player, label in zip(players[1:], ("Sit East", "Sit North", "Sit West"), strict=True):
            await player.press(label, GROUP)
        table = await worker.room.table(await code_of(worker, players[0]))
        names = [chair.name for chair in table.chairs if chair]
        assert names == ["Marco", "Marco 2", "marco 3", "Marco 2 2"]
        assert table.game
        assert list(table.game.record(live=True).seats) == names
        for player, own_name in zip(players, names, strict=True):
            hand, board = fake.last(player.private).plain, fake.last(GROUP).plain
            page = hand_page(table, player.person.id, await worker.people.person(player.person.id))
            for name in names:
                assert f"\u2068{name}\u2069" in board
                if name != own_name:
                    assert f"\u2068{name}\u2069" in hand
                    assert name in repr(page)


async def test_challenged_namesake_is_numbered(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, other = create_players(worker, fake, "Anna", "Anna")
        await other.say("/help")
        await anna.say("/challenge testa", about=(other.person._replace(handle=""),))
        [table] = await worker.room.lists.tables_of(anna.person.id)
        assert table.invited
        assert table.invited.name == "Anna 2"
        await other.press("Join", GROUP)
        assert "Anna 2" in fake.last(GROUP).plain


async def test_matched_namesakes_are_numbered(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        matched = [Chair(f"paper:{number}", "Asso") for number in (1, 2, 3)]
        table = await worker.challenges.open_matched("tressette", matched, "find")
        assert [chair.name for chair in table.matched] == ["Asso", "Asso 2", "Asso 3"]
        table = await worker.challenges.sit(table.code, "paper:2", "Marco", "sit")
        assert [chair.name for chair in table.chairs if chair] == ["Asso 2"]


async def test_person_named_like_a_robot_loses_the_sign(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        rosa, *_ = create_players(worker, fake, "🤖\ufe0f Nonna Rosa")
        await rosa.say("/challenge tressette")
        await rosa.press("Add robot", GROUP)
        for _robot in range(3):
            await rosa.press("🤖 Strong", GROUP)
        table = await worker.room.table(await code_of(worker, rosa))
        assert [chair.name for chair in table.chairs if chair] == [
            "Nonna Rosa",
            "🤖 Nonna Rosa",
            "🤖 Zio Beppe",
            "🤖 Maestro Elio",
        ]
        assert (await worker.people.person(rosa.person.id)).name == "Nonna Rosa"


async def test_stored_robot_sign_is_not_shown(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        await worker.people.update_person("paper:5", name="🤖 Nonna Rosa")
        assert (await worker.people.person("paper:5")).name == "Nonna Rosa"
