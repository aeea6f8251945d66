"""Daily messages are sent once, at the chosen hour."""

from datetime import datetime, timedelta

import pytest

from bot.actions import BadPayload
from bot.days.chosen_hours import HOURS, OFF, ChosenHours, hour_row, parse_hour
from bot.platform import MessageRefused, NotDelivered
from bot.store import Store

NOON = datetime(2026, 11, 24, 13, 5)
DAY = NOON.date()


def create_chosen_hours(store: Store) -> ChosenHours:
    return ChosenHours(store.client, "hours", lambda day: f"sent:{day}")


def test_hour_buttons_match_parsed_words() -> None:
    words = [button.payload for button in hour_row("en", 13, str)]
    assert words == [*map(str, HOURS), OFF]
    assert [parse_hour(word) for word in words] == [*HOURS, None]
    for word in ("12", "013", ""):
        with pytest.raises(BadPayload):
            parse_hour(word)


async def test_message_is_due_for_two_hours(store: Store) -> None:
    hours = create_chosen_hours(store)
    await hours.choose("anna", 13)
    due = [await hours.due_names(NOON.replace(hour=hour)) for hour in (12, 13, 14, 15)]
    assert due == [[], ["anna"], ["anna"], []]
    await hours.choose("anna", None)
    assert await hours.due_names(NOON) == []


async def test_message_of_a_day_is_noted_only_once(store: Store) -> None:
    hours = create_chosen_hours(store)
    assert [await hours.note_sent(DAY, "anna") for _ in range(2)] == [True, False]
    assert await hours.note_sent(DAY + timedelta(days=1), "anna")


async def test_second_note_keeps_the_expiry(store: Store) -> None:
    hours = create_chosen_hours(store)
    await hours.note_sent(DAY, "anna")
    await store.client.expire(f"sent:{DAY}", 1000)
    await hours.note_sent(DAY, "anna")
    assert await store.client.ttl(f"sent:{DAY}") <= 1000


async def test_message_is_sent_again_after_a_temporary_failure(store: Store) -> None:
    hours = create_chosen_hours(store)
    for error, is_new in ((MessageRefused("no"), False), (NotDelivered("away"), True)):
        await hours.note_sent(DAY, "anna")
        await hours.note_failed(DAY, "anna", error)
        assert await hours.note_sent(DAY, "anna") == is_new


async def test_forget_removes_hour_and_notes(store: Store) -> None:
    hours = create_chosen_hours(store)
    await hours.choose("anna", 13)
    for days_ago in range(-1, 3):
        await hours.note_sent(DAY - timedelta(days=days_ago), "anna")
    await hours.forget("anna", DAY)
    assert await store.client.keys("hours") + await store.client.keys("sent:*") == []
