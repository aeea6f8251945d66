"""How far each person is in each course."""

from typing import Any

from bot.features.learn import keys
from bot.features.learn.courses import COURSES
from bot.features.learn.lesson import Lesson, Spot

DONE = "done"  # the step after the last one is won


class Progress:
    """The stored spots. Every method can raise a store error."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def spot(self, person: str, course: str) -> Spot:
        """Return where a person goes on in a course: at its first step if they have not begun or are done."""
        found = await self._client.hget(keys.spots(course), person)
        step, *taps = found.decode().split() if found else (DONE,)
        return Spot(course, step, *taps) if step != DONE else Spot(course)

    async def note(self, person: str, lesson: Lesson) -> None:
        spot = lesson.spot
        text = DONE if lesson.is_won else f"{spot.step} {spot.taps}"
        await self._client.hset(keys.spots(spot.course), person, text)

    async def steps(self, person: str) -> dict[str, str]:
        """Return the step that a person has reached in each course that they have begun."""
        found = {course: await self._client.hget(keys.spots(course), person) for course in COURSES}
        return {course: spot.decode().split()[0] for course, spot in found.items() if spot}

    async def forget(self, person: str) -> None:
        for course in COURSES:
            await self._client.hdel(keys.spots(course), person)
