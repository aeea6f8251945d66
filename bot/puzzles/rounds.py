"""A puzzle a day, the same for all groups; it goes to those that want it, at an hour that they chose.

| key | type | what |
|---|---|---|
| ``{puzzles}:hours`` | hash | the hour of each chat that wants one, 0 to 23, by place |
| ``{puzzles}:sent:<day>`` | set | places to which a day's has been sent; kept for two days |
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from random import Random
from typing import Any

import structlog

from bot.daily.reminders import HOURS, LATE_HOURS
from bot.delivery.shards import Shards
from bot.find.finder import MINDED_WITH
from bot.panel import Panel
from bot.panels.puzzles import Asked, puzzle_panel
from bot.people import People
from bot.pictures.puzzles import puzzle_scene
from bot.platform import Adapter, ChatGone, DeliveryError, NoPicture, chat_of, platform_of
from bot.puzzles.collection import packaged
from bot.puzzles.ladder import Ladder
from bot.store import Store, keys
from bot.viewers import Viewer, Viewers, pictured
from engine.puzzles.puzzle import Puzzle

POLL_SECONDS = 60.0
KEPT_SECONDS = 2 * 86400

log = structlog.get_logger()


@cache
def all_puzzles() -> Mapping[str, Puzzle]:
    """Those that come with the bot, by their ids; read when first asked for."""
    return {puzzle.id: puzzle for puzzle in packaged()}


def puzzle_of(day: date) -> Puzzle:
    """The puzzle that groups have on a day; none comes twice before all have come."""
    order = sorted(all_puzzles())
    turn, place = divmod(day.toordinal(), len(order))
    Random(f"puzzles {turn}").shuffle(order)
    return all_puzzles()[order[place]]


class PuzzleHours:
    """When groups want a puzzle."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def of(self, place: str) -> int | None:
        """The hour at which a puzzle comes to a place; None for never."""
        hour = await self._client.hget(keys.PUZZLE_HOURS, place)
        return int(hour) if hour else None

    async def choose(self, place: str, hour: int | None) -> None:
        if hour is None:
            await self._client.hdel(keys.PUZZLE_HOURS, place)
        else:
            await self._client.hset(keys.PUZZLE_HOURS, place, hour)

    async def move_chat(self, old: str, new: str) -> None:
        """A chat is known by another name from now on."""
        hour = await self.of(old)
        if hour is not None:
            await self.choose(new, hour)
            await self.choose(old, None)

    async def all(self) -> dict[str, int]:
        """The hours of every place that wants one."""
        found = await self._client.hgetall(keys.PUZZLE_HOURS)
        return {place.decode(): int(hour) for place, hour in found.items()}


class GroupPuzzles:
    """The puzzle of a day in groups. Each has it once at most: one that is lost by a crash is not sent twice."""

    def __init__(
        self, store: Store, shards: Shards, people: People, adapters: Mapping[str, Adapter], now: Callable[[], datetime]
    ) -> None:
        self._store, self._shards, self._adapters, self._now = store, shards, adapters, now
        self._viewers = Viewers(people, adapters)
        self.ladder, self.hours = Ladder(store.client), PuzzleHours(store.client)

    def today(self) -> date:
        """The day, where the host is."""
        return self._now().date()

    async def panel(self, place: str) -> Panel:
        """Today's puzzle, as it stands in a group."""
        day, viewer = self.today(), await self._viewers.at(place)
        puzzle = puzzle_of(day)
        asked = Asked(day, await self.ladder.counted_in(chat_of(place), day), await self.hours.of(place))
        panel = puzzle_panel(viewer.language, viewer.suits, puzzle, asked, HOURS)
        return with_picture(panel, viewer, puzzle)

    async def run(self) -> None:
        """Send them, until cancelled."""
        while True:
            if MINDED_WITH in self._shards.mine:
                with self._store.outage.noted():
                    await self.send_due()
            await asyncio.sleep(POLL_SECONDS)

    async def send_due(self) -> None:
        """Send today's puzzle to the groups whose hour has come."""
        now, client = self._now(), self._store.client
        for place, hour in (await self.hours.all()).items():
            if not 0 <= now.hour - hour < LATE_HOURS:
                continue
            if await client.sadd(keys.puzzle_sent(now.date()), place):
                await client.expire(keys.puzzle_sent(now.date()), KEPT_SECONDS)
                await self._send(place)

    async def _send(self, place: str) -> None:
        adapter = self._adapters.get(platform_of(place))
        if adapter is None:
            return
        panel, key = await self.panel(place), f"puzzle {self.today()} {place}"
        try:
            try:
                await adapter.send(place, panel, key)
            except NoPicture:
                await adapter.send(place, replace(panel, picture=None), key)
        except ChatGone:
            await self.hours.choose(place, None)
        except DeliveryError as error:
            log.info("puzzle_not_sent", platform=platform_of(place), why=type(error).__name__)


def with_picture(panel: Panel, viewer: Viewer, puzzle: Puzzle) -> Panel:
    """The panel with the position's picture, if the viewer wants pictures."""
    if not viewer.deck:
        return panel
    scene = puzzle_scene(viewer.language, viewer.suits, viewer.deck, puzzle)
    return pictured(panel, scene, viewer.language)
