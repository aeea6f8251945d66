"""Finished games and their numbers: each number is used once, and a missing game blocks nothing."""

import asyncio
from dataclasses import replace

import pytest
from redis import Redis

from bot.finished.archive import Archive
from bot.finished.game import FinishedGame, UnreadableGame
from bot.finished.ratings import Ratings, Scope
from bot.store import EmbeddedStore, Store, keys, migrations
from tests.bot.finished.games import finished_game, rename_player, store_game


async def load_ratings(store: Store) -> dict[str, dict[str, str]]:
    """Return all ratings by key."""
    ratings = {}
    async for key in store.client.scan_iter(match=keys.ratings("*")):
        fields = await store.client.hgetall(key)
        ratings[key.decode()] = {person.decode(): text.decode() for person, text in fields.items()}
    return ratings


async def count_rated_seats(ratings: Ratings) -> int:
    """Return the number of rated games, added up over the three people."""
    return sum([(await ratings.standing(Scope(), f"paper:{number}")).games for number in (1, 2, 3)])


@pytest.mark.parametrize("damage", ["missing", "not a game", "cut off", "no number"])
async def test_ratings_skip_missing_games(store: Store, damage: str) -> None:
    """The third of six games is lost. The others are rated, and a rebuild names the lost one."""
    archive = Archive(store.client)
    ratings = Ratings(store.client, archive)
    for number in range(1, 7):
        await store_game(store, finished_game(number))
    third = finished_game(3).id
    match damage:
        case "missing":
            await store.client.delete(keys.game(third))
        case "not a game":
            await store.client.set(keys.game(third), b"\x00\xff")
        case "cut off":
            await store.client.set(keys.game(third), finished_game(3).to_bytes()[:-9])
        case _:
            await store.client.delete(keys.game(third))
            await store.client.zrem(keys.GAMES_ORDER, third)
    assert await ratings.catch_up() == 5
    assert await ratings.last_rated_number() == 6
    before = await load_ratings(store)
    assert len(before) > 4
    assert await count_rated_seats(ratings) == 10
    report = await ratings.rebuild()
    assert report.games == 5
    assert await load_ratings(store) == before
    assert report.holes == ([range(3, 4)] if damage == "no number" else [])
    assert [(entry.number, entry.id) for entry in report.lost] == ([] if damage == "no number" else [(3, third)])
    assert await archive.get(third) is None


async def test_number_of_a_removed_game_is_not_reused(store: Store) -> None:
    archive = Archive(store.client)
    for number in (1, 2, 3):
        await store_game(store, finished_game(number))
    await store.client.delete(keys.game(finished_game(3).id))
    await store.client.zrem(keys.GAMES_ORDER, finished_game(3).id)
    await store_game(store, finished_game(4))
    assert [entry.number async for entry in archive.entries_after(0)] == [1, 2, 4]
    ratings = Ratings(store.client, archive)
    assert await ratings.catch_up() == 3
    await store_game(store, finished_game(5))
    assert await ratings.catch_up() == 1
    assert (await ratings.rebuild()).holes == [range(3, 4)]


async def test_rebuild_reports_missing_last_games(store: Store) -> None:
    for number in (1, 2, 3):
        await store_game(store, finished_game(number))
    for number in (2, 3):
        await store.client.delete(keys.game(finished_game(number).id))
        await store.client.zrem(keys.GAMES_ORDER, finished_game(number).id)
    assert (await Ratings(store.client, Archive(store.client)).rebuild()).holes == [range(2, 4)]


async def test_concurrent_workers_number_each_game_once(store: Store) -> None:
    """Two workers store twelve games in any order: each gets one number and one rating."""
    archives = [Archive(store.client), Archive(store.client)]
    games = [finished_game(number) for number in range(12)]
    for game in games:
        await store.client.set(keys.game(game.id), game.to_bytes())
    numbers = await asyncio.gather(*(archive.assign_number(game.id) for archive in archives for game in games))
    assert sorted(numbers[:12]) == list(range(1, 13))
    assert numbers[:12] == numbers[12:]
    counts = await asyncio.gather(*(Ratings(store.client, archive).catch_up() for archive in archives))
    assert sum(counts) == 12
    assert await count_rated_seats(Ratings(store.client, archives[0])) == 24


