"""Reminders of the deal of the day, sent to private chats at the hour each person chose."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

import structlog

from bot.cluster.host_time import HostTime
from bot.cluster.shards import Shards
from bot.days.chosen_hours import ChosenHours
from bot.features.daily import keys
from bot.features.daily.days import Days
from bot.features.daily.pages import reminder_panel
from bot.people import People
from bot.platform import Adapter, DeliveryError, platform_of, private_place
from bot.store import Store

POLL_SECONDS = 60.0
log = structlog.get_logger()


def reminder_hours(client: Any) -> ChosenHours:
    return ChosenHours(client, keys.REMINDERS, keys.reminded)


class Reminders:
    """Sends each reminder at most once, even after a crash. Retries while the platform is down."""

    def __init__(
        self,
        store: Store,
        shards: Shards,
        host_time: HostTime,
        people: People,
        adapters: Mapping[str, Adapter],
        days: Days,
    ) -> None:
        self._shards, self._host_time, self._people = shards, host_time, people
        self._adapters, self._days = adapters, days
        self._hours = reminder_hours(store.client)

    async def run(self) -> None:
        await self._shards.while_leader(POLL_SECONDS, lambda: self.send_due(self._host_time.now()))

    async def send_due(self, now: datetime) -> None:
        day = now.date()
        for person in await self._hours.due(now):
            if await self._days.results.get(day, person):
                continue
            if await self._hours.note_sent(day, person) and not await self._days.has_had_cards(person, day):
                await self._send(person, day)

    async def _send(self, person: str, day: date) -> None:
        adapter = self._adapters.get(platform_of(person))
        if adapter is None:
            return
        game = await self._days.game_on(day)
        panel = reminder_panel((await self._people.person(person)).language, day, game)
        try:
            await adapter.send(private_place(person), panel, f"daily {day} {person}")
        except DeliveryError as error:
            await self._hours.note_failed(day, person, error)
            log.info("reminder_not_sent", platform=platform_of(person), why=type(error).__name__)
