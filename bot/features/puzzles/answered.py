"""Marks that keep a forgotten person from answering the puzzle of the day twice."""

from datetime import date, timedelta
from typing import Any

from bot.days.draws import DailyDraws
from bot.days.marks import DayMarks
from bot.features.puzzles import keys
from bot.features.puzzles.ladder import Ladder


def answer_marks(client: Any) -> DayMarks:
    """Return the marks of forgotten people who had answered the puzzle of the day."""
    return DayMarks(client, "puzzle")


async def mark_before_forgetting(client: Any, person: str, today: date) -> None:
    """Mark a person who is about to be forgotten, if they have answered the puzzle of the day.

    ``today`` is the date in UTC. The host's date can be a day earlier or later.
    """
    for day in (today - timedelta(days=1), today, today + timedelta(days=1)):
        puzzle = await DailyDraws(client, keys.DRAWN).get(day)
        if puzzle and await Ladder(client).answer_of(person, puzzle):
            await answer_marks(client).add(day, person)