async def test_rebuild_numbers_games_without_a_number(store: Store) -> None:
    """A cluster can lose its last writes, such as the number of a stored game."""
    await store_game(store, finished_game(1))
    for number in (3, 2):
        await store.client.set(keys.game(finished_game(number).id), finished_game(number).to_bytes())
    report = await Ratings(store.client, Archive(store.client)).rebuild()
    assert report.adopted == [finished_game(2).id, finished_game(3).id]
    assert report.games == 3


async def test_migration_adds_the_games_counter(store: Store) -> None:
    """Games were once numbered by count, so after a removal two shared a number and one was never rated."""
    games = [finished_game(number) for number in range(1, 6)]
    for game, number in zip(games, (1, 2, 3, 3, 4), strict=True):
        await store.client.set(keys.game(game.id), game.to_bytes())
        await store.client.zadd(keys.GAMES_ORDER, {game.id: number})
    await store.client.set(keys.RATED, 2)
    for _ in range(2):
        await migrations.count_games(store.client)
        numbers = [entry.number async for entry in Archive(store.client).entries_after(0)]
        assert numbers == [1, 2, 3, 4, 5]
        assert await store.client.get(keys.GAMES_COUNTER) == b"5"
    assert await Ratings(store.client, Archive(store.client)).catch_up() == 3
    await store_game(store, finished_game(9))
    assert (await Archive(store.client).last_number()) == 6


async def test_store_without_games_can_be_migrated(store: Store) -> None:
    await migrations.count_games(store.client)
    await store_game(store, finished_game(1))
    assert [entry.number async for entry in Archive(store.client).entries_after(0)] == [1]


async def test_rewritten_game_keeps_its_place(store: Store) -> None:
    archive = Archive(store.client)
    for number in (1, 2):
        await store_game(store, finished_game(number))
    assert await archive.rewrite(finished_game(1).id, lambda game: rename_player(game, "somebody"))
    names = [game.record.seats[0] async for game in archive.games()]
    assert names == ["somebody", finished_game(2).record.seats[0]]
    assert not await archive.rewrite("gone-000000", lambda game: rename_player(game, "somebody"))


async def test_concurrent_rewrites_are_both_kept(store: Store, shared_valkey: EmbeddedStore) -> None:
    archive = Archive(store.client)
    await store_game(store, finished_game(1))

    def write_meanwhile(game: FinishedGame) -> FinishedGame:
        """Let another writer change the game once, between reading and writing."""
        if game.record.seats[0] != "first":
            with Redis.from_url(shared_valkey.url) as other:
                other.set(keys.game(game.id), rename_player(game, "first").to_bytes())
        return replace(game, chats=["paper:200"])

    assert await archive.rewrite(finished_game(1).id, write_meanwhile)
    game = await archive.get(finished_game(1).id)
    assert game
    assert (game.record.seats[0], game.chats) == ("first", ["paper:200"])


@pytest.mark.parametrize("stored_bytes", [b"", b"x", None, b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_unreadable_bytes_raise_unreadable_game(stored_bytes: bytes | None) -> None:
    with pytest.raises(UnreadableGame):
        FinishedGame.parse(finished_game(1).to_bytes()[:40] if stored_bytes is None else stored_bytes)


async def test_last_game_is_the_one_that_ended_last(store: Store) -> None:
    """Games of a day or a duplicate round are stored together, in any order."""
    archive = Archive(store.client)
    evening, morning = await archive.keep(finished_game(2)), await archive.keep(finished_game(1))
    assert morning.ended < evening.ended
    for key in (*evening.known_people, *evening.chats):
        assert await archive.last_game(key) == evening
    await store.client.delete(keys.game(evening.id))
    await archive.keep(morning)
    assert await archive.last_game(morning.chats[0]) == morning
