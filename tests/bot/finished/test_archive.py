"""Finished games and their numbers: none is given twice, and what is missing holds nobody up."""

import asyncio
from dataclasses import replace

import pytest
from redis import Redis

from bot.finished.archive import Archive
from bot.finished.game import FinishedGame, UnreadableGame
from bot.finished.ratings import Ratings, Scope
from bot.store import EmbeddedStore, Store, keys, migrations
from tests.bot.finished.games import finished, keep, renamed


async def ratings_of(store: Store) -> dict[str, dict[str, str]]:
    """All ratings there are, by key."""
    found = {}
    async for key in store.client.scan_iter(match=keys.ratings("*")):
        stored = await store.client.hgetall(key)
        found[key.decode()] = {person.decode(): text.decode() for person, text in stored.items()}
    return found


async def seats_rated(ratings: Ratings) -> int:
    """In how many games the three have been rated, one by one."""
    return sum([(await ratings.standing(Scope(), f"paper:{number}")).games for number in (1, 2, 3)])


@pytest.mark.parametrize("what", ["gone", "bytes that are no game", "a game of another release", "no entry"])
async def test_ratings_step_over_what_is_missing(store: Store, what: str) -> None:
    """The third of six games is lost: everybody else's is rated, and a rebuild says which it was."""
    archive = Archive(store.client)
    ratings = Ratings(store.client, archive)
    for number in range(1, 7):
        await keep(store, finished(number))
    third = finished(3).id
    match what:
        case "gone":
            await store.client.delete(keys.game(third))
        case "bytes that are no game":
            await store.client.set(keys.game(third), b"\x00\xff")
        case "a game of another release":
            await store.client.set(keys.game(third), finished(3).to_bytes()[:-9])
        case _:
            await store.client.delete(keys.game(third))
            await store.client.zrem(keys.GAMES_ORDER, third)
    assert await ratings.catch_up() == 5
    assert await ratings.last_rated_number() == 6
    before = await ratings_of(store)
    assert len(before) > 4
    assert await seats_rated(ratings) == 10
    made = await ratings.rebuild()
    assert made.games == 5
    assert await ratings_of(store) == before
    assert made.holes == ([range(3, 4)] if what == "no entry" else [])
    assert [(entry.number, entry.id) for entry in made.lost] == ([] if what == "no entry" else [(3, third)])
    assert await archive.get(third) is None


async def test_a_removed_game_gives_its_number_to_nobody(store: Store) -> None:
    archive = Archive(store.client)
    for number in (1, 2, 3):
        await keep(store, finished(number))
    await store.client.delete(keys.game(finished(3).id))
    await store.client.zrem(keys.GAMES_ORDER, finished(3).id)
    await keep(store, finished(4))
    assert [entry.number async for entry in archive.entries_after(0)] == [1, 2, 4]
    ratings = Ratings(store.client, archive)
    assert await ratings.catch_up() == 3
    await keep(store, finished(5))
    assert await ratings.catch_up() == 1
    assert (await ratings.rebuild()).holes == [range(3, 4)]


async def test_what_is_missing_at_the_end_is_said_too(store: Store) -> None:
    for number in (1, 2, 3):
        await keep(store, finished(number))
    for number in (2, 3):
        await store.client.delete(keys.game(finished(number).id))
        await store.client.zrem(keys.GAMES_ORDER, finished(number).id)
    assert (await Ratings(store.client, Archive(store.client)).rebuild()).holes == [range(2, 4)]


async def test_workers_that_finish_at_once_give_each_game_one_number(store: Store) -> None:
    """Twelve games, each told by two workers, in any order: numbered once each, rated once each."""
    archives = [Archive(store.client), Archive(store.client)]
    games = [finished(number) for number in range(12)]
    for game in games:
        await store.client.set(keys.game(game.id), game.to_bytes())
    numbers = await asyncio.gather(*(archive.assign_number(game.id) for archive in archives for game in games))
    assert sorted(numbers[:12]) == list(range(1, 13))
    assert numbers[:12] == numbers[12:]
    counts = await asyncio.gather(*(Ratings(store.client, archive).catch_up() for archive in archives))
    assert sum(counts) == 12
    assert await seats_rated(Ratings(store.client, archives[0])) == 24


async def test_a_rebuild_numbers_what_was_kept_without_a_number(store: Store) -> None:
    """A store that lost its last writes, as a cluster may: the game is there, its number is not."""
    await keep(store, finished(1))
    for number in (3, 2):
        await store.client.set(keys.game(finished(number).id), finished(number).to_bytes())
    made = await Ratings(store.client, Archive(store.client)).rebuild()
    assert made.adopted == [finished(2).id, finished(3).id]
    assert made.games == 3


async def test_the_first_layout_gets_its_counter(store: Store) -> None:
    """Numbered by how many there were: after a removal two games shared a number, and one of them was never rated."""
    games = [finished(number) for number in range(1, 6)]
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
    await keep(store, finished(9))
    assert (await Archive(store.client).last_number()) == 6


async def test_a_store_without_games_is_migrated(store: Store) -> None:
    await migrations.count_games(store.client)
    await keep(store, finished(1))
    assert [entry.number async for entry in Archive(store.client).entries_after(0)] == [1]


async def test_a_game_is_rewritten_in_its_place(store: Store) -> None:
    archive = Archive(store.client)
    for number in (1, 2):
        await keep(store, finished(number))
    assert await archive.rewrite(finished(1).id, lambda game: renamed(game, "somebody"))
    names = [game.record.seats[0] async for game in archive.all()]
    assert names == ["somebody", finished(2).record.seats[0]]
    assert not await archive.rewrite("gone-000000", lambda game: renamed(game, "somebody"))


async def test_of_two_who_rewrite_neither_undoes_the_other(store: Store, shared_valkey: EmbeddedStore) -> None:
    archive = Archive(store.client)
    await keep(store, finished(1))

    def late(game: FinishedGame) -> FinishedGame:
        """Between reading and writing another has written, once."""
        if game.record.seats[0] != "first":
            with Redis.from_url(shared_valkey.url) as other:
                other.set(keys.game(game.id), renamed(game, "first").to_bytes())
        return replace(game, chats=["paper:200"])

    assert await archive.rewrite(finished(1).id, late)
    game = await archive.get(finished(1).id)
    assert game
    assert (game.record.seats[0], game.chats) == ("first", ["paper:200"])


@pytest.mark.parametrize("stored", [b"", b"x", finished(1).to_bytes()[:40], b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_what_is_no_game_says_so(stored: bytes) -> None:
    with pytest.raises(UnreadableGame):
        FinishedGame.parse(stored)


async def test_the_last_game_is_the_one_that_ended_last_though_another_comes_later(store: Store) -> None:
    """As those of a day do, and of a duplicate's round, when that is over."""
    archive = Archive(store.client)
    evening, morning = await archive.keep(finished(2)), await archive.keep(finished(1))
    assert morning.ended < evening.ended
    for whose in (*evening.known_people, *evening.chats):
        assert await archive.last_game(whose) == evening
    await store.client.delete(keys.game(evening.id))
    await archive.keep(morning)
    assert await archive.last_game(morning.chats[0]) == morning
