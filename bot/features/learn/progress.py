"""How far each person is in each course."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from bot.features.learn import keys
from bot.features.learn.courses import COURSES
from bot.features.learn.lesson import Lesson, Spot


class Reached(NamedTuple):
    """A person's state in a course. ``step`` is where they continue, empty for the beginning."""

    step: str = ""
    is_done: bool = False


class Progress:
    """The stored spots. Every method can raise a store error."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def spot(self, person: str, course: str) -> Spot:
        """Return the spot where a person continues in a course: its first step if they have not begun or have won."""
        spot_text = await self._client.hget(keys.spots(course), person)
        return Spot(course, *spot_text.decode().split()) if spot_text else Spot(course)

    async def note(self, person: str, lesson: Lesson) -> None:
        """Store a person's spot. A won course stays finished when they repeat it."""
        course, step, taps = lesson.spot
        if lesson.is_won:
            await self._client.sadd(keys.winners(course), person)
            await self._client.hdel(keys.spots(course), person)
        else:
            await self._client.hset(keys.spots(course), person, f"{step} {taps}")

    async def courses_of(self, person: str) -> Mapping[str, Reached]:
        """Return a person's state in each course that they have begun."""
        states = {}
        for course in COURSES:
            spot_text = await self._client.hget(keys.spots(course), person)
            is_done = bool(await self._client.sismember(keys.winners(course), person))
            if spot_text or is_done:
                states[course] = Reached(spot_text.decode().split()[0] if spot_text else "", is_done)
        return states

    async def forget(self, person: str) -> None:
        for course in COURSES:
            await self._client.hdel(keys.spots(course), person)
            await self._client.srem(keys.winners(course), person)
