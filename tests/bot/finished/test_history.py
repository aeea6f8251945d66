"""Rating histories are limited, follow from the games, and are deleted with their person."""

import json

from bot.features.privacy.mydata import MyData
from bot.finished.archive import Archive
from bot.finished.history import DAY_SECONDS, GAMES_KEPT, RatedGame, history_text, parse_history
from bot.finished.ratings import EVERYTHING, Ratings, Scope
from bot.store import Store, keys
from tests.bot.finished.games import ENDED_AT, finished_game, store_game

ANYWHERE, HERE = Scope(), Scope(chat="paper:100", game="testa")


async def store_rated_games(store: Store, games: int) -> Ratings:
    for number in range(games):
        await store_game(store, finished_game(number, ended=ENDED_AT + number * DAY_SECONDS))
    ratings = Ratings(store.client, Archive(store.client))
    await ratings.catch_up()
    return ratings


async def load_history(ratings: Ratings, scope: Scope, person: str = "paper:1") -> list[RatedGame]:
    return (await ratings.histories(scope, [person]))[person]


async def test_each_rated_game_is_in_its_players_histories(store: Store) -> None:
    ratings = await store_rated_games(store, 6)
    for scope in (ANYWHERE, HERE, Scope(month="2026-02")):
        for person in ("paper:1", "paper:2", "paper:3"):
            standing, history = await ratings.standing(scope, person), await load_history(ratings, scope, person)
            assert len(history) == standing.games
            assert sum(game.won for game in history) == standing.wins
            assert history[-1].rating == standing.rating
            assert [game.day for game in history] == sorted({game.day for game in history})


async def test_history_keeps_only_the_last_games(store: Store) -> None:
    ratings = await store_rated_games(store, 2 * GAMES_KEPT)
    assert (await ratings.standing(ANYWHERE, "paper:1")).games > GAMES_KEPT
    history = await load_history(ratings, ANYWHERE)
    assert len(history) == GAMES_KEPT
    assert history[-1].rating == (await ratings.standing(ANYWHERE, "paper:1")).rating


async def test_rebuild_gives_the_same_histories(store: Store) -> None:
    ratings = await store_rated_games(store, 5)
    before = [await load_history(ratings, scope) for scope in (ANYWHERE, HERE)]
    await store.client.hset(keys.history(ANYWHERE.key), "paper:9", "1w1")
    await ratings.rebuild()
    assert [await load_history(ratings, scope) for scope in (ANYWHERE, HERE)] == before
    assert await load_history(ratings, ANYWHERE, "paper:9") == []


async def test_moved_chat_keeps_its_histories(store: Store) -> None:
    ratings = await store_rated_games(store, 3)
    before = await load_history(ratings, HERE)
    assert before
    await ratings.move_chat("paper:100", "paper:200")
    assert await load_history(ratings, HERE._replace(chat="paper:200")) == before
    assert await load_history(ratings, HERE) == []


async def test_forgotten_player_has_no_history(store: Store) -> None:
    ratings = await store_rated_games(store, 6)
    await ratings.hand_over("paper:1", "somebody:01234567")
    for scope in (ANYWHERE, HERE, Scope(month="2026-02")):
        assert await load_history(ratings, scope) == []
        assert await load_history(ratings, scope, "somebody:01234567") == []
        assert await load_history(ratings, scope, "paper:2")


async def test_mydata_contains_the_history(store: Store) -> None:
    ratings = await store_rated_games(store, 3)
    file = await MyData(store.client, ratings.archive, ratings, [], store.levers).file("paper:1", [], ENDED_AT)
    everywhere = {"chat": EVERYTHING, "month": EVERYTHING, "game": EVERYTHING}
    [rating] = [rating for rating in json.loads(file.content)["ratings"] if everywhere.items() <= rating.items()]
    assert rating["history"] == [game._asdict() for game in await load_history(ratings, ANYWHERE)]
    assert len(rating["history"]) == rating["games"]


def test_history_survives_a_round_trip_as_text() -> None:
    games = [RatedGame(20415, True, 1012), RatedGame(20416, False, -3)]
    assert parse_history(history_text(games).encode()) == games
    assert parse_history(None) == []
