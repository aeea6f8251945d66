"""The monthly honours of groups."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from typing import Any, Self
from weakref import ref

import pytest

from bot.feature import Feature, Forgetting, Step
from bot.features.privacy.feature import PrivacyFeature
from bot.features.privacy.forgetting import Forgetter
from bot.features.ratings.feature import RatingsFeature
from bot.features.ratings.honours import Honour, Honours, HonourTally, Month, month_before, person_key
from bot.features.ratings.honours_pages import chat_honours_panel
from bot.features.ratings.players import Players
from bot.finished.archive import Archive, ArchiveEntry
from bot.finished.game import FinishedGame
from bot.finished.ratings import Ratings, Scope
from bot.identity.pseudonyms import forgetting_marks
from bot.people import People
from bot.store import Store
from bot.store.keys import PERSON_KEY_PREFIXES
from bot.tables.room import Room
from engine import Record
from tests.bot.fake_platform import GROUP, FakePlatform, Player, open_worker
from tests.bot.features.privacy.traces import dump_store
from tests.bot.finished.games import finished_game, store_game

OCTOBER, NOVEMBER = (int(datetime(2026, month, 15, tzinfo=UTC).timestamp()) for month in (10, 11))
IN_DECEMBER = datetime(2026, 12, 1, 2, tzinfo=UTC)
FOUR = ANNA, BRUNO, CARLA, DINO = "paper:1", "paper:2", "paper:3", "paper:4"


def make_game(
    number: int, winner: int, *, ended: int = NOVEMBER, totals: Sequence[tuple[int, int]] = (), fours: int = -1
) -> FinishedGame:
    """Return Anna and Bruno's game in the group. `fours` is the seat that declares four threes."""
    finished = finished_game(number, "testa", ended + number)
    fields = finished.record.model_dump()
    fields["winner"], fields["ending"] = [winner], "target"
    deals = fields["deals"][: max(1, len(totals))]
    for index, deal in enumerate(deals):
        deal["totals"] = totals[index] if totals else ((1, 0) if winner == 0 else (0, 1))
        moves = [move for move in deal["moves"] if move[1] != "declare four 3"]
        deal["moves"] = [(fours, "declare four 3"), *moves] if fours >= 0 and index == 0 else moves
    fields["deals"] = deals
    return replace(
        finished,
        record=type(finished.record).model_construct(**rebuild_fields(finished.record, fields)),
        people=[ANNA, BRUNO],
        chats=[GROUP],
    )


def rebuild_fields(record: Record, fields: dict[str, Any]) -> Any:
    """Return the record's fields, with deal models instead of dictionaries."""
    deals = [
        old.model_copy(update={"totals": deal["totals"], "moves": deal["moves"]})
        for old, deal in zip(record.deals, fields["deals"], strict=False)
    ]
    return {**{name: getattr(record, name) for name in type(record).model_fields}, **fields, "deals": deals}


def count_honours(games: Sequence[FinishedGame]) -> dict[str, Honour]:
    tally = HonourTally()
    for game in games:
        tally.add(game)
    return {honour.kind: honour for honour in tally.honours()}


def test_streak_is_the_longest_run_of_wins() -> None:
    winners = [0, 1, 1, 0, 0, 0, 0, 1, 1, 1]
    honours = count_honours([make_game(number, winner) for number, winner in enumerate(winners)])
    assert honours["streak"] == Honour("streak", (ANNA,), 4)
    assert "streak" not in count_honours([make_game(number, number % 2) for number in range(9)])


def make_game_of_four(number: int, winners: Sequence[int], people: Sequence[str] = FOUR) -> FinishedGame:
    """Return a game of two pairs in the group."""
    finished = finished_game(number, "tressette", NOVEMBER + number)
    record = finished.record.model_copy(update={"winner": list(winners), "ending": "target"})
    return replace(finished, record=record, people=list(people), chats=[GROUP])


