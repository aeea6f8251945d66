"""A chat that has another id, as a group that becomes a supergroup: its leaderboards and honours are the new one's,
whatever ends, is rated or is forgotten meanwhile.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from bot.features.daily.deal import DayResult
from bot.features.daily.feature import DailyFeature
from bot.features.ratings.honours import Honour, Honours
from bot.features.tournaments.feature import TournamentsFeature
from bot.finished.archive import Archive
from bot.finished.game import FinishedGame
from bot.finished.ratings import Ratings, Scope
from bot.handlers.dispatcher import Dispatcher
from bot.store import Store, keys
from tests.bot.fake_platform import GROUP, FakePlatform, open_worker
from tests.bot.features.tournaments.field import field, open_tables
from tests.bot.finished.games import finished, keep
from tests.bot.finished.test_archive import ratings_of

ANNA, NEW = "paper:1", "paper:200"
IN_MARCH = datetime(2026, 3, 1, 2, tzinfo=UTC)


def game(number: int) -> FinishedGame:
    """One that Anna won."""
    one = finished(number)
    record = one.record.model_copy(update={"winner": [0]})
    return replace(one, people=[ANNA, "paper:2"], chats=[GROUP], record=record)


async def rated(store: Store, games: int) -> Ratings:
    for number in range(games):
        await keep(store, game(number))
    ratings = Ratings(store.client, Archive(store.client))
    await ratings.catch_up()
    return ratings


async def games_of_anna(ratings: Ratings) -> Sequence[int]:
    """In the old chat, and in the new one."""
    return [(await ratings.standing(Scope(chat=chat), ANNA)).games for chat in (GROUP, NEW)]


async def test_a_game_that_is_rated_while_its_chat_moves_counts_with_the_others(any_store: Store) -> None:
    ratings = await rated(any_store, 4)
    async with open_worker(any_store, FakePlatform()) as worker:
        move_people = worker.people.move_chat

        async def move_slowly(old: str, new: str) -> None:
            await keep(any_store, game(4))
            await ratings.catch_up()
            await move_people(old, new)

        worker.people.move_chat = move_slowly  # type: ignore[method-assign]
        for _ in range(2):
            await Dispatcher(worker).move_chat(GROUP, NEW)
    assert await games_of_anna(ratings) == [0, 5]
    before = await ratings_of(any_store)
    await ratings.rebuild()
    assert await ratings_of(any_store) == before


async def test_a_game_whose_chat_moves_while_it_is_rated_counts_with_the_others(store: Store) -> None:
    ratings = await rated(store, 4)
    enter = ratings._index_scopes

    async def move_first(people: Sequence[str], scopes: Sequence[Scope]) -> None:
        await ratings.move_chat(GROUP, NEW)
        await enter(people, scopes)

    ratings._index_scopes = move_first  # type: ignore[method-assign]
    await keep(store, game(4))
    assert await ratings.catch_up() == 1
    assert await games_of_anna(ratings) == [0, 5]


async def test_every_leaderboard_of_a_chat_moves(store: Store) -> None:
    ratings = await rated(store, 4)
    before = await ratings_of(store)
    await ratings.move_chat(GROUP, NEW)
    assert await ratings_of(store) == {name.replace(f":{GROUP}|", f":{NEW}|"): one for name, one in before.items()}


async def test_leaderboards_that_cannot_move_are_told_and_a_rebuild_puts_them_together(store: Store) -> None:
    """The new chat had games before anybody told that the old one has moved."""
    await keep(store, replace(game(9), chats=[NEW]))
    ratings = await rated(store, 4)
    with capture_logs() as logs:
        await ratings.move_chat(GROUP, NEW)
    assert [line["event"] for line in logs] == ["leaderboards_not_moved"]
    assert await games_of_anna(ratings) == [4, 1]
    await ratings.rebuild()
    assert await games_of_anna(ratings) == [0, 5]


async def test_chats_that_an_earlier_release_moved_are_still_known(store: Store) -> None:
    await store.client.hset(keys.MOVED_BEFORE, GROUP, NEW)
    assert await games_of_anna(await rated(store, 4)) == [0, 4]


async def test_who_is_forgotten_while_a_chat_moves_is_in_neither(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = await rated(store, 4)
    hand_over = ratings._hand_over

    async def move_first(**words: Sequence[str]) -> int:
        await ratings.move_chat(GROUP, NEW)
        return int(await hand_over(**words))

    monkeypatch.setattr(ratings, "_hand_over", move_first)
    await ratings.hand_over(ANNA, "somebody:01234567")
    assert await games_of_anna(ratings) == [0, 0]


async def test_the_honours_of_a_month_in_which_a_chat_moves_are_the_new_ones(store: Store) -> None:
    """All of its games count, and the champion is that of the new chat's leaderboard."""
    ratings = await rated(store, 4)
    await ratings.move_chat(GROUP, NEW)
    # A tournament's games go on to name the chat in which it was opened.
    await keep(store, game(4))
    await keep(store, replace(game(5), chats=[GROUP, NEW]))
    await ratings.catch_up()
    honours = Honours(store.client, ratings.archive, ratings)
    assert await honours.close_past_months(IN_MARCH) == "2026-02"
    assert await honours.months_of(GROUP, 6) == []
    [month] = await honours.months_of(NEW, 6)
    assert month.honours[0].kind == "champion"
    assert Honour("streak", (ANNA,), 6) in month.honours
    # Told once more, and late, that the chat has moved.
    await store.client.hset(keys.honours(GROUP), "2026-02", "[]")
    await honours.move_chat(GROUP, NEW)
    assert await honours.months_of(NEW, 6) == [month]


