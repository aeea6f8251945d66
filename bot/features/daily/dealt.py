"""Marks of the people who got a day's cards. They are dealt once, even after /forget or if the table is lost.

The mark is stored when the cards are dealt, before the first play: from then on the person knows the hand.
"""

from typing import Any

from bot.days.marks import DayMarks
from bot.features.daily.store import DayResults
from bot.tables.room import Room


def deal_marks(client: Any) -> DayMarks:
    return DayMarks(client, "deal")


async def mark_before_forgetting(room: Room, person: str) -> None:
    """Mark a person who had cards without a mark: from an earlier release, or from a killed worker."""
    client = room.store.client
    marks, results = deal_marks(client), DayResults(client)
    days = [day for day in await results.open_days() if await results.get(day, person)]
    days += [table.day for table in await room.lists.tables_of(person) if table.day]
    for day in days:
        await marks.add(day, person)
