"""Ratings in /leaderboard and /stats."""

import pytest

from bot.finished.ratings import Scope
from bot.platform import Person
from bot.store import Store, keys
from tests.bot.fake_platform import (
    GROUP,
    FakePlatform,
    Player,
    create_players,
    open_worker,
    resign,
    seat_players,
)
from tests.bot.features.ratings.test_players import make_players, store_rated_games


async def test_rebuild_gives_the_same_ratings(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    # Games are resigned at once to save time, and count as full games.
    monkeypatch.setattr("bot.finished.unrated_games.is_given_up_early", lambda _record: False)
    monkeypatch.setattr("bot.finished.ratings.GAMES_A_DAY", 99)
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        for loser in (0, 0, 1, 0):
            players = await seat_players(worker, fake, "testa")
            await resign(worker, fake, players, loser)
        players = await seat_players(worker, fake, "tressette")
        await resign(worker, fake, players, 3)

        anna, _bruno, carla, _dino = players
        await anna.say("/leaderboard")
        board = fake.last(GROUP).plain
        assert "🥇 \u2068Bruno" in board
        assert "🥈 \u2068Anna" in board
        assert "Carla" not in board
        await carla.press("everywhere", GROUP)
        assert "Carla\u2069: 1 game, not ranked yet" in fake.last(GROUP).plain
        await carla.press("Testa a Testa", GROUP)
        assert "Bruno" in fake.last(GROUP).plain
        await anna.press("this month", GROUP)
        assert "Bruno" in fake.last(GROUP).plain
        await anna.say("/stats @bruno")
        assert "Testa a Testa: " in fake.last(GROUP).plain
        assert "75 % won" in fake.last(GROUP).plain
        await anna.say("/leaderboard", place="paper:999")
        await anna.press("this chat", "paper:999")
        assert "Nobody is ranked yet" in fake.last("paper:999").plain

        async def load_ratings() -> dict[bytes, object]:
            # The day's key differs after each rebuild.
            names = [key async for key in store.client.scan_iter("{games}:ra*") if key.decode() != keys.RATED_TODAY]
            return {
                key: await store.client.hgetall(key) if b"ratings" in key else await store.client.dump(key)
                for key in sorted(names)
            }

        before = await load_ratings()
        assert len(before) > 10
        assert (await worker.ratings.rebuild()).games == 5
        assert await load_ratings() == before
        # Partners share a result.
        standing = [await worker.ratings.standing(Scope(game="tressette"), player.person.id) for player in players]
        assert standing[0] == standing[2]
        assert standing[1] == standing[3]
        assert standing[0].rating > 1000 > standing[1].rating


async def test_games_with_a_robot_are_not_rated(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, *_ = create_players(worker, fake)
        await anna.say("/challenge testa")
        await anna.press("Add robot", GROUP)
        await anna.press("🤖 Medium", GROUP)
        await resign(worker, fake, [anna], 0)
        assert await worker.archive.count() == 1
        await anna.say("/stats")
        assert "No rated games yet" in fake.last(GROUP).plain


async def test_equal_ratings_share_a_rank(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        scope = Scope()
        await store.client.zadd(keys.ranks(scope.key), {"p:1": 1200, "p:2": 1100, "p:3": 1100, "p:4": 900})
        await store.client.hset(keys.ratings(scope.key), mapping={f"p:{n}": "25.0 8.0 3 1" for n in range(1, 5)})
        assert [rank for rank, _, _ in await worker.ratings.best(scope, 10)] == [1, 2, 2, 4]
        assert [await worker.ratings.rank(scope, f"p:{n}") for n in range(1, 6)] == [1, 2, 2, 4, None]


async def test_stats_of_an_unknown_person_are_refused(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        anna, bruno, *_ = create_players(worker, fake)
        # Telegram sends the id of a person who is mentioned without a handle or replied to.
        reply = await anna.say("/stats", about=(Person("paper:77", "Zeno"),))
        assert reply.toast == "I don’t know Zeno yet: ask them to write to me."
        assert reply.panel is None
        assert (await anna.say("/stats @nobody")).toast == "I don’t know @nobody yet: ask them to write to me."
        await bruno.say("/help")
        reply = await anna.say("/stats @Bruno", about=(Person("", "Bruno", "Bruno"),))
        assert reply.panel
        assert "Bruno" in reply.panel.plain


async def test_namesakes_in_a_leaderboard_are_distinct(store: Store) -> None:
    fake = FakePlatform()
    async with open_worker(store, fake) as worker:
        games = await store_rated_games(worker, chats=(GROUP,))
        people = sorted({person for game in games for person in game.known_people})
        for person in people:
            await worker.people.meet(Person(person, "Marco", "", "en"))
        reader = Player(worker, fake, "Marco", 1)
        await reader.say("/leaderboard")
        marco_lines = [line for line in fake.last(GROUP).plain.splitlines() if "Marco" in line]
        labels = [line[line.index("\u2068") : line.index("\u2069")] for line in marco_lines]
        assert len(labels) == len(set(labels)) == len(people)
        board = await make_players(worker).leaderboard(people[0], "all", "all", "en")
        names = [player.name for player in board.players]
        assert len(names) == len(set(names)) == len(people)
