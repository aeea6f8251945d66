"""To whom a day's cards were dealt. Nobody gets them twice, whatever becomes of the table: not even after /forget.

A person is noted when the cards are dealt, before their first card is played: from then on they know their hand.
"""

from typing import Any

from bot.day_marks import DayMarks
from bot.features.daily.store import DayResults
from bot.tables.room import Room


def deal_marks(client: Any) -> DayMarks:
    """Return the marks of those to whom a day's cards were dealt."""
    return DayMarks(client, "deal")


async def mark_before_forgetting(room: Room, person: str) -> None:
    """Mark a person who is about to be forgotten, where only a table or a result tells that they had the cards.

    An earlier release dealt them, or a worker was killed between the deal and the mark.
    """
    client = room.store.client
    marks, results = deal_marks(client), DayResults(client)
    days = [day for day in await results.open_days() if await results.get(day, person)]
    days += [table.day for table in await room.lists.tables_of(person) if table.day]
    for day in days:
        await marks.add(day, person)
