"""How ratings went is kept for a while, follows from the games, and goes with whom it is about."""

import json

from bot.features.privacy.mydata import MyData
from bot.finished.archive import Archive
from bot.finished.history import DAY_SECONDS, GAMES_KEPT, RatedGame, history_text, parse_history
from bot.finished.ratings import EVERYTHING, Ratings, Scope
from bot.store import Store, keys
from tests.bot.finished.games import NOON, finished, keep

ANYWHERE, HERE = Scope(), Scope(chat="paper:100", game="testa")


async def rated(store: Store, games: int) -> Ratings:
    for number in range(games):
        await keep(store, finished(number, ended=NOON + number * DAY_SECONDS))
    ratings = Ratings(store.client, Archive(store.client))
    await ratings.catch_up()
    return ratings


async def history(ratings: Ratings, scope: Scope, person: str = "paper:1") -> list[RatedGame]:
    return (await ratings.histories(scope, [person]))[person]


async def test_each_rated_game_is_a_word_of_its_players_histories(store: Store) -> None:
    ratings = await rated(store, 6)
    for scope in (ANYWHERE, HERE, Scope(month="2026-02")):
        for person in ("paper:1", "paper:2", "paper:3"):
            standing, found = await ratings.standing(scope, person), await history(ratings, scope, person)
            assert len(found) == standing.games
            assert sum(game.won for game in found) == standing.wins
            assert found[-1].rating == standing.shown
            assert [game.day for game in found] == sorted({game.day for game in found})


async def test_no_more_than_the_last_games_are_kept(store: Store) -> None:
    ratings = await rated(store, 2 * GAMES_KEPT)
    assert (await ratings.standing(ANYWHERE, "paper:1")).games > GAMES_KEPT
    found = await history(ratings, ANYWHERE)
    assert len(found) == GAMES_KEPT
    assert found[-1].rating == (await ratings.standing(ANYWHERE, "paper:1")).shown


async def test_histories_made_anew_are_the_same(store: Store) -> None:
    ratings = await rated(store, 5)
    before = [await history(ratings, scope) for scope in (ANYWHERE, HERE)]
    await store.client.hset(keys.history(ANYWHERE.key), "paper:9", "1w1")
    await ratings.rebuild()
    assert [await history(ratings, scope) for scope in (ANYWHERE, HERE)] == before
    assert await history(ratings, ANYWHERE, "paper:9") == []


async def test_a_chat_that_moves_takes_its_histories_along(store: Store) -> None:
    ratings = await rated(store, 3)
    before = await history(ratings, HERE)
    assert before
    await ratings.move_chat("paper:100", "paper:200")
    assert await history(ratings, HERE._replace(chat="paper:200")) == before
    assert await history(ratings, HERE) == []


async def test_nobody_has_the_history_of_who_is_forgotten(store: Store) -> None:
    ratings = await rated(store, 6)
    await ratings.hand_over("paper:1", "somebody:01234567")
    for scope in (ANYWHERE, HERE, Scope(month="2026-02")):
        assert await history(ratings, scope) == []
        assert await history(ratings, scope, "somebody:01234567") == []
        assert await history(ratings, scope, "paper:2")


async def test_mydata_has_the_history(store: Store) -> None:
    ratings = await rated(store, 3)
    file = await MyData(store.client, ratings.archive, ratings, []).file("paper:1", [], NOON)
    everywhere = {"chat": EVERYTHING, "month": EVERYTHING, "game": EVERYTHING}
    [found] = [one for one in json.loads(file.content)["ratings"] if everywhere.items() <= one.items()]
    assert found["history"] == [game._asdict() for game in await history(ratings, ANYWHERE)]
    assert len(found["history"]) == found["games"]


def test_a_history_reads_as_it_was_written() -> None:
    games = [RatedGame(20415, True, 1012), RatedGame(20416, False, -3)]
    assert parse_history(history_text(games).encode()) == games
    assert parse_history(None) == []
