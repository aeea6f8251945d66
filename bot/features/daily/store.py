"""What came of the deals of the days, for each person who played them.

| key | type | what |
|---|---|---|
| ``{daily:<day>}:results`` | hash | what came of the deal for each person, JSON; kept for 400 days |
| ``{daily:<day>}:par`` | string | what the robot makes of the seat, JSON; kept as long |
| ``{daily:<day>}:chat:<chat>`` | set | people who asked for the deal in a group; kept as long |
| ``{daily:<day>}:games`` | hash | games of a day that is not over, by their ids, as the archive keeps them |
| ``{daily:<day>}:lines`` | hash | how each person played a past day (`bot.features.daily.lines`); kept for a week |
| ``daily:open`` | set | days of which games wait for their end |
| ``daily:asked:<platform:id>`` | set | days and groups in which a person asked for the deal; kept as long |
| ``daily:days:<platform:id>`` | sorted set | days of which a person has a result, by their ordinal |
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from bot.features.daily.deal import SEAT, DayResult
from bot.features.daily.lines import DayLine
from bot.finished.archive import parse_or_none
from bot.finished.game import FinishedGame
from bot.store import keys

KEPT_SECONDS = 400 * 86400
LINES_KEPT_SECONDS = 7 * 86400
"""As long as an analysis is kept."""


class RankedResult(NamedTuple):
    """Somebody's result: ``rank`` counts from 1, and those who did as well have the same. None for who gave up."""

    person: str
    result: DayResult
    rank: int | None


@dataclass(frozen=True)
class Streak:
    """Days in a row on which somebody has played: up to today or yesterday, and the most there ever were."""

    now: int
    longest: int


