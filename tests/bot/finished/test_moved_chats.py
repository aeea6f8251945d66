"""A chat with a new id, such as a group that becomes a supergroup, keeps its leaderboards and honours."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from bot.features.daily.feature import DailyFeature
from bot.features.ratings.honours import Honour, Honours
from bot.features.tournaments.feature import TournamentsFeature
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.finished.ratings import Ratings, Scope
from bot.handlers.dispatcher import Dispatcher
from bot.solo_deals.results import SoloResult
from bot.store import Store, keys
from tests.bot.fake_platform import GROUP, FakePlatform, open_worker
from tests.bot.features.tournaments.field import find_open_tables, open_field
from tests.bot.finished.games import finished_game, store_game
from tests.bot.finished.test_archive import load_ratings

ANNA, NEW = "paper:1", "paper:200"
IN_MARCH = datetime(2026, 3, 1, 2, tzinfo=UTC)


def make_won_game(number: int) -> FinishedGame:
    """Return a game that Anna won."""
    finished = finished_game(number)
    record = finished.record.model_copy(update={"winner": [0]})
    return replace(finished, people=[ANNA, "paper:2"], chats=[GROUP], record=record)


async def store_rated_games(store: Store, games: int) -> Ratings:
    for number in range(games):
        await store_game(store, make_won_game(number))
    ratings = Ratings(store.client, Archive(store.client))
    await ratings.catch_up()
    return ratings


async def count_annas_games(ratings: Ratings) -> Sequence[int]:
    """Return Anna's games in the old and the new chat."""
    return [(await ratings.standing(Scope(chat=chat), ANNA)).games for chat in (GROUP, NEW)]


async def test_game_rated_during_a_move_counts_in_the_new_chat(any_store: Store) -> None:
    ratings = await store_rated_games(any_store, 4)
    async with open_worker(any_store, FakePlatform()) as worker:
        move_people = worker.people.move_chat

        async def move_slowly(old_id: str, new_id: str) -> None:
            await store_game(any_store, make_won_game(4))
            await ratings.catch_up()
            await move_people(old_id, new_id)

        worker.people.move_chat = move_slowly  # type: ignore[method-assign]
        for _ in range(2):
            await Dispatcher(worker).move_chat(GROUP, NEW)
    assert await count_annas_games(ratings) == [0, 5]
    before = await load_ratings(any_store)
    await ratings.rebuild()
    assert await load_ratings(any_store) == before


async def test_game_counts_in_the_chat_that_moved_during_rating(store: Store) -> None:
    ratings = await store_rated_games(store, 4)
    enter = ratings._index_scopes

    async def move_first(people: Sequence[str], scopes: Sequence[Scope]) -> None:
        await ratings.move_chat(GROUP, NEW)
        await enter(people, scopes)

    ratings._index_scopes = move_first  # type: ignore[method-assign]
    await store_game(store, make_won_game(4))
    assert await ratings.catch_up() == 1
    assert await count_annas_games(ratings) == [0, 5]


async def test_all_leaderboards_of_a_chat_move(store: Store) -> None:
    ratings = await store_rated_games(store, 4)
    before = await load_ratings(store)
    await ratings.move_chat(GROUP, NEW)
    assert await load_ratings(store) == {
        name.replace(f":{GROUP}|", f":{NEW}|"): ratings_by_person for name, ratings_by_person in before.items()
    }


async def test_rebuild_merges_leaderboards_that_could_not_move(store: Store) -> None:
    """The new chat had games before the move was reported."""
    await store_game(store, replace(make_won_game(9), chats=[NEW]))
    ratings = await store_rated_games(store, 4)
    with capture_logs() as logs:
        await ratings.move_chat(GROUP, NEW)
    assert [line["event"] for line in logs] == ["leaderboards_not_moved"]
    assert await count_annas_games(ratings) == [4, 1]
    await ratings.rebuild()
    assert await count_annas_games(ratings) == [0, 5]


