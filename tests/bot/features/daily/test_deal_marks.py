"""Nobody gets a day's cards twice, however the table ends."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest

from bot.features.daily.days import Days
from bot.features.daily.errors import DealtToday
from bot.features.daily.feature import DailyFeature
from bot.features.daily.loop import reminder_hours
from bot.store import Store, keys
from bot.worker import Worker
from tests.bot.fake_platform import GROUP, FakePlatform, Player
from tests.bot.features.daily.conftest import TODAY, TOMORROW
from tests.bot.features.daily.test_days import begin_deal, make_move, open_players, play_deal
from tests.bot.features.privacy.test_forgetting import forget_person
from tests.bot.features.privacy.traces import find_traces
from tests.long import long


async def check_refusal(player: Player, message: str) -> None:
    """Assert that the player cannot get the cards again anywhere, and reads why."""
    worker = player.worker
    await player.say("/daily", player.private)
    assert not [button for row in player.fake.last(player.private).rows for button in row if button.label == "Play"]
    await player.say("/daily", GROUP)
    assert message in (await player.press("Play", GROUP)).toast
    site = worker.feature(DailyFeature).site
    assert not (await site.page(player.person.id, "en")).can_play
    assert message in (await site.open_table(player.person))[1]
    await worker.wait_until_idle()
    assert await worker.room.lists.tables_of(player.person.id) == []
    assert not player.moves()


async def delete_table(worker: Worker, code: str) -> None:
    """Delete a table and its traces from the store."""
    for key in (keys.table(code), keys.message_states(code), keys.tombstone(code), keys.removed_log(code)):
        await worker.store.client.delete(key)
    worker.room.forget(code)
    worker.delivery.touch(code, reload=True)
    await worker.wait_until_idle()


async def forget_player(worker: Worker, _code: str) -> None:
    await forget_person(worker, "paper:1")


async def close(worker: Worker, code: str) -> None:
    await worker.room.close(code, "host")
    await worker.wait_until_idle()


async def resign(worker: Worker, code: str) -> None:
    table = await worker.room.table(code)
    await worker.room.make_move(code, "paper:1", table.version, "resign", "r")
    await worker.wait_until_idle()


async def close_and_forget(worker: Worker, code: str) -> None:
    await close(worker, code)
    await forget_person(worker, "paper:1")


HAD_CARDS, PLAYED = "You’ve already had today’s cards", "You’ve already played today’s deal"


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (forget_player, HAD_CARDS),
        (delete_table, HAD_CARDS),
        (close_and_forget, HAD_CARDS),
        (close, PLAYED),
        (resign, PLAYED),
    ],
)
@pytest.mark.parametrize("cards", [long(0), 3])
async def test_cards_are_dealt_once_however_the_table_ends(
    store: Store, end: Callable[[Worker, str], Awaitable[None]], message: str, cards: int
) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await anna.say("/help", anna.private)
        code = await begin_deal(anna)
        for _ in range(cards):
            await make_move(anna, code, 1)
        await worker.alarms.wait_until_idle()
        await end(worker, code)
        await anna.say("/start", anna.private)
        await check_refusal(anna, message)
    # Another worker refuses too.
    async with open_players(store, "Anna") as (_worker, [anna]):
        await anna.say("/start", anna.private)
        await check_refusal(anna, message)


async def test_forgotten_player_reads_why_and_plays_tomorrow(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await play_deal(anna, await begin_deal(anna), 1)
        await anna.say("/forget", anna.private)
        question = anna.fake.last(anna.private).plain
        assert "You can’t play today’s deal or puzzle again" in question
        await anna.press("Yes, forget me", anna.private)
        await forget_person(worker, "paper:1")
        assert await worker.feature(DailyFeature).days.results.ranking(TODAY) == []
        await anna.say("/daily", anna.private)
        text = anna.fake.last(anna.private).plain
        assert "You’ve already had today’s cards. A new deal comes at midnight." in text
        assert "A new deal comes at midnight." in text
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await begin_deal(anna)


async def test_mark_is_anonymous_and_deleted_after_the_day(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_players(store) as (worker, _nobody):
        anna = Player(worker, FakePlatform(), "Annabella", 1001)
        await begin_deal(anna)
        await forget_person(worker, "paper:1001")
        assert await find_traces(store, "paper:1001", "1001", "annabella") == []
        assert await worker.feature(DailyFeature).days.marks.has(TODAY, "paper:1001")
        await worker.feature(DailyFeature).days.close_past()
        assert await worker.feature(DailyFeature).days.marks.has(TODAY, "paper:1001")
        monkeypatch.setattr(Days, "today", lambda _days: TOMORROW)
        await worker.feature(DailyFeature).days.close_past()
        assert not [key async for key in store.client.scan_iter("*marks:*")]


async def test_player_continues_after_a_kill_before_the_mark(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        code = await begin_deal(anna)
        await store.client.delete(keys.day_marks(TODAY))
        assert (await worker.feature(DailyFeature).days.open_table("paper:1", "Anna")).code == code
        assert await worker.feature(DailyFeature).days.marks.has(TODAY, "paper:1")
        # A table alone is enough, because earlier releases set no mark.
        await store.client.delete(keys.day_marks(TODAY))
        await forget_person(worker, "paper:1")
        with pytest.raises(DealtToday):
            await worker.feature(DailyFeature).days.open_table("paper:1", "Anna")


async def test_result_of_an_earlier_release_is_marked(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await play_deal(anna, await begin_deal(anna), 1)
        await store.client.delete(keys.day_marks(TODAY))
        await forget_person(worker, "paper:1")
        with pytest.raises(DealtToday):
            await worker.feature(DailyFeature).days.open_table("paper:1", "Anna")


async def test_forgotten_player_gets_no_reminder(store: Store) -> None:
    async with open_players(store, "Anna") as (worker, [anna]):
        await begin_deal(anna)
        await forget_person(worker, "paper:1")
        await reminder_hours(store.client).choose("paper:1", 13)
        await worker.feature(DailyFeature).reminders.send_due(
            datetime(TODAY.year, TODAY.month, TODAY.day, 13, 5, tzinfo=UTC)
        )
        assert not [text for text in anna.fake.texts(anna.private) if "Play before midnight" in text]