class DayResults:
    """The results of one store. Every method raises the store's errors."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def store_result(self, day: date, person: str, result: DayResult) -> None:
        """Keep what came of a day's deal for somebody; what is kept already stays as it is."""
        await self._client.hsetnx(keys.daily_results(day), person, json.dumps(result.to_dict()))
        await self._client.expire(keys.daily_results(day), KEPT_SECONDS)
        await self._client.zadd(keys.daily_days(person), {day.isoformat(): day.toordinal()})

    async def get(self, day: date, person: str) -> DayResult | None:
        """What came of a day's deal for somebody."""
        found = await self._client.hget(keys.daily_results(day), person)
        return DayResult.parse(json.loads(found)) if found else None

    async def ranking(self, day: date, chat: str = "") -> list[RankedResult]:
        """The results of a day, the best first: of those who asked in a group, or everybody's."""
        found: Mapping[bytes, bytes] = await self._client.hgetall(keys.daily_results(day))
        results = {person.decode(): DayResult.parse(json.loads(text)) for person, text in found.items()}
        if chat:
            there = {person.decode() for person in await self._client.smembers(keys.daily_chat(day, chat))}
            results = {person: result for person, result in results.items() if person in there}
        return rank_results(results)

    async def add_request(self, day: date, chat: str, person: str) -> None:
        """Somebody has asked for a day's deal in a group: there their result is told."""
        # First, so that whoever is forgotten is found.
        await self._client.sadd(keys.daily_asked(person), f"{day} {chat}")
        await self._client.expire(keys.daily_asked(person), KEPT_SECONDS)
        await self._client.sadd(keys.daily_chat(day, chat), person)
        await self._client.expire(keys.daily_chat(day, chat), KEPT_SECONDS)

    async def move_chat(self, old: str, new: str, days: Iterable[date]) -> None:
        """A group has another id: who asked there for the deal of these days is told there. Twice is once."""
        for day in days:
            for person in await self._client.smembers(keys.daily_chat(day, old)):
                await self.add_request(day, new, person.decode())

    async def requests_of(self, person: str) -> list[tuple[date, str]]:
        """The days and groups in which somebody asked for the deal."""
        found = [one.decode().partition(" ") for one in await self._client.smembers(keys.daily_asked(person))]
        return sorted((date.fromisoformat(day), chat) for day, _, chat in found)

    async def par(self, day: date) -> DayResult | None:
        """What the robot makes of the seat, if that is known by now."""
        found = await self._client.get(keys.daily_par(day))
        return DayResult.parse(json.loads(found)) if found else None

    async def store_par(self, day: date, par: DayResult) -> None:
        await self._client.set(keys.daily_par(day), json.dumps(par.to_dict()), ex=KEPT_SECONDS)

    async def streak(self, person: str, today: date) -> Streak:
        """Days in a row on which somebody has played."""
        found = await self._client.zrange(keys.daily_days(person), 0, -1, withscores=True)
        return streak_of([int(ordinal) for _day, ordinal in found], today.toordinal())

    async def days_of(self, person: str) -> list[date]:
        """The days of which somebody has a result."""
        found = await self._client.zrange(keys.daily_days(person), 0, -1)
        return [date.fromisoformat(day.decode()) for day in found]

    # Lines of play, once the day is over

    async def store_line(self, day: date, game: FinishedGame) -> None:
        """Keep how a game of a day that is over was played; doing so twice changes nothing."""
        await self._client.hset(keys.daily_lines(day), game.people[SEAT], DayLine.from_game(game).to_text())
        await self._client.expire(keys.daily_lines(day), LINES_KEPT_SECONDS)

    async def line_of_play(self, day: date, person: str) -> DayLine | None:
        """How somebody played a day that is over."""
        found = await self._client.hget(keys.daily_lines(day), person)
        return DayLine.parse(found) if found else None

    async def lines_of_play(self, day: date) -> dict[str, DayLine]:
        """How everybody played a day that is over; who was forgotten is somebody there."""
        found = await self._client.hgetall(keys.daily_lines(day))
        return {person.decode(): DayLine.parse(text) for person, text in found.items()}

    # Games of a day, until it is over

    async def add_pending(self, day: date, game: FinishedGame) -> None:
        """Keep a game until its day is over."""
        await self._client.sadd(keys.DAILY_OPEN, day.isoformat())
        await self._client.hset(keys.daily_games(day), game.id, game.to_bytes())
        # The day may have been closed in between, before there was anything to be seen of the game.
        await self._client.sadd(keys.DAILY_OPEN, day.isoformat())

    async def pending_games(self) -> list[tuple[date, FinishedGame]]:
        """The games that are kept so; what this version cannot read is left for one that can."""
        return [
            (day, game)
            for day in await self.open_days()
            for id, stored in (await self._client.hgetall(keys.daily_games(day))).items()  # noqa: A001
            if (game := parse_or_none(id.decode(), stored))
        ]

    async def remove_pending(self, day: date, game: FinishedGame) -> None:
        """A game is kept elsewhere by now."""
        await self._client.hdel(keys.daily_games(day), game.id)

    async def close_day(self, day: date) -> None:
        """A day is over, and none of its games is kept here; where one has come meanwhile it stays open."""
        if await self._client.hlen(keys.daily_games(day)):
            return
        await self._client.srem(keys.DAILY_OPEN, day.isoformat())
        if await self._client.hlen(keys.daily_games(day)):
            await self._client.sadd(keys.DAILY_OPEN, day.isoformat())

    async def open_days(self) -> list[date]:
        """Return the days whose games wait for their end."""
        return sorted(date.fromisoformat(day.decode()) for day in await self._client.smembers(keys.DAILY_OPEN))

    async def open_days_before(self, today: date) -> list[date]:
        """Days that are over, and of which games may be kept here still."""
        return [day for day in await self.open_days() if day < today]

    async def forget(self, person: str, somebody: str) -> None:
        """A person's results go; in games and lines that are kept here they are somebody."""
        for day in await self.days_of(person):
            await self._client.hdel(keys.daily_results(day), person)
            if line := await self._client.hget(keys.daily_lines(day), person):
                await self._client.hset(keys.daily_lines(day), somebody, line)
                await self._client.hdel(keys.daily_lines(day), person)
        for day, chat in await self.requests_of(person):
            await self._client.srem(keys.daily_chat(day, chat), person)
        await self._client.delete(keys.daily_asked(person))
        await self._client.delete(keys.daily_days(person))
        for day, game in await self.pending_games():
            if person in game.people:
                await self._client.hset(keys.daily_games(day), game.id, game.redact(person, somebody).to_bytes())


def rank_results(results: Mapping[str, DayResult]) -> list[RankedResult]:
    """Results with their ranks, the best first, those who gave up at the end."""
    margins = sorted((one.margin for one in results.values() if one.margin is not None), reverse=True)
    lines = [
        RankedResult(person, result, None if result.margin is None else margins.index(result.margin) + 1)
        for person, result in results.items()
    ]
    return sorted(lines, key=lambda line: (line.rank or len(lines) + 1, line.person))


def streak_of(ordinals: list[int], today: int) -> Streak:
    """How many of the days, given in order, stand in a row."""
    longest = run = 0
    before: int | None = None
    for day in ordinals:
        run = run + 1 if before is not None and day == before + 1 else 1
        longest, before = max(longest, run), day
    return Streak(run if before is not None and before >= today - 1 else 0, longest)