async def test_chat_moved_by_an_earlier_release_stays_moved(store: Store) -> None:
    await store.client.hset(keys.MOVED_BEFORE, GROUP, NEW)
    assert await count_annas_games(await store_rated_games(store, 4)) == [0, 4]


async def test_person_forgotten_during_a_move_is_in_neither_chat(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = await store_rated_games(store, 4)
    hand_over = ratings._hand_over

    async def move_first(**arguments: Sequence[str]) -> int:
        await ratings.move_chat(GROUP, NEW)
        return int(await hand_over(**arguments))

    monkeypatch.setattr(ratings, "_hand_over", move_first)
    await ratings.hand_over(ANNA, "somebody:01234567")
    assert await count_annas_games(ratings) == [0, 0]


async def test_moved_chat_gets_the_months_honours(store: Store) -> None:
    """All games of the chat count, and the champion comes from the new chat's leaderboard."""
    ratings = await store_rated_games(store, 4)
    await ratings.move_chat(GROUP, NEW)
    # A tournament's games still name the chat in which it was opened.
    await store_game(store, make_won_game(4))
    await store_game(store, replace(make_won_game(5), chats=[GROUP, NEW]))
    await ratings.catch_up()
    honours = Honours(store.client, ratings.archive, ratings)
    assert await honours.close_past_months(IN_MARCH) == "2026-02"
    assert await honours.months_of(GROUP, 6) == []
    [month] = await honours.months_of(NEW, 6)
    assert month.honours[0].kind == "champion"
    assert Honour("streak", (ANNA,), 6) in month.honours
    # The move is reported again, late.
    await store.client.hset(f"honours:chat:{GROUP}", "2026-02", "[]")
    await honours.move_chat(GROUP, NEW)
    assert await honours.months_of(NEW, 6) == [month]


async def test_chat_moved_during_closing_gets_its_honours(store: Store) -> None:
    ratings = await store_rated_games(store, 4)
    honours = Honours(store.client, ratings.archive, ratings)
    find_leaders = ratings.leaders

    async def move_first(scope: Scope) -> tuple[list[str], int]:
        await ratings.move_chat(GROUP, NEW)
        return await find_leaders(scope)

    ratings.leaders = move_first  # type: ignore[method-assign]
    assert await honours.close_past_months(IN_MARCH) == ""
    assert await honours.close_past_months(IN_MARCH) == "2026-02"
    assert await honours.months_of(GROUP, 6) == []
    [month] = await honours.months_of(NEW, 6)
    assert month.honours[0].kind == "champion"
    assert {honour.chat for honour in await honours.honours_of(ANNA)} == {NEW}


async def test_moved_chat_keeps_its_daily_results(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today, results = worker.feature(DailyFeature).days.today(), worker.feature(DailyFeature).days.results
        days = (today, today - timedelta(days=1))
        for day in days:
            await results.add_request(day, GROUP, ANNA)
            await results.store_result(day, ANNA, SoloResult((7, 4), "1100"))
        for _ in range(2):
            await Dispatcher(worker).move_chat(GROUP, NEW)
        for day in days:
            assert [line.person for line in await results.ranking(day, NEW)] == [ANNA]


async def test_settings_of_the_new_chat_apply_to_its_old_tables(store: Store) -> None:
    """A tournament's tables, for example, name the old id, because no group shows them."""
    async with open_field(store) as running:
        worker, code = running.worker, (await running.start_tournament("testa", "knockout", 2, 11)).code
        await running.settle()
        [table] = find_open_tables(await worker.feature(TournamentsFeature).director.tournaments.load(code))
        assert await worker.watching.watch_id(await worker.room.load(table))
        for _ in range(2):
            await Dispatcher(worker).move_chat(GROUP, NEW)
        await worker.people.update_chat(NEW, watched="0")
        assert not await worker.watching.watch_id(await worker.room.load(table))