def test_partners_share_their_streak() -> None:
    games = [make_game_of_four(number, (1, 3)) for number in range(4)]
    assert count_honours(games)["streak"] == Honour("streak", (BRUNO, DINO), 4)
    # A player who also won earlier, with another partner, holds the longest run alone.
    games.insert(0, make_game_of_four(9, (0, 2), (BRUNO, ANNA, CARLA, DINO)))
    assert count_honours(games)["streak"] == Honour("streak", (BRUNO,), 5)
    # The first of equal runs counts.
    later_games = [make_game_of_four(number, (0, 2)) for number in range(10, 15)]
    assert count_honours([*games, *later_games])["streak"] == Honour("streak", (BRUNO,), 5)


async def test_equal_first_ranks_are_all_champions(store: Store) -> None:
    honours = await store_and_rate(store, [make_game_of_four(number, (0, 2)) for number in range(3)])
    await honours.close_past_months(IN_DECEMBER)
    [month] = await honours.months_of(GROUP, 6)
    [champion] = [honour for honour in month.honours if honour.kind == "champion"]
    assert set(champion.people) == {ANNA, CARLA}
    scope = Scope(chat=GROUP, month="2026-11")
    assert champion.figure == (await honours._ratings.standing(scope, CARLA)).rating
    assert {"champion", "streak"} <= {honour.honour.kind for honour in await honours.honours_of(CARLA)}


def test_shared_honour_lists_all_names() -> None:
    names = {ANNA: "Anna", BRUNO: "Bruno", CARLA: "Carla"}
    month = Month("2026-11", (Honour("champion", tuple(names), 1200), Honour("streak", (ANNA, CARLA), 4)))
    english, italian = (chat_honours_panel(language, [month], names).plain for language in ("en", "it"))
    assert "🏆 Champions, rating 1200 · \u2068Anna\u2069, \u2068Bruno\u2069 and \u2068Carla\u2069" in english
    assert "🏆 Campioni, punteggio 1200 · \u2068Anna\u2069, \u2068Bruno\u2069 e \u2068Carla\u2069" in italian
    assert "🔥 Serie più lunga: 4 vittorie di fila · \u2068Anna\u2069 e \u2068Carla\u2069" in italian


def test_fours_honour_is_for_the_most_four_threes() -> None:
    games = [make_game(0, 0, fours=0), make_game(1, 0, fours=1), make_game(2, 0, fours=1), make_game(3, 0)]
    assert count_honours(games)["fours"] == Honour("fours", (BRUNO,), 2)
    assert "fours" not in count_honours([make_game(0, 0)])


