"""The stored results and lines of the days, and the games that are not in the archive yet."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import date
from typing import Any

from bot.features.daily import keys
from bot.features.daily.ranking import RankedResult, rank_results
from bot.features.daily.streaks import Streak, streak_of
from bot.finished.archive import parse_or_none
from bot.finished.game import FinishedGame
from bot.solo_deals.lines import SoloLine
from bot.solo_deals.results import SEAT, SoloResult

KEPT_SECONDS = 400 * 86400
LINES_KEPT_SECONDS = 7 * 86400  # lines are kept as long as analyses


class DayResults:
    """The results in one store. Methods can raise store errors."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def store_result(self, day: date, person: str, result: SoloResult) -> None:
        """Store a person's result of a day unless there is one."""
        await self._client.hsetnx(keys.results(day), person, json.dumps(asdict(result)))
        await self._client.expire(keys.results(day), KEPT_SECONDS)
        await self._client.zadd(keys.days(person), {day.isoformat(): day.toordinal()})

    async def get(self, day: date, person: str) -> SoloResult | None:
        text = await self._client.hget(keys.results(day), person)
        return SoloResult.parse(json.loads(text)) if text else None

    async def ranking(self, day: date, chat: str = "") -> list[RankedResult]:
        """Return a day's results, best first: those requested in a group, or all."""
        stored_results: Mapping[bytes, bytes] = await self._client.hgetall(keys.results(day))
        results = {person.decode(): SoloResult.parse(json.loads(text)) for person, text in stored_results.items()}
        if chat:
            members = {person.decode() for person in await self._client.smembers(keys.requests(day, chat))}
            results = {person: result for person, result in results.items() if person in members}
        return rank_results(results)

    async def add_request(self, day: date, chat: str, person: str) -> None:
        """Record that a person requested a day's deal in a group, so that the group shows the result."""
        # Store this first, so that /forget finds the entry in the group's set.
        await self._client.sadd(keys.requests_of_person(person), f"{day} {chat}")
        await self._client.expire(keys.requests_of_person(person), KEPT_SECONDS)
        await self._client.sadd(keys.requests(day, chat), person)
        await self._client.expire(keys.requests(day, chat), KEPT_SECONDS)

    async def move_chat(self, old_id: str, new_id: str, days: Iterable[date]) -> None:
        """Copy requests of these days to a group's new id. Idempotent."""
        for day in days:
            for person in await self._client.smembers(keys.requests(day, old_id)):
                await self.add_request(day, new_id, person.decode())

    async def requests_of(self, person: str) -> list[tuple[date, str]]:
        requests = [
            entry.decode().partition(" ") for entry in await self._client.smembers(keys.requests_of_person(person))
        ]
        return sorted((date.fromisoformat(day), chat) for day, _, chat in requests)

    async def par(self, day: date) -> SoloResult | None:
        text = await self._client.get(keys.par(day))
        return SoloResult.parse(json.loads(text)) if text else None

    async def store_par(self, day: date, par: SoloResult) -> None:
        await self._client.set(keys.par(day), json.dumps(asdict(par)), ex=KEPT_SECONDS)

    async def streak(self, person: str, today: date) -> Streak:
        days = await self._client.zrange(keys.days(person), 0, -1, withscores=True)
        return streak_of([int(ordinal) for _day, ordinal in days], today.toordinal())

    async def days_of(self, person: str) -> list[date]:
        days = await self._client.zrange(keys.days(person), 0, -1)
        return [date.fromisoformat(day.decode()) for day in days]

    # Lines of past days

    async def store_line(self, day: date, game: FinishedGame) -> None:
        """Store the line of a past day's game. Idempotent."""
        await self._client.hset(keys.lines(day), game.people[SEAT], SoloLine.from_game(game).to_text())
        await self._client.expire(keys.lines(day), LINES_KEPT_SECONDS)

    async def line_of_play(self, day: date, person: str) -> SoloLine | None:
        text = await self._client.hget(keys.lines(day), person)
        return SoloLine.parse(text) if text else None

    async def lines_of_play(self, day: date) -> dict[str, SoloLine]:
        """Return the lines of a past day by person, with pseudonyms for forgotten people."""
        stored_lines = await self._client.hgetall(keys.lines(day))
        return {person.decode(): SoloLine.parse(text) for person, text in stored_lines.items()}

    # Games of the current day

    async def add_pending(self, day: date, game: FinishedGame) -> None:
        await self._client.sadd(keys.OPEN, day.isoformat())
        await self._client.hset(keys.games(day), game.id, game.to_bytes())
        # Another worker might have closed the day before the game was stored.
        await self._client.sadd(keys.OPEN, day.isoformat())

    async def pending_games(self) -> list[tuple[date, FinishedGame]]:
        """Return the stored games. Games that this version cannot read are skipped, and stay."""
        return [
            (day, game)
            for day in await self.open_days()
            for id, data in (await self._client.hgetall(keys.games(day))).items()
            if (game := parse_or_none(id.decode(), data))
        ]

    async def remove_pending(self, day: date, game: FinishedGame) -> None:
        await self._client.hdel(keys.games(day), game.id)

    async def close_day(self, day: date) -> None:
        """Close a past day if all its games are in the archive. It stays open if a game arrives in the meantime."""
        if await self._client.hlen(keys.games(day)):
            return
        await self._client.srem(keys.OPEN, day.isoformat())
        if await self._client.hlen(keys.games(day)):
            await self._client.sadd(keys.OPEN, day.isoformat())

    async def open_days(self) -> list[date]:
        return sorted(date.fromisoformat(day.decode()) for day in await self._client.smembers(keys.OPEN))

    async def forget(self, person: str, pseudonym: str) -> None:
        """Delete a person's results and requests. Put the pseudonym into their lines and games."""
        for day in await self.days_of(person):
            await self._client.hdel(keys.results(day), person)
            if line := await self._client.hget(keys.lines(day), person):
                await self._client.hset(keys.lines(day), pseudonym, line)
                await self._client.hdel(keys.lines(day), person)
        for day, chat in await self.requests_of(person):
            await self._client.srem(keys.requests(day, chat), person)
        await self._client.delete(keys.requests_of_person(person))
        await self._client.delete(keys.days(person))
        for day, game in await self.pending_games():
            if person in game.people:
                await self._client.hset(keys.games(day), game.id, game.redact(person, pseudonym).to_bytes())