async def test_a_chat_that_moves_while_its_month_is_closed_has_its_honours(store: Store) -> None:
    ratings = await rated(store, 4)
    honours = Honours(store.client, ratings.archive, ratings)
    first = ratings.leaders

    async def move_first(scope: Scope) -> tuple[list[str], int]:
        await ratings.move_chat(GROUP, NEW)
        return await first(scope)

    ratings.leaders = move_first  # type: ignore[method-assign]
    assert await honours.close_past_months(IN_MARCH) == ""
    assert await honours.close_past_months(IN_MARCH) == "2026-02"
    assert await honours.months_of(GROUP, 6) == []
    [month] = await honours.months_of(NEW, 6)
    assert month.honours[0].kind == "champion"
    assert {one.chat for one in await honours.honours_of(ANNA)} == {NEW}


async def test_the_deal_of_the_day_is_told_in_the_new_chat_and_yesterdays_too(store: Store) -> None:
    async with open_worker(store, FakePlatform()) as worker:
        today, results = worker.feature(DailyFeature).days.today(), worker.feature(DailyFeature).days.results
        days = (today, today - timedelta(days=1))
        for day in days:
            await results.add_request(day, GROUP, ANNA)
            await results.store_result(day, ANNA, DayResult((7, 4), "1100"))
        for _ in range(2):
            await Dispatcher(worker).move_chat(GROUP, NEW)
        for day in days:
            assert [line.person for line in await results.ranking(day, NEW)] == [ANNA]


async def test_what_the_new_chat_wants_goes_for_tables_that_know_it_by_its_old_name(store: Store) -> None:
    """A tournament's tables do, for they are shown in no group."""
    async with field(store) as some:
        worker, code = some.worker, (await some.started("testa", "knockout", 2, 11)).code
        await some.tended()
        [table] = open_tables(await worker.feature(TournamentsFeature).director.tournaments.load(code))
        assert await worker.watching.watch_id(await worker.room.load(table))
        for _ in range(2):
            await Dispatcher(worker).move_chat(GROUP, NEW)
        await worker.people.update_chat(NEW, watched="0")
        assert not await worker.watching.watch_id(await worker.room.load(table))