def test_comeback_honour_is_for_the_greatest_deficit() -> None:
    target = int(make_game(0, 0).record.rules["target"])
    comeback = make_game(1, 1, totals=[(target // 2, 1), (target // 2, target)])
    share = round(100 * (target // 2 - 1) / target)
    assert count_honours([make_game(0, 0), comeback])["comeback"] == Honour("comeback", (BRUNO,), share)
    assert "comeback" not in count_honours([make_game(0, 0)])
    # A win by resignation is not a comeback.
    given_up = replace(comeback, record=comeback.record.model_copy(update={"ending": "resign"}))
    assert "comeback" not in count_honours([given_up])


def test_forgotten_player_gets_no_honours() -> None:
    games = [replace(make_game(number, 0, fours=0), people=["somebody:1", BRUNO]) for number in range(5)]
    assert count_honours(games) == {}


@pytest.mark.parametrize(
    ("time", "expected"),
    [(datetime(2026, 12, 1, 0, 0, tzinfo=UTC), "2026-11"), (datetime(2027, 1, 31, tzinfo=UTC), "2026-12")],
)
def test_month_before_a_date_is_the_last_full_month(time: datetime, expected: str) -> None:
    assert month_before(time) == expected


async def store_and_rate(store: Store, games: Sequence[FinishedGame]) -> Honours:
    for game in games:
        await store_game(store, game)
    archive = Archive(store.client)
    ratings = Ratings(store.client, archive)
    await ratings.catch_up()
    return Honours(store.client, archive, ratings)


async def test_month_is_closed_after_rating_its_games(store: Store) -> None:
    for number in range(3):
        await store_game(store, make_game(number, 0, ended=NOVEMBER))
    archive = Archive(store.client)
    honours = Honours(store.client, archive, Ratings(store.client, archive))
    assert await honours.close_past_months(IN_DECEMBER) == "2026-11"
    [month] = await honours.months_of(GROUP, 6)
    assert [honour.people for honour in month.honours if honour.kind == "champion"] == [(ANNA,)]


async def test_month_is_closed_once_after_its_end(store: Store) -> None:
    games = [make_game(number, 0, ended=OCTOBER) for number in range(3)]
    games += [make_game(number, 1, ended=NOVEMBER) for number in range(3, 8)]
    honours = await store_and_rate(store, games)
    assert await honours.close_past_months(datetime(2026, 11, 30, 23, tzinfo=UTC)) == "2026-10"
    assert [month.name for month in await honours.months_of(GROUP, 6)] == ["2026-10"]
    # The bot waits an hour for games that are still being stored.
    assert await honours.close_past_months(datetime(2026, 12, 1, 0, 30, tzinfo=UTC)) == ""
    assert await honours.close_past_months(IN_DECEMBER) == "2026-11"
    months = await honours.months_of(GROUP, 6)
    assert [month.name for month in months] == ["2026-11", "2026-10"]
    assert [honour.kind for honour in months[0].honours] == ["champion", "streak"]
    assert months[0].honours[1] == Honour("streak", (BRUNO,), 5)
    assert months[0].honours[0].people == (BRUNO,)
    assert months[1].honours[0].people == (ANNA,)
    # Closing a month twice changes nothing.
    assert await honours.close_past_months(IN_DECEMBER) == ""
    await store.client.delete("honours:closed")
    assert await honours.close_past_months(IN_DECEMBER) == "2026-11"
    assert await honours.months_of(GROUP, 6) == months
    assert len(await honours.honours_of(BRUNO)) == 2


async def test_closing_a_month_streams_its_games(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    honours = await store_and_rate(store, [make_game(number, 0) for number in range(20)])
    parsed_games, max_alive, turn_count = list[ref[FinishedGame]](), 0, 0
    parse = FinishedGame.parse

    def parse_and_count(stored_game: bytes) -> FinishedGame:
        nonlocal max_alive
        game = parse(stored_game)
        parsed_games.append(ref(game))
        max_alive = max(max_alive, sum(game() is not None for game in parsed_games))
        return game

    async def count_turns() -> None:
        nonlocal turn_count
        while True:
            await asyncio.sleep(0)
            turn_count += bool(parsed_games)

    monkeypatch.setattr(FinishedGame, "parse", parse_and_count)
    # All games come in one round trip.
    task = asyncio.create_task(count_turns())
    assert await honours.close_past_months(IN_DECEMBER) == "2026-11"
    task.cancel()
    assert max_alive <= 3
    assert turn_count >= 20
    assert [honour.figure for honour in (await honours.months_of(GROUP, 1))[0].honours if honour.kind == "streak"] == [
        20
    ]


async def test_months_missed_while_down_are_closed(store: Store) -> None:
    honours = await store_and_rate(store, [make_game(number, 0, ended=OCTOBER) for number in range(3)])
    assert await honours.close_past_months(datetime(2027, 2, 3, tzinfo=UTC)) == "2026-10"
    assert [month.name for month in await honours.months_of(GROUP, 6)] == ["2026-10"]


async def test_fast_clock_closes_no_month_without_games(store: Store) -> None:
    honours = await store_and_rate(store, [make_game(number, 0, ended=OCTOBER) for number in range(3)])
    assert await honours.close_past_months(datetime(2027, 11, 16, tzinfo=UTC)) == "2026-10"
    assert await honours.close_past_months(datetime(2027, 11, 16, tzinfo=UTC)) == ""
    await store_and_rate(store, [make_game(number, 1) for number in range(3, 6)])
    assert await honours.close_past_months(IN_DECEMBER) == "2026-11"
    assert [month.name for month in await honours.months_of(GROUP, 6)] == ["2026-11", "2026-10"]


async def test_game_dated_in_the_future_blocks_no_month(store: Store) -> None:
    future = int(datetime(2027, 11, 15, tzinfo=UTC).timestamp())
    honours = await store_and_rate(
        store, [make_game(0, 0), make_game(1, 1, ended=future), make_game(2, 0), make_game(3, 0)]
    )
    assert await honours.close_past_months(IN_DECEMBER) == "2026-11"
    assert Honour("streak", (ANNA,), 3) in (await honours.months_of(GROUP, 1))[0].honours
    assert await honours.close_past_months(datetime(2027, 12, 2, tzinfo=UTC)) == "2027-11"


async def test_months_follow_the_stores_clock(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    class FastClock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return super().now(tz) + timedelta(days=365)

    received = asyncio.get_running_loop().create_future()

    async def close_past(_honours: Honours, now: datetime) -> str:
        if not received.done():
            received.set_result(now)
        return ""

    monkeypatch.setattr("bot.features.ratings.feature.datetime", FastClock)
    monkeypatch.setattr(Honours, "close_past_months", close_past)
    async with open_worker(store, FakePlatform()), asyncio.timeout(20):
        assert abs(await received - datetime.now(UTC)) < timedelta(hours=1)


async def test_moved_chat_keeps_its_honours(store: Store) -> None:
    honours = await store_and_rate(store, [make_game(number, 0) for number in range(3)])
    await honours.close_past_months(IN_DECEMBER)
    before = await honours.months_of(GROUP, 6)
    for _ in range(2):
        await honours.move_chat(GROUP, "paper:900")
    assert await honours.months_of(GROUP, 6) == []
    assert await honours.months_of("paper:900", 6) == before
    assert {honour.chat for honour in await honours.honours_of(ANNA)} == {"paper:900"}


async def skip_check(_feature: RatingsFeature) -> None:
    """Replace the worker's own check, which follows the store's clock."""


async def test_honours_are_shown_and_forgotten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RatingsFeature, "_close_past_months", skip_check)
    await store_and_rate(store, [make_game(number, 0) for number in range(3)])
    async with open_worker(store, FakePlatform()) as worker:
        anna = Player(worker, worker.adapters["paper"], "Anna", 1)  # type: ignore[arg-type]
        await anna.say("/honours")
        assert "None yet" in anna.fake.last(GROUP).plain
        await worker.feature(RatingsFeature).honours.close_past_months(IN_DECEMBER)
        await anna.say("/honours")
        text = anna.fake.last(GROUP).plain
        assert "November 2026" in text
        assert "🏆 Champion, rating " in text
        assert "🔥 Longest run: 3 games won in a row · \u2068Anna\u2069" in text
        await anna.press("Final table: November 2026", GROUP)
        assert "November 2026" in anna.fake.last(GROUP).plain
        assert "3 games" in anna.fake.last(GROUP).plain
        await anna.say("/honours", anna.private)
        assert "November 2026" in anna.fake.last(anna.private).plain
        assert "🔥" in anna.fake.last(anna.private).plain

        players = Players(store, worker.people, worker.ratings, worker.archive)
        player = await players.player(await players.id_of(ANNA), "", "it")
        assert player
        assert [honour.text for honour in player.honours if honour.kind == "streak"] == [
            "novembre 2026: 🔥 Serie più lunga: 3 vittorie di fila"
        ]
        assert GROUP not in player.model_dump_json()
        file = await worker.feature(PrivacyFeature).own_data.file(ANNA, [], 0.0)
        assert b'"kind": "streak", "figure": 3' in file.content

        await worker.feature(PrivacyFeature).forgetter.begin(ANNA)
        async with asyncio.timeout(20):
            while not (await forgetting_marks(store.client))[ANNA].is_erased:
                await asyncio.sleep(0.01)
        assert await worker.feature(RatingsFeature).honours.honours_of(ANNA) == []
        [month] = await worker.feature(RatingsFeature).honours.months_of(GROUP, 6)
        assert ANNA not in str(month)
        assert "somebody:" in str(month)
        bruno = Player(worker, anna.fake, "Bruno", 2)
        await bruno.say("/honours")
        assert "games won in a row · \u2068somebody\u2069" in anna.fake.last(GROUP).plain.lower()


def make_forgetter(store: Store, honours: Honours) -> Forgetter:
    async def ignore_change(_key: str) -> None:
        return

    class HonoursAlone(Feature):
        def steps_after_games(self, forgetting: Forgetting) -> Iterator[Step]:
            yield partial(honours.forget, forgetting.person, forgetting.pseudonym)

    people = People(store.client)
    return Forgetter(Room(store), people, honours._archive, honours._ratings, [HonoursAlone()], ignore_change)


async def forget_anna(forgetter: Forgetter) -> None:
    """Run Anna's forgetting without the second pass."""
    await forgetter.forget(ANNA, await forgetter.begin(ANNA))


async def run_second_pass(store: Store, forgetter: Forgetter) -> None:
    await forgetter.finish(ANNA, (await forgetting_marks(store.client))[ANNA])


async def has_traces_of_anna(store: Store) -> bool:
    texts = {key: text for key, text in (await dump_store(store)).items() if key.startswith("honours:")}
    return re.search(rf"{ANNA}\b", str(texts)) is not None


@pytest.mark.parametrize("write", ["hset", "hsetnx"])
async def test_person_forgotten_before_a_write_has_no_honours(
    store: Store, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    """Honours are written when a month is closed and when a chat moves."""
    honours = await store_and_rate(store, [make_game(number, 0) for number in range(3)])
    if write == "hsetnx":
        await honours.close_past_months(IN_DECEMBER)
    forgetter, write_now = make_forgetter(store, honours), getattr(store.client, write)

    async def forget_first(key: str, *arguments: Any, **options: Any) -> Any:
        if key.startswith("honours:chat:"):
            monkeypatch.setattr(store.client, write, write_now)
            await forget_anna(forgetter)
        return await write_now(key, *arguments, **options)

    monkeypatch.setattr(store.client, write, forget_first)
    if write == "hsetnx":
        await honours.move_chat(GROUP, "paper:900")
    else:
        await honours.close_past_months(IN_DECEMBER)
    assert await has_traces_of_anna(store)
    await run_second_pass(store, forgetter)
    assert not await has_traces_of_anna(store)


async def test_person_forgotten_during_a_read_has_no_honours(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a large month takes long enough for a whole forgetting."""
    honours = await store_and_rate(store, [make_game(number, 0) for number in range(4)])
    forgetter, entries_after, leaders = (
        make_forgetter(store, honours),
        honours._archive.entries_after,
        honours._ratings.leaders,
    )

    async def read_entries(number: int) -> AsyncIterator[ArchiveEntry]:
        async for entry in entries_after(number):
            if entry.number == 2:
                await forget_anna(forgetter)
            yield entry

    async def read_leaders(scope: Scope) -> Any:
        if await forgetting_marks(store.client):
            await run_second_pass(store, forgetter)
        return await leaders(scope)

    monkeypatch.setattr(honours._archive, "entries_after", read_entries)
    monkeypatch.setattr(honours._ratings, "leaders", read_leaders)
    await honours.close_past_months(IN_DECEMBER)
    assert not await has_traces_of_anna(store)
    assert "streak" in str(await honours.months_of(GROUP, 1))


def test_backup_takes_keys_of_people_first() -> None:
    assert person_key("paper:1").startswith(PERSON_KEY_PREFIXES)
