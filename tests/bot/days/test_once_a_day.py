"""Marks of a day contain no person ids and are dropped when the day ends."""

import asyncio
from datetime import date, timedelta

from bot.days.once_a_day import DayMarks, drop_marks_before
from bot.store import Store, keys
from tests.bot.features.privacy.traces import find_traces

DAY = date(2026, 11, 26)
NEXT_DAY = DAY + timedelta(days=1)
ANNA, BRUNO = "paper:1001", "paper:1002"


async def test_mark_belongs_to_one_person_day_and_action(store: Store) -> None:
    deals, puzzles = DayMarks(store.client, "deal"), DayMarks(store.client, "puzzle")
    assert not await deals.has(DAY, ANNA)
    await deals.add(DAY, ANNA)
    await deals.add(DAY, ANNA)
    assert await deals.has(DAY, ANNA)
    assert not await deals.has(DAY, BRUNO)
    assert not await deals.has(NEXT_DAY, ANNA)
    assert not await puzzles.has(DAY, ANNA)


async def test_marks_contain_no_person_ids(store: Store) -> None:
    await DayMarks(store.client, "deal").add(DAY, ANNA)
    assert await find_traces(store, ANNA, "1001") == []


async def test_simultaneous_first_marks_are_both_stored(store: Store) -> None:
    marks = DayMarks(store.client, "deal")
    await asyncio.gather(marks.add(DAY, ANNA), marks.add(DAY, BRUNO))
    assert await marks.has(DAY, ANNA)
    assert await marks.has(DAY, BRUNO)


async def test_key_and_marks_are_dropped_after_their_day(store: Store) -> None:
    marks, client = DayMarks(store.client, "deal"), store.client
    for day in (DAY, NEXT_DAY):
        await marks.add(day, ANNA)
    await drop_marks_before(client, DAY)
    assert await marks.has(DAY, ANNA)
    await drop_marks_before(client, NEXT_DAY)
    assert not await client.exists(keys.day_key(DAY), keys.day_marks(DAY))
    assert await client.smembers(keys.MARKED) == {NEXT_DAY.isoformat().encode()}
    assert await marks.has(NEXT_DAY, ANNA)


async def test_key_and_marks_expire_without_a_worker(store: Store) -> None:
    await DayMarks(store.client, "deal").add(DAY, ANNA)
    for key in (keys.day_key(DAY), keys.day_marks(DAY)):
        assert 0 < await store.client.ttl(key) <= 2 * 86400
